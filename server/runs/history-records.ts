/**
 * Encodes and decodes the records of a run's history. In a run of many arms, a batch's record may hold only the changes
 * from the previous batch (curriculum/by-arm.ts), so records are read in order.
 */
import type { Store, StoredRecord } from "../stores/store.ts";
import { changed, changesOf, type RecordedNumbers } from "../curriculum/by-arm.ts";
import { FormatError, isList, type Json, parseJson, readNumber, readNumbers, readObject } from "../curriculum/json.ts";
import { FORMAT } from "../curriculum/event-codec.ts";
import type { HistoryRecord, PlacedRecord } from "../curriculum/history.ts";
import { policyCodec } from "../curriculum/policies/registry.ts";

/**
 * Number of significant digits to which numbers by arm are rounded when they are stored as changes. The history is for
 * people to read, and no draw depends on it.
 */
const DIGITS = 5;

/**
 * Encodes a list with a number for each arm: as a list of all numbers, or as the changes `{scale, at, to}` from the
 * list `before`.
 */
function encodeByArm(before: readonly number[] | null, now: readonly number[]): Json {
  const { all, scale, at, to } = changesOf(before, now);
  return all.length > 0 ? all : { scale, at, to: to.map((number) => Number(number.toPrecision(DIGITS))) };
}

function decodeByArm(before: readonly number[] | null, json: Json | undefined): readonly number[] {
  if (isList(json)) return readNumbers(json);
  const { scale, at, to } = readObject(json);
  const changes = { all: [], scale: readNumber(scale), at: readNumbers(at), to: readNumbers(to) };
  const numbers = changed(before, changes);
  if (numbers === undefined)
    throw new FormatError("a record of the run's history refers to another record that is missing");
  return numbers;
}

/**
 * Returns a list of zeros that is as long as the first list. To save memory, `before`, an earlier result, is returned
 * again if it has this length.
 */
function noneOf({ length }: readonly number[], before: readonly number[] = []): readonly number[] {
  return before.length === length ? before : Array.from({ length }, () => 0);
}

export function encodeRecord({ record, toldBefore = null }: Omit<PlacedRecord, "seq">): string {
  if (record.kind === "control" && record.policy)
    return JSON.stringify({ format: FORMAT, ...record, policy: policyCodec.encode(record.policy) });
  if (record.kind !== "batch") return JSON.stringify({ format: FORMAT, ...record });
  return JSON.stringify({
    format: FORMAT,
    ...record,
    probabilities: encodeByArm(toldBefore && toldBefore.probabilities, record.probabilities),
    values: encodeByArm(toldBefore && toldBefore.values, record.values),
    counts: encodeByArm(toldBefore && noneOf(record.counts), record.counts),
  });
}

/** Parses a record of the history. Lists with a number for each arm stay as they are stored, whole or as changes. */
function parse(text: string): { readonly [name: string]: Json } {
  const { format, ...record } = readObject(parseJson(text));
  if (format !== FORMAT)
    throw new FormatError(
      "a record of the run's history has a format that this server does not read: use the version of Gradus that wrote it",
    );
  return record;
}

export type RecordReader = (text: string) => HistoryRecord;

/** Position in a run's history where the next page continues, with the reader that has read the records before it. */
export interface HistoryPlace {
  /** Key of the run in the store. */
  readonly key: number;
  /** History position of the next record. */
  readonly next: number;
  readonly isByArm: boolean;
  readonly readRecord: RecordReader;
}

/**
 * Returns a reader for successive history records. The first record of an update batch must hold the numbers of all
 * arms. If `isByArm` is false, the reader leaves these numbers out and can begin anywhere.
 */
export function recordReader(isByArm = true): RecordReader {
  let previous: RecordedNumbers | null = null;
  let none: readonly number[] = [];
  return (text) => {
    const { policy, ...record } = parse(text);
    if (record["kind"] !== "batch") {
      const read = record as unknown as HistoryRecord;
      return policy === undefined || read.kind !== "control" ? read : { ...read, policy: policyCodec.decode(policy) };
    }
    if (!isByArm) return { ...record, probabilities: [], values: [], counts: [] } as unknown as HistoryRecord;
    const probabilities = decodeByArm(previous && previous.probabilities, record["probabilities"]);
    const values = decodeByArm(previous && previous.values, record["values"]);
    none = noneOf(probabilities, none);
    const counts = decodeByArm(none, record["counts"]);
    previous = { probabilities, values };
    return { ...(record as unknown as HistoryRecord & { readonly kind: "batch" }), probabilities, values, counts };
  };
}

/**
 * Returns whether a history record holds the numbers of all arms ("whole") or only changes of them. "nothing": it is
 * not the record of an update batch.
 */
function tells({ body }: StoredRecord): "whole" | "changes" | "nothing" {
  const { kind, probabilities } = parse(body);
  if (kind !== "batch") return "nothing";
  return isList(probabilities) ? "whole" : "changes";
}

/**
 * Returns whether the list's first record of an update batch holds only changes from the previous batch, whose record
 * is not in the list.
 */
function isLoose(records: readonly StoredRecord[]): boolean {
  const first = records.find((record) => tells(record) !== "nothing");
  return first !== undefined && tells(first) === "changes";
}

/** Number of history records in each reading of the store, when searching backwards. */
const BACK = 96;

/**
 * Returns the earlier records that are needed to decode `records`. Empty: none are needed, because the first record of
 * an update batch in `records` holds the numbers of all arms.
 */
export async function leadingTo(
  records: readonly StoredRecord[],
  store: Pick<Store, "records">,
  key: number,
): Promise<readonly StoredRecord[]> {
  let leading: readonly StoredRecord[] = [];
  if (!isLoose(records)) return leading;
  for (let to = records[0]?.seq ?? 0; to > 0;) {
    const from = Math.max(0, to - BACK);
    const part = (await store.records(key, from, to - from)).filter(({ seq }) => seq < to);
    leading = [...part, ...leading];
    const whole = part.findLastIndex((record) => tells(record) === "whole");
    if (whole >= 0) return leading.slice(whole);
    to = from;
  }
  return leading;
}

/**
 * Drops records at the start of the list that cannot be decoded, because they hold only changes from records that are
 * not in the list. It drops all records before the first update batch with the numbers of all arms.
 */
export function withoutLoose(records: readonly StoredRecord[]): readonly StoredRecord[] {
  if (!isLoose(records)) return records;
  const whole = records.findIndex((record) => tells(record) === "whole");
  return whole < 0 ? [] : records.slice(whole);
}
