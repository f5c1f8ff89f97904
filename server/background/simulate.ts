/** A run's configuration played with one simulated student, beside equal shares, in a bounded number of steps. */
import { deriveSeed } from "../../envs/lib/rng.ts";
import type { RunConfig } from "../curriculum/types.ts";
import { drive, type Step } from "../simulation/drive.ts";
import { type Life, lifeOf } from "../simulation/life.ts";
import { equalShares } from "../simulation/simulated-run.ts";
import type { Place } from "../simulation/student.ts";
import { students } from "../simulation/students.ts";

export interface SimulateJob {
  readonly kind: "simulate";
  readonly config: RunConfig<null>;
  readonly places: readonly Place[];
  /** The name of one of our students. */
  readonly student: string;
  /** Which student of its kind, and its luck. */
  readonly seed: string;
  /** Update batches. */
  readonly updates: number;
  /** Of the series; never more than there are update batches. */
  readonly pointsMax: number;
}

/** Successive update batches, as one: sums of counts, means of probabilities, and what they led to. */
export interface Point extends Omit<Step, "solved" | "useful"> {
  readonly cursor: number;
  readonly solvedShare: number;
}

/** What a policy came to. */
export interface Lived extends Life {
  /** The mean score over the run. */
  readonly successMean: number;
}

export type Simulated = ReturnType<typeof simulate>;

export function simulate(job: SimulateJob) {
  const { config, places, seed, updates, pointsMax } = job;
  const family = students.find(({ name }) => name === job.student);
  if (family === undefined) throw new Error(`there is no student "${job.student}"`);
  const student = family.create(seed, places);
  const play = (of: RunConfig<null>) => {
    const length = updates * of.promptsPerUpdate;
    const steps = [...drive({ ...of, seed: deriveSeed("simulate", of.seed, seed), length }, student, seed)];
    const successMean = steps.reduce((sum, { score }) => sum + score, 0) / Math.max(1, steps.length);
    return { steps, life: { ...lifeOf(steps, student, of.numGenerations), successMean } };
  };
  const given = play(config);
  return {
    points: pointsOf(config, given.steps, pointsMax),
    given: given.life,
    equalShares: play(equalShares(config)).life,
    target: student.target,
  };
}

function pointsOf({ arms, numGenerations }: RunConfig<null>, steps: readonly Step[], pointsMax: number) {
  const each = Math.max(1, Math.ceil(steps.length / pointsMax));
  const points: Point[] = [];
  let cursor = 0;
  for (let from = 0; from < steps.length; from += each) {
    const here = steps.slice(from, from + each);
    const last = here.at(-1) as Step;
    const byArm = (of: (step: Step) => readonly number[]): number[] =>
      arms.map((_, arm) => here.reduce((sum, step) => sum + (of(step)[arm] ?? 0), 0));
    const counts = byArm((step) => step.counts);
    const tasks = counts.reduce((sum, count) => sum + count, 0);
    const solved = here.reduce((sum, step) => sum + step.solved, 0);
    points.push({
      cursor,
      counts,
      probabilities: byArm((step) => step.probabilities).map((sum) => sum / here.length),
      success: last.success,
      solvedShare: solved / Math.max(1, tasks * numGenerations),
      score: last.score,
    });
    cursor += tasks;
  }
  return points;
}
