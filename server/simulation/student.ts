/**
 * Interface of a simulated student. The real curriculum drives one under a policy (drive-run.ts). `node
 * bench/curriculum/run.ts --students FILE` accepts others, where FILE exports `student`, a Family. Students are pure.
 */

import type { Rng } from "../../envs/lib/rng.ts";

/** Position of an arm: its family of tasks, and its level there. */
export interface ArmPosition {
  readonly id: string;
  /** Family of the arm. Arms of one family are levels of one kind of task. */
  readonly family: string;
  /** Level of the arm, counted from 0, the easiest of its family. */
  readonly level: number;
}

/** A group that was trained on. */
export interface Practice {
  /** Index of the arm. */
  readonly arm: number;
  readonly solved: number;
  readonly samples: number;
  /** Factor of the group's effect on the student, compared with a group in an update batch of 16. Unset: 1. */
  readonly weight?: number;
  /** Population variance of graded answers, each in [0, 1]. Unset: answers are right or wrong. */
  readonly variance?: number;
}

/** A simulated student. A Mind is its state at one time: plain data that is never changed in place. */
export interface Student<Mind = unknown> {
  /**
   * Whether practice of each arm, or of others, can raise its success. Arms that cannot be learnt are not part of the
   * target.
   */
  readonly learnable: readonly boolean[];
  /** Mean success over the learnable arms at which the target is reached, in (0, 1]. */
  readonly target: number;
  readonly initial: Mind;
  /**
   * Returns the chance that a completion solves a task. `rank` is the share of the arm's tasks that are easier, in (0,
   * 1).
   */
  chance(mind: Mind, arm: number, rank: number): number;
  /**
   * Returns the grade of one completion, in [0, 1]. A grade of 1 is solved. Unset: answers are right, with probability
   * `chance`, or wrong.
   */
  grade?(mind: Mind, arm: number, rank: number, rng: Rng): number;
  /** Returns the mean of `chance`, or of the grades, over the tasks of each arm. */
  success(mind: Mind): readonly number[];
  /** Returns the state after one update batch. */
  learn(mind: Mind, groups: readonly Practice[]): Mind;
}

/** Students of one kind. Each seed gives a different one. */
export interface Family<Mind = unknown> {
  readonly name: string;
  /** Sentence that says what the student models. */
  readonly models: string;
  create(seed: string, places: readonly ArmPosition[]): Student<Mind>;
}

/** Returns the mean success over the learnable arms, 0 if there are none. */
export function scoreOf<Mind>(student: Student<Mind>, mind: Mind): number {
  const known = student.success(mind).filter((_, arm) => student.learnable[arm]);
  return known.reduce((sum, success) => sum + success, 0) / Math.max(1, known.length);
}
