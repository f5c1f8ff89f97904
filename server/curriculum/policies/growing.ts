/**
 * Levels of an arm that grows under the frontier policy: which are open, when the next one opens, and which are solved
 * (docs/decisions/0034-growing-levels.md). Success and practice are measured for each level.
 */
import type { LevelPlace } from "../growth.ts";
import { type Json, readList, readNumber, readNumbers, readObject } from "../json.ts";
import { decodeArm, encodeArm, expected, fresh, type Practised } from "./interest.ts";

/** State of the frontier policy for an arm that grows, i.e. whose levels open one by one. */
export interface Growing {
  /**
   * Index of the highest open level. After an import into a run with a smaller cap, it may exceed the arm's last level.
   */
  readonly top: number;
  /** Success and practice of each level, from level 0 on. Levels after the last one with groups are left out. */
  readonly levels: readonly Practised[];
  /** Whether each level in `levels` is retired, i.e. solved and seldom drawn. */
  readonly retired: readonly boolean[];
}

const seedling: Growing = Object.freeze({ top: 0, levels: [], retired: [] });

/** Minimum number of a level's groups, where older groups count less (slowCount), before the next level opens. */
const OPEN_GROUPS = 3;
/** Minimum number of a level's recent groups (fastCount), before the next level opens. */
const OPEN_RECENT = 2.7;
/**
 * Minimum number of a level's groups, where older groups count less (slowCount), before the level is retired as solved.
 */
const SOLVED_GROUPS = 5;
/** Minimum expected success of a level's next group, from which the level is retired as solved. */
const SOLVED = 0.95;
/** Minimum success over a level's last fifty or so groups (slow average), from which the level is retired as solved. */
const SOLVED_SLOW = 0.8;
/** Expected success below which a retired (solved) level is drawn as often as an open level again. */
const RETURN = 0.75;
/** Minimum number of groups (slowCount) of the highest open level, before the arm peeks: tries levels above it. */
const PEEK_GROUPS = 12;
/** Maximum number of levels above the highest open level that an arm tries before they open (peeks). */
const PEEK_LEVELS = 3;

/**
 * Returns the state of a growing arm. Until its first group, the arm may still have an entry of the type Practised, for
 * arms that do not grow, or no entry. The state is then the one in which nothing is learned.
 */
export function growingOf(arm: Practised | Growing | undefined): Growing {
  return arm !== undefined && "levels" in arm ? arm : seedling;
}

/** Returns the index of the highest open level of an arm with `count` levels. */
export function topOf({ top }: Growing, count: number): number {
  return Math.min(top, count - 1);
}

export function isOpen({ retired }: Growing, level: number): boolean {
  return retired[level] !== true;
}

/**
 * Returns the expected success from which a level opens the next one: halfway between `guess`, the success of guessed
 * answers, and 1.
 */
function threshold(guess: number): number {
  return (1 + guess) / 2;
}

function opensNext(known: Practised | undefined, guess: number): boolean {
  if (known === undefined || known.slowCount < OPEN_GROUPS || known.fastCount < OPEN_RECENT) return false;
  return expected(known) >= threshold(guess);
}

/**
 * Returns the levels above the highest open level of which the arm draws a few tasks as a trial (peeks). Empty: the arm
 * tries no level.
 */
export function peeksOf(growing: Growing, count: number, guess: number): readonly number[] {
  const top = topOf(growing, count);
  const known = growing.levels[top] ?? fresh;
  if (known.slowCount < PEEK_GROUPS || expected(known) >= threshold(guess)) return [];
  return Array.from({ length: Math.min(PEEK_LEVELS, count - 1 - top) }, (_, i) => top + 1 + i);
}

/**
 * Returns the index of the highest open level after a group of level `level` has closed. The group may have opened
 * levels.
 */
function risen(levels: readonly Practised[], top: number, { level, levels: count, guess }: LevelPlace): number {
  const isPeek = level > top && level <= top + PEEK_LEVELS && opensNext(levels[level], guess);
  let now = isPeek ? Math.min(level + 1, count - 1) : top;
  while (now < count - 1 && opensNext(levels[now], guess)) now++;
  return now;
}

function isRetired(known: Practised, wasRetired: boolean): boolean {
  if (wasRetired) return expected(known) >= RETURN;
  if (known.slowCount < SOLVED_GROUPS || expected(known) < SOLVED) return false;
  return known.slow / known.slowCount >= SOLVED_SLOW;
}

/**
 * Returns the state of a growing arm after one more group of one of its levels. `after` is the new success and practice
 * of that level.
 */
export function grown(arm: Growing, after: Practised, place: LevelPlace): Growing {
  const { level } = place;
  const levels = Array.from({ length: Math.max(arm.levels.length, level + 1) }, (_, i) => arm.levels[i] ?? fresh);
  levels[level] = after;
  const before = topOf(arm, place.levels);
  const top = risen(levels, before, place);
  const retired = levels.map((known, i) => i < top && isRetired(known, arm.retired[i] === true));
  return { top: top > before ? top : arm.top, levels, retired };
}

const isFresh = ({ slowCount }: Practised): boolean => slowCount === 0;

export function encodeGrowing({ top, levels, retired }: Growing): Json {
  const which = retired.flatMap((is, level) => (is ? [level] : []));
  return { top, levels: levels.map((known) => (isFresh(known) ? null : encodeArm(known))), retired: which };
}

export function decodeGrowing(json: Json): Growing {
  const { top, levels, retired } = readObject(json);
  const known = readList(levels).map((level) => (level === null ? fresh : decodeArm(level)));
  const which = new Set(readNumbers(retired));
  return { top: readNumber(top), levels: known, retired: known.map((_, level) => which.has(level)) };
}
