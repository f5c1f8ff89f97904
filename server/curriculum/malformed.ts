/** Counts how many samples of a run are malformed and why, so that a format that a model never keeps shows. */
import { clipUtf8 } from "../../envs/lib/text.ts";
import type { GroupResults } from "./batches.ts";

/** Samples with a reward that are judged together: the run's first, then the next, and so on. */
const WINDOW = 200;
/** The share of malformed samples from which there is a warning. */
const WARNING_SHARE = 0.95;
/** Violations that are told apart in a run; further ones count as malformed, and are never the most frequent. */
const KINDS_MAX = 32;
const KIND_BYTES_MAX = 320;

export interface MalformedShare {
  /** Samples with a reward. */
  readonly samples: number;
  readonly malformed: number;
  /** The most frequent violation of the malformed samples; empty: there are none. */
  readonly violation: string;
}

export interface MalformedRecord {
  /** The run's violations in the order in which they came first; at most KINDS_MAX. */
  readonly kinds: readonly string[];
  /** Samples with a reward of the window that is not whole yet; `malformed` and `counts` are of it too. */
  readonly samples: number;
  readonly malformed: number;
  /** By kind. */
  readonly counts: readonly number[];
  /** The newest whole window; null: there is none yet. */
  readonly whole: MalformedShare | null;
}

export const nothingMalformed: MalformedRecord = Object.freeze({
  ...({ kinds: [], samples: 0, malformed: 0, counts: [], whole: null } as const),
});

/** A violation without the numbers and words of its answer, so that like ones count together. */
export function violationKind(violation: string): string {
  return clipUtf8(violation.replaceAll(/'(?!Answer:')[^']*'|\d+(\.\d+)?/g, "…"), KIND_BYTES_MAX);
}

/** A violation as it is recorded: the index of its kind if the run knows it, or the kind while the run takes new ones. */
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

/** The place of a kind; a new one is added while there is room. */
function placeOf(kinds: string[], kind: string | number): number {
  if (typeof kind === "number") return kind;
  const known = kinds.indexOf(kind);
  if (known >= 0) return known;
  return kinds.length < KINDS_MAX ? kinds.push(kind) - 1 : KINDS_MAX;
}

/** Returns the share of the window that is not whole yet. */
function shareOf({ kinds, samples, malformed, counts }: MalformedRecord): MalformedShare {
  const ofKinds = kinds.map((_, kind) => counts[kind] ?? 0);
  return { samples, malformed, violation: kinds[ofKinds.indexOf(Math.max(...ofKinds, 1))] ?? "" };
}

/** The newest whole window; of a run that ended before its first was whole all of its samples. Null: nothing is known. */
export function malformedShare(record: MalformedRecord, isDone: boolean): MalformedShare | null {
  return record.whole ?? (isDone && record.samples > 0 ? shareOf(record) : null);
}

/** The share if it is to be warned of: nearly all samples are malformed. A summary of an older server has no share. */
export function formatWarning(share: MalformedShare | null | undefined): MalformedShare | undefined {
  if (!share || share.samples === 0) return undefined;
  return share.malformed >= WARNING_SHARE * share.samples ? share : undefined;
}
