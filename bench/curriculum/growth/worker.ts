/** A worker thread: students of one kind under arms that grow, and under equal shares over the levels that can be solved. */
import type { Arm, Policy, RunConfig } from "../../../server/curriculum/types.ts";
import { drive } from "../../../server/simulation/drive-run.ts";
import type { Student } from "../../../server/simulation/student.ts";
import { policyOf, recommended, uniform } from "../policies.ts";
import { configOf } from "../run-config.ts";
import { GENERATORS, type GrowthKind, growthKinds, LEVELS } from "./kinds.ts";

export interface GrowthJob {
  readonly kind: string;
  readonly seeds: readonly string[];
  /** Whether frontier draws the levels that can be solved as fixed arms, in place of arms that grow. */
  readonly fixed: boolean;
}

/** One student's rollouts to the target under equal shares and under growth. Null: the target was not reached. */
export interface GrowthLife {
  readonly seed: string;
  readonly equal: number | null;
  readonly grown: number | null;
  /** Shares of the rollouts under growth, up to the target, on levels that are solved, and that cannot be solved. */
  readonly solved: number;
  readonly beyond: number;
}

/** Success from which a level counts as solved. */
const SOLVED = 0.95;

/** Returns the configuration of a run whose arms grow, one for each generator. */
function growing(kind: GrowthKind, policy: Policy, seed: string): RunConfig<null> {
  const config = configOf(kind.places.slice(0, GENERATORS), policy, kind.shape, seed);
  const grow = { axis: "level", start: 1, step: 1, cap: LEVELS, guess: kind.guess };
  return { ...config, arms: config.arms.map((arm): Arm<null> => ({ ...arm, hard: false, grow })) };
}

/** Returns the configuration of a run with a fixed arm for each level, of which only those that can be solved are drawn. */
function fixedArms(kind: GrowthKind, policy: Policy, seed: string, student: Student): RunConfig<null> {
  const config = configOf(kind.places, policy, kind.shape, seed);
  return { ...config, arms: config.arms.map((arm, i) => ({ ...arm, weight: student.learnable[i] ? 1 : 0 })) };
}

/** Plays a run until the student reaches the target, and for at most `batches` update batches. */
function live(config: RunConfig<null>, student: Student, seed: string, batches: number) {
  const counts = { rollouts: 0, solved: 0, beyond: 0 };
  let played = 0;
  let before = student.success(student.initial);
  for (const step of drive(config, student, seed)) {
    played++;
    for (const [position, tasks] of step.counts.entries()) {
      counts.rollouts += tasks * config.numGenerations;
      if (!student.learnable[position]) counts.beyond += tasks * config.numGenerations;
      else if ((before[position] ?? 0) >= SOLVED) counts.solved += tasks * config.numGenerations;
    }
    before = step.success;
    if (step.score >= student.target) return { reached: counts.rollouts, played, counts };
    if (played >= batches) break;
  }
  return { reached: null, played, counts };
}

export default function work({ kind: name, seeds, fixed }: GrowthJob): readonly GrowthLife[] {
  const kind = growthKinds.find((each) => each.name === name);
  if (kind === undefined) throw new Error(`there is no kind "${name}"`);
  const [frontier, alike] = [recommended, uniform].map((candidate) => policyOf(candidate, kind.places, kind.shape));
  return seeds.map((seed) => {
    const student = kind.create(seed, kind.places);
    const equal = live(fixedArms(kind, alike!, seed, student), student, seed, kind.shape.batches);
    const config = fixed ? fixedArms(kind, frontier!, seed, student) : growing(kind, frontier!, seed);
    const grown = live(config, student, seed, 2 * equal.played);
    const { rollouts, solved, beyond } = grown.counts;
    return { seed, equal: equal.reached, grown: grown.reached, solved: solved / rollouts, beyond: beyond / rollouts };
  });
}
