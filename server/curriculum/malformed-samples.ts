/**
 * Counts the answers of a run that could not be parsed (malformed answers) and their format errors. Operators are
 * warned if the model hardly ever follows the answer format.
 */
import { violationKind } from "../../envs/lib/violation-kind.ts";
import type { GroupResults } from "./batches.ts";

/**
 * Number of scored samples in a window. Malformed answers are counted in successive windows, from the run's first
 * sample on.
 */
const WINDOW = 200;
/** Minimum share of malformed answers in a window that leads to a warning. */
const WARNING_SHARE = 0.95;
/**
 * Maximum number of different format errors that a run counts separately. Answers with further errors count only as
 * malformed.
 */
const KINDS_MAX = 32;

export interface MalformedShare {
  /** Number of scored samples, malformed or not. */
  readonly samples: number;
  readonly malformed: number;
  /** Most frequent format error. Empty: no answer is malformed. */
  readonly violation: string;
}

export interface MalformedRecord {
  /**
   * Different format errors of the run in the order of their first occurrence, without numbers and quotations. At most
   * KINDS_MAX.
   */
  readonly kinds: readonly string[];
  /**
   * Number of scored samples in the current, incomplete window. `malformed` and `counts` are numbers in this window,
   * too.
   */
  readonly samples: number;
  readonly malformed: number;
  /** Number of malformed answers by index in `kinds`. */
  readonly counts: readonly number[];
  /** Result of the last complete window. Null: none is complete yet. */
  readonly whole: MalformedShare | null;
}

export const nothingMalformed: MalformedRecord = Object.freeze({
  ...({ kinds: [], samples: 0, malformed: 0, counts: [], whole: null } as const),
});

/**
 * Returns the form in which a format error is recorded: its index in the list `kinds`, or its text if the list does not
 * have it yet. If the list is full, a new error is recorded as the index KINDS_MAX.
 */
export function recordedKind({ kinds }: MalformedRecord, violation: string): string | number {
  const kind = violationKind(violation);
  const known = kinds.indexOf(kind);
  if (known >= 0) return known;
  return kinds.length < KINDS_MAX ? kind : KINDS_MAX;
}

export function withMalformed(before: MalformedRecord, groups: readonly GroupResults[]): MalformedRecord {
  const kinds = [...before.kinds];
  let [counts, samples, malformed, whole] = [[...before.counts], before.samples, before.malformed, before.whole];
  for (const result of groups.flatMap(({ results }) => results)) {
    if (result.kind !== "reward") continue;
    samples++;
    if (result.malformed !== undefined) {
      malformed++;
      const kind = placeOf(kinds, result.malformed);
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
    if (samples < WINDOW) continue;
    whole = shareOf({ kinds, samples, malformed, counts, whole });
    [counts, samples, malformed] = [[], 0, 0];
  }
  return { kinds, samples, malformed, counts: Array.from(counts, (count = 0) => count), whole };
}

/**
 * Returns the index of a format error in `kinds`. A new error is added if there is room; otherwise KINDS_MAX is
 * returned.
 */
function placeOf(kinds: string[], kind: string | number): number {
  if (typeof kind === "number") return kind;
  const known = kinds.indexOf(kind);
  if (known >= 0) return known;
  return kinds.length < KINDS_MAX ? kinds.push(kind) - 1 : KINDS_MAX;
}

/** Returns the counts of the incomplete window, with its most frequent format error. */
function shareOf({ kinds, samples, malformed, counts }: MalformedRecord): MalformedShare {
  const ofKinds = kinds.map((_, kind) => counts[kind] ?? 0);
  return { samples, malformed, violation: kinds[ofKinds.indexOf(Math.max(...ofKinds, 1))] ?? "" };
}

/**
 * Returns the counts of the last complete window. If the run ended before its first window was complete, returns the
 * counts of all its samples. Null: not known yet.
 */
export function malformedShare(record: MalformedRecord, isDone: boolean): MalformedShare | null {
  return record.whole ?? (isDone && record.samples > 0 ? shareOf(record) : null);
}

/**
 * Returns the counts if nearly all answers are malformed, else undefined. Run summaries written by older servers have
 * no counts.
 */
export function formatWarning(share: MalformedShare | null | undefined): MalformedShare | undefined {
  if (!share || share.samples === 0) return undefined;
  return share.malformed >= WARNING_SHARE * share.samples ? share : undefined;
}
