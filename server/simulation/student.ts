/**
 * Interface of a simulated student, i.e. a model of how a language model learns. The real curriculum trains one under a
 * policy (drive-run.ts). `node bench/curriculum/run.ts --students FILE` accepts others, where FILE exports `student`, a
 * Family. Students are pure functions.
 */

import type { Rng } from "../../envs/lib/rng.ts";

/** Position of an arm: its family of tasks, and its level within the family. */
export interface ArmPosition {
  readonly id: string;
  /** Name of the family. The arms of a family are levels of one kind of task. */
  readonly family: string;
  /** Level of the arm in its family, from 0, the easiest. */
  readonly level: number;
}

/** Group on which the student was trained. */
export interface Practice {
  readonly arm: number;
  readonly solved: number;
  readonly samples: number;
  /** Factor of the group's effect on the student, relative to a group in an update batch of 16. Unset: 1. */
  readonly weight?: number;
  /** Population variance of the answers' grades, which are in [0, 1]. Unset: answers are only right or wrong. */
  readonly variance?: number;
}

/** Simulated student. Its state at one time is a Mind: JSON-like data that is never changed in place. */
export interface Student<Mind = unknown> {
  /** Whether training can raise the success on each arm. Arms for which it cannot are not part of the score. */
  readonly learnable: readonly boolean[];
  /** Score, the mean success over the learnable arms, that counts as the goal, in (0, 1]. */
  readonly target: number;
  readonly initial: Mind;
  /**
   * Returns the probability that a completion solves a task. `rank` is the share of the arm's tasks that are easier, in
   * (0, 1).
   */
  chance(mind: Mind, arm: number, rank: number): number;
  /**
   * Returns the random grade of one completion, in [0, 1]; 1 counts as solved. Unset: answers are right with
   * probability `chance`, else wrong.
   */
  grade?(mind: Mind, arm: number, rank: number, rng: Rng): number;
  /** Returns each arm's mean success over its tasks: the mean of `chance`, or of the grades. */
  success(mind: Mind): readonly number[];
  /** Returns the student's state after one update batch. */
  learn(mind: Mind, groups: readonly Practice[]): Mind;
}

/** Kind of simulated student. Each seed gives another student of the kind. */
export interface Family<Mind = unknown> {
  readonly name: string;
  /** Sentence that says what such a student stands for. */
  readonly models: string;
  create(seed: string, places: readonly ArmPosition[]): Student<Mind>;
}

/** Returns the mean success over the learnable arms. 0 if there are none. */
export function scoreOf<Mind>(student: Student<Mind>, mind: Mind): number {
  const known = student.success(mind).filter((_, arm) => student.learnable[arm]);
  return known.reduce((sum, success) => sum + success, 0) / Math.max(1, known.length);
}
