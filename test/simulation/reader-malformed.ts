/** Malformed samples, as the independent reader counts them (reader.ts). */
import type { MalformedRecord, Sample } from "../../proto/gen/gradus/internal/v1/run_pb.js";

/** Samples with a reward that make a window, and violations that a run tells apart. */
const [WINDOW, KINDS_MAX] = [200, 32];

export interface ReadMalformed {
  readonly kinds: readonly string[];
  readonly samples: number;
  readonly malformed: number;
  /** Counts by kind. */
  readonly counts: readonly number[];
  /** Counts of the newest whole window. */
  readonly whole: { readonly samples: number; readonly malformed: number; readonly violation: string } | null;
}

export const noneMalformed: ReadMalformed = { kinds: [], samples: 0, malformed: 0, counts: [], whole: null };

/** States of older servers have no such record. */
export function readMalformed(message: MalformedRecord | undefined): ReadMalformed {
  if (message === undefined) return noneMalformed;
  const { kinds, samples, malformed, counts, whole } = message;
  const share = whole && { samples: whole.samples, malformed: whole.malformed, violation: whole.violation };
  return { kinds, samples, malformed, counts, whole: share ?? null };
}

/** Counts one more training sample. `fault` is called for content that no sound journal has. */
export function countMalformed(
  record: ReadMalformed,
  { reward, malformed: index, malformedKind: kind }: Pick<Sample, "reward" | "malformed" | "malformedKind">,
  isNew: (kind: string) => boolean,
  fault: (what: string) => void,
): ReadMalformed {
  const isMalformed = index !== undefined || kind !== undefined;
  if (reward === undefined) {
    if (isMalformed) fault("is malformed without a reward");
    return record;
  }
  const kinds = [...record.kinds];
  const counts = [...record.counts];
  if (kind !== undefined) {
    if (!isNew(kind)) fault(`tells of the violation "${kind}", which the run knew`);
    if (!kinds.includes(kind) && kinds.length < KINDS_MAX) kinds.push(kind);
  }
  if (index !== undefined && index >= kinds.length && kinds.length < KINDS_MAX)
    fault(`is of kind ${index} of ${kinds.length} violations`);
  if (isMalformed) {
    const known = kind === undefined ? (index ?? 0) : kinds.indexOf(kind);
    const place = known < 0 ? KINDS_MAX : known;
    while (counts.length <= place) counts.push(0);
    counts[place] = (counts[place] ?? 0) + 1;
  }
  const samples = record.samples + 1;
  const malformed = record.malformed + Number(isMalformed);
  if (samples < WINDOW) return { ...record, kinds, samples, malformed, counts };
  const most = Math.max(0, ...counts.slice(0, KINDS_MAX));
  const violation = most === 0 ? "" : (kinds[counts.indexOf(most)] ?? "");
  return { ...noneMalformed, kinds, whole: { samples, malformed, violation } };
}
