/** A page of a run's history: as many records as requested, or as many as fit. */
import type { Store, StoredRecord } from "../stores/store.ts";
import { isMany } from "../curriculum/by-arm.ts";
import type { RunState } from "../curriculum/state.ts";

/**
 * Maximum number of characters of the records in a page. That is about half a megabyte on the wire, of the 4 MB that
 * gRPC clients accept by default. For a run of 256 arms it is a hundred update batches.
 */
export const PAGE_CHARACTERS_MAX = 1024 ** 2;
/** Characters that each arm of an update batch takes on the wire if the batch is written whole. */
const CHARACTERS_PER_ARM = 40;
/** Number of records in one reading. Smaller readings would each cost a message to the store's thread and back. */
const AT_A_TIME = 256;

/**
 * Returns a page of at least one record, if there is one, and the position of the next page. Undefined: this is the
 * last page.
 */
export async function historyPage(
  store: Pick<Store, "records">,
  key: number,
  { from, limit, armCount }: { readonly from: number; readonly limit: number; readonly armCount: number },
) {
  // A stored record of many arms may hold only those that changed, so its length on the wire is estimated.
  const least = isMany(armCount) ? CHARACTERS_PER_ARM * armCount : 0;
  const placed: StoredRecord[] = [];
  let characters = 0;
  let at = from;
  while (placed.length < limit) {
    const wanted = Math.min(AT_A_TIME, limit - placed.length);
    const part = await store.records(key, at, wanted);
    for (const record of part) {
      const length = Math.max(least, record.body.length);
      if (placed.length > 0 && characters + length > PAGE_CHARACTERS_MAX) return { placed, next: record.seq };
      placed.push(record);
      characters += length;
      at = record.seq + 1;
    }
    if (part.length < wanted) return { placed, next: undefined };
  }
  return { placed, next: at };
}

/**
 * Returns the first position, from `from` on, at which the history should have a record and has none. `end` is where
 * the records that were read end. An imported run is not checked, because its export held only the newest part of its
 * history.
 */
export function missingRecord(
  { incarnations, nextSeq }: RunState,
  records: readonly StoredRecord[],
  from: number,
  end: number = nextSeq,
): number | undefined {
  if (incarnations.length > 1) return undefined;
  const gap = records.findIndex(({ seq }, i) => seq !== from + i);
  const missing = from + (gap < 0 ? records.length : gap);
  return missing < Math.min(end, nextSeq) ? missing : undefined;
}
