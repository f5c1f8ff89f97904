/**
 * What a simulated student is. One is judged under a policy by the real curriculum (drive.ts); others' are taken by
 * `node bench/curriculum/run.ts --students FILE`, where FILE exports `student`, a Family. All of it is pure.
 */

import type { Rng } from "../../envs/lib/rng.ts";

/** An arm as a user sees it: which family of tasks, and how far up in it. */
export interface Place {
  readonly id: string;
  /** Arms of one family are levels of one kind of task. */
  readonly family: string;
  /** From 0, the easiest of its family. */
  readonly level: number;
}

/** A group that was trained on. */
export interface Practice {
  /** By index. */
  readonly arm: number;
  readonly solved: number;
  readonly samples: number;
  /** How far it moves the student, beside one of 16 in an update batch; left out: as far. */
  readonly weight?: number;
  /** Of answers that are graded, each in [0, 1]: their population variance. Left out: they are right or wrong. */
  readonly variance?: number;
}

/** A student at one time is a Mind: plain data, never changed in place. */
export interface Student<Mind = unknown> {
  /** Whether practice of each arm, or of others, can raise its success. Those that cannot are no part of the target. */
  readonly learnable: readonly boolean[];
  /** The mean success over the learnable arms that counts as arrived, in (0, 1]. */
  readonly target: number;
  readonly initial: Mind;
  /** The chance that a completion solves a task; `rank` is the share of the arm's tasks that are easier, in (0, 1). */
  chance(mind: Mind, arm: number, rank: number): number;
  /**
   * How good one completion is, in [0, 1], of a student whose answers are graded; it is solved where that is 1. Left out:
   * answers are right, by `chance`, or wrong.
   */
  grade?(mind: Mind, arm: number, rank: number, rng: Rng): number;
  /** By arm: the mean of `chance` over its tasks, or of its grades. */
  success(mind: Mind): readonly number[];
  /** After one update batch. */
  learn(mind: Mind, groups: readonly Practice[]): Mind;
}

/** Students of one kind: each seed is one of them. */
export interface Family<Mind = unknown> {
  readonly name: string;
  /** What it models, in a sentence. */
  readonly models: string;
  create(seed: string, places: readonly Place[]): Student<Mind>;
}

/** Mean success over the arms that can be learnt; 0 where none can. */
export function scoreOf<Mind>(student: Student<Mind>, mind: Mind): number {
  const known = student.success(mind).filter((_, arm) => student.learnable[arm]);
  return known.reduce((sum, success) => sum + success, 0) / Math.max(1, known.length);
}
