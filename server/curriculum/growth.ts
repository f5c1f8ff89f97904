/**
 * Levels of arms that grow: levels of difficulty that open one by one during a run. A task's ordinal (its number within
 * the arm) is its level times LEVEL_SPAN, plus its number in the level. So an arm and an ordinal identify a task, as in
 * arms that do not grow.
 */
import { type Rng, rngFor } from "../../envs/lib/rng.ts";

/**
 * How an arm grows: its levels of difficulty are values of a parameter of its environment (the axis), and a policy
 * opens them one after the other. Level i has the value start + i · step.
 */
export interface Growth {
  /** Name of the axis: the parameter whose values are the levels, e.g. "vertices". */
  readonly axis: string;
  readonly start: number;
  readonly step: number;
  /** Limit of the levels' values. The last level is the greatest that does not exceed it. */
  readonly cap: number;
  /** Share of the arm's tasks that a guessed answer solves, in [0, 1). */
  readonly guess: number;
}

/** Field of an arm that says whether, and how, its levels open one by one. Unset: the arm does not grow. */
interface Grower {
  readonly grow?: Growth;
}

/** Number of instances that a level of a growing arm can have. */
export const LEVEL_SPAN = 2 ** 32;
/** Maximum number of levels of one arm. */
export const LEVELS_MAX = 256;

export function levelCount({ start, step, cap }: Pick<Growth, "start" | "step" | "cap">): number {
  return 1 + Math.floor((cap - start) / step);
}

/** Returns whether a run has an arm that grows, i.e. whose levels of difficulty open one by one. */
export function grows({ arms }: { readonly arms: readonly Grower[] }): boolean {
  return arms.some(({ grow }) => grow !== undefined);
}

export function valueOf({ start, step }: Growth, level: number): number {
  return start + level * step;
}

/**
 * Returns the level of a task, by its ordinal, in an arm that grows (its levels open one by one). Undefined: the arm
 * does not grow.
 */
export function levelOf({ grow }: Grower, ordinal: number): number | undefined {
  return grow && Math.floor(ordinal / LEVEL_SPAN);
}

/** Level of a group's task in an arm that grows, and facts about the arm's levels. */
export interface LevelPlace {
  readonly level: number;
  /** Number of levels that the arm has. */
  readonly levels: number;
  /** Share of the arm's tasks that a guessed answer solves, in [0, 1). */
  readonly guess: number;
}

/**
 * Returns the level of a growing arm's task by its ordinal, with the arm's number of levels. Undefined: the arm does
 * not grow.
 */
export function levelPlaceOf({ grow }: Grower, ordinal: number): LevelPlace | undefined {
  return grow && { level: Math.floor(ordinal / LEVEL_SPAN), levels: levelCount(grow), guess: grow.guess };
}

/** Task numbers (ordinals) that an arm draws next: one number, or one for each level of a growing arm. */
export interface NextOrdinals {
  readonly nextOrdinal: number;
  /**
   * Number of the next instance of each level. Levels beyond the list's end begin at 0. Empty for arms that do not
   * grow.
   */
  readonly nextInLevels: readonly number[];
}

/**
 * Returns the ordinal (number within the arm) of the task to draw next. If `level` is given, it is the next task of
 * that level.
 */
export function nextOrdinalOf({ nextOrdinal, nextInLevels }: NextOrdinals, level: number | undefined): number {
  return level === undefined ? nextOrdinal : level * LEVEL_SPAN + (nextInLevels[level] ?? 0);
}

/** Returns the ordinals that the arm draws next, after it has drawn the task with the ordinal `ordinal`. */
export function afterDrawn(arm: Grower, { nextOrdinal, nextInLevels }: NextOrdinals, ordinal: number): NextOrdinals {
  const level = levelOf(arm, ordinal);
  if (level === undefined) return { nextOrdinal: ordinal + 1, nextInLevels };
  const next = Array.from({ length: Math.max(nextInLevels.length, level + 1) }, (_, i) => nextInLevels[i] ?? 0);
  next[level] = (ordinal % LEVEL_SPAN) + 1;
  return { nextOrdinal, nextInLevels: next };
}

/** Levels of an arm that grows (its levels open one by one), as a policy sees them. */
export interface Levels {
  /** Index of the highest open level. */
  readonly top: number;
  /** Share of each level in the arm's draws; their sum is 1, or 0 if the arm's weight is 0. */
  readonly shares: readonly number[];
  /** Expected success of each level's next group. 0: the level has had no group. */
  readonly success: readonly number[];
  readonly retired: readonly boolean[];
}

/** Draws a level at random for each task (slot) of an update batch. Undefined for tasks of arms that do not grow. */
export function drawLevels(
  arms: readonly { readonly id: string }[],
  levels: readonly (Levels | undefined)[],
  slots: readonly number[],
  seedOf: { readonly seed: bigint; readonly batch: number },
): readonly (number | undefined)[] {
  const generators = new Map<number, Rng>();
  return slots.map((arm) => {
    const shares = levels[arm]?.shares;
    if (shares === undefined) return undefined;
    const rng = generators.get(arm) ?? rngFor("levels", seedOf.seed, arms[arm]?.id ?? "", seedOf.batch);
    generators.set(arm, rng);
    let left = rng.float() * shares.reduce((sum, share) => sum + share, 0);
    const found = shares.findIndex((share) => (left -= share) < 0);
    // Because of rounding errors, the search may find no level. Then the last level that has a share is drawn.
    return found >= 0
      ? found
      : Math.max(
          0,
          shares.findLastIndex((share) => share > 0),
        );
  });
}

/**
 * For each arm that grows (its levels open one by one), returns the value of its highest open level, e.g. a number of
 * vertices. 0: the arm does not grow. Empty: no arm grows.
 */
export function frontiersOf(arms: readonly Grower[], tops: readonly (number | undefined)[]): readonly number[] {
  if (!grows({ arms })) return [];
  return arms.map(({ grow }, i) => (grow === undefined ? 0 : valueOf(grow, tops[i] ?? 0)));
}
