/** Reads one page of a run's history records: as many as were requested, or as many as fit into a response. */
import type { Store, StoredRecord } from "../stores/store.ts";
import { isMany } from "../curriculum/by-arm.ts";
import type { RunState } from "../curriculum/state.ts";

/**
 * Maximum number of characters of the records in a page. They take about half a megabyte in a response, and gRPC
 * clients accept 4 MB by default. In a run of 256 arms, they are a hundred update batches.
 */
export const PAGE_CHARACTERS_MAX = 1024 ** 2;
/**
 * Estimated number of characters for each arm in the record of an update batch, when it is sent with the numbers of all
 * arms.
 */
const CHARACTERS_PER_ARM = 40;
/** Number of records in each reading of the store. A reading costs a message to the store's thread and back. */
const AT_A_TIME = 256;

/**
 * Returns a page of at least one record, if there is one, and the position where the next page begins. An undefined
 * position means that this is the last page.
 */
export async function historyPage(
  store: Pick<Store, "records">,
  key: number,
  { from, limit, armCount }: { readonly from: number; readonly limit: number; readonly armCount: number },
) {
  // The stored record of an update batch may hold only the arms whose numbers changed, so its length in the response is
  // estimated.
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
 * Returns the first history position, from `from` on, that should have a record but has none. `end` is the position
 * after the records that were read. Runs that were imported are not checked, because an export may lack older records.
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
