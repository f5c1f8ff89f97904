/**
 * Simulates a run with a simulated student, i.e. a model of how a policy learns. For comparison, simulates the same
 * student with equal shares of all arms.
 */
import type { RunConfig } from "../curriculum/types.ts";
import { drive } from "../simulation/drive-run.ts";
import { createOutcomeCounter, createPointCounter } from "../simulation/simulated-outcome.ts";
import { equalShares, simulatedRun } from "../simulation/simulated-run.ts";
import type { ArmPosition } from "../simulation/student.ts";
import { students } from "../simulation/students.ts";

export interface SimulateJob {
  readonly kind: "simulate";
  readonly config: RunConfig<null>;
  readonly places: readonly ArmPosition[];
  /** Name of one of the built-in simulated students. */
  readonly student: string;
  /** Seed from which the student's properties and its random draws are derived. */
  readonly seed: string;
  /** Number of update batches to simulate. */
  readonly updates: number;
  /** Maximum number of points in each returned series. If there are more update batches, several share a point. */
  readonly pointsMax: number;
}

export type Simulated = ReturnType<typeof simulate>;

export function simulate({ config, places, student: name, seed, updates, pointsMax }: SimulateJob) {
  const family = students.find((each) => each.name === name);
  if (family === undefined) throw new Error(`there is no student "${name}"`);
  const student = family.create(seed, places);
  const play = (of: RunConfig<null>) => {
    const counter = createOutcomeCounter(student, of.numGenerations);
    const drawn = createPointCounter(of.numGenerations, Math.max(1, Math.ceil(updates / pointsMax)));
    let batch = 0;
    for (const step of drive(simulatedRun(of, seed, updates), student, seed)) {
      counter.add(step);
      drawn.add(batch++, step);
    }
    return { life: counter.life(), points: drawn.points() };
  };
  const given = play(config);
  return {
    points: given.points,
    given: given.life,
    equalShares: play(equalShares(config)).life,
    target: student.target,
  };
}
