/** A page of a run's history: as many records as were asked for, or as fit. */
import type { Store, StoredRecord } from "../stores/store.ts";
import { isMany } from "../curriculum/by-arm.ts";
import type { RunState } from "../curriculum/state.ts";

/**
 * Characters of records in a page: about half a megabyte on the wire, of the 4 that gRPC clients take by default. Of a
 * run of 256 arms that is a hundred update batches.
 */
export const PAGE_CHARACTERS_MAX = 1024 ** 2;
/** Of an update batch, for each arm, where it is told whole, as it is on the wire. */
const CHARACTERS_PER_ARM = 40;
/** Records that are read from the store at a time: fewer cost a message to its thread and back each. */
const AT_A_TIME = 256;

/** A page of at least one record, where there is one, and where the next starts; undefined: this is the last. */
export async function historyPage(
  store: Pick<Store, "records">,
  key: number,
  { from, limit, armCount }: { readonly from: number; readonly limit: number; readonly armCount: number },
) {
  // What was written of many arms may be a few of them.
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
 * The first place from one on of which the history should have a record and has none; `end`: where what was read ends. Of a
 * run that was imported this cannot be told: of what was before its export only the newest part came with it.
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
