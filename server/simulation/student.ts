/**
 * Interface of a simulated student: a model of how a language model learns from practice. The server's real curriculum
 * trains the student under a policy (drive-run.ts). `node bench/curriculum/run.ts --students FILE` tests other
 * students, where FILE exports `student`, a Family. Students are pure functions.
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

/** Group of completions on which the student is trained. */
export interface Practice {
  readonly arm: number;
  readonly solved: number;
  readonly samples: number;
  /**
   * Factor by which the group's effect on the student is multiplied. It is 16 divided by the number of prompts in an
   * update batch. Unset: 1.
   */
  readonly weight?: number;
  /** Population variance of the answers' grades, which are in [0, 1]. Unset: answers are only right or wrong. */
  readonly variance?: number;
}

/** Simulated student. Its state at one time is a Mind: JSON-like data that is never changed in place. */
export interface Student<Mind = unknown> {
  /** Whether training can raise the success on each arm. Arms for which it cannot are not part of the score. */
  readonly learnable: readonly boolean[];
  /** Score that counts as the goal of training, in (0, 1]. The score is the mean success over the learnable arms. */
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

/** Kind of simulated student. Its students share a law of learning, whose parameters are drawn by a seed. */
export interface Family<Mind = unknown> {
  readonly name: string;
  /** Sentence that says which behaviour of real models this kind of student stands for. */
  readonly models: string;
  create(seed: string, places: readonly ArmPosition[]): Student<Mind>;
}

/** Returns the mean success over the learnable arms. 0 if there are none. */
export function scoreOf<Mind>(student: Student<Mind>, mind: Mind): number {
  const known = student.success(mind).filter((_, arm) => student.learnable[arm]);
  return known.reduce((sum, success) => sum + success, 0) / Math.max(1, known.length);
}
