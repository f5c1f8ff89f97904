/**
 * Counts the malformed samples of a run and their reasons, so that the run shows if a model never keeps the answer
 * format.
 */
import { clipUtf8 } from "../../envs/lib/text.ts";
import type { GroupResults } from "./batches.ts";

/** Number of samples with a reward in a window. Windows follow each other from the run's first sample on. */
const WINDOW = 200;
/** Minimum share of malformed samples for a warning. */
const WARNING_SHARE = 0.95;
/**
 * Maximum number of violations that a run distinguishes. Further ones count as malformed but are never the most
 * frequent.
 */
const KINDS_MAX = 32;
const KIND_BYTES_MAX = 320;

export interface MalformedShare {
  /** Number of samples with a reward. */
  readonly samples: number;
  readonly malformed: number;
  /** Most frequent violation of the malformed samples. Empty: no sample is malformed. */
  readonly violation: string;
}

export interface MalformedRecord {
  /** Violations in the order of their first occurrence. At most KINDS_MAX. */
  readonly kinds: readonly string[];
  /**
   * Number of samples with a reward in the current, incomplete window. `malformed` and `counts` are of this window too.
   */
  readonly samples: number;
  readonly malformed: number;
  /** Malformed samples by kind of violation. */
  readonly counts: readonly number[];
  /** Result of the newest complete window. Null: there is none yet. */
  readonly whole: MalformedShare | null;
}

export const nothingMalformed: MalformedRecord = Object.freeze({
  ...({ kinds: [], samples: 0, malformed: 0, counts: [], whole: null } as const),
});

/** Returns a violation without the numbers and words of its answer, so that similar violations count together. */
export function violationKind(violation: string): string {
  return clipUtf8(violation.replaceAll(/'(?!Answer:')[^']*'|\d+(\.\d+)?/g, "…"), KIND_BYTES_MAX);
}

/**
 * Returns a violation as it is recorded: the index of its kind if the run knows it, or the kind itself while the run
 * accepts new ones.
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

/** Returns the index of a kind. A new kind is added while there is room. */
function placeOf(kinds: string[], kind: string | number): number {
  if (typeof kind === "number") return kind;
  const known = kinds.indexOf(kind);
  if (known >= 0) return known;
  return kinds.length < KINDS_MAX ? kinds.push(kind) - 1 : KINDS_MAX;
}

/** Returns the share of malformed samples in the incomplete window. */
function shareOf({ kinds, samples, malformed, counts }: MalformedRecord): MalformedShare {
  const ofKinds = kinds.map((_, kind) => counts[kind] ?? 0);
  return { samples, malformed, violation: kinds[ofKinds.indexOf(Math.max(...ofKinds, 1))] ?? "" };
}

/**
 * Returns the share in the newest complete window. If a run ended before its first window was complete, the share is of
 * all its samples. Null: nothing is known.
 */
export function malformedShare(record: MalformedRecord, isDone: boolean): MalformedShare | null {
  return record.whole ?? (isDone && record.samples > 0 ? shareOf(record) : null);
}

/** Returns the share if nearly all samples are malformed, else undefined. Summaries of older servers have no share. */
export function formatWarning(share: MalformedShare | null | undefined): MalformedShare | undefined {
  if (!share || share.samples === 0) return undefined;
  return share.malformed >= WARNING_SHARE * share.samples ? share : undefined;
}
