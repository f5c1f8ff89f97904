/**
 * Looks through a run's journal for what was changed, which is done for each run that is loaded. Many events come as one row:
 * hashes, bodies and lengths, each in one piece, for reading a row an event takes longer than hashing it. While one piece is
 * hashed the next one is on its way.
 */
import { type Chain, HASH_BYTES, journalReader, START } from "../chain.ts";
import { StoreDamaged } from "../store.ts";
import type { Connections, Rows } from "./database.ts";

/** What is hashed in one go: a few milliseconds. */
const EVENTS_MAX = 1024;
const BYTES_MAX = 256 * 1024;

/** Events that follow one another. */
interface Piece {
  /** Of the event before them, which is START before the first. */
  readonly before: Uint8Array;
  readonly events: readonly { readonly hash: Uint8Array; readonly body: Uint8Array }[];
}

/** Where the row has other numbers of hashes and bodies, an event is not as it was written: those before are given. */
function pieceOf([row]: Rows, fromVersion: number): Piece {
  const { hashes, bodies, lengths } = row as Readonly<Record<string, Buffer | string | null>>;
  const sizes = ((lengths as string | null) ?? "").split(" ").filter(Boolean).map(Number);
  const [hash, body] = [(hashes as Buffer | null) ?? START, (bodies as Buffer | null) ?? START];
  const first = fromVersion === 0 ? 0 : HASH_BYTES;
  let end = 0;
  const events = sizes.map((size, i) => {
    const at = first + i * HASH_BYTES;
    end += size;
    return { hash: hash.subarray(at, at + HASH_BYTES), body: body.subarray(end - size, end) };
  });
  return { before: hash.subarray(0, first), events };
}

/**
 * Up to which version all events are as they were written, at most `toVersion`. The one after it may be whole all the same:
 * one in several parts is not looked at here, nor is what is wrong told.
 */
export async function wholeUntil(
  { calls, chain }: { readonly calls: Connections; readonly chain: Chain },
  key: number,
  fromVersion: number,
  toVersion: number,
): Promise<number> {
  const ask = (at: number): Promise<Rows> => {
    const asked = calls.query("check", [key, at, Math.min(toVersion, at + EVENTS_MAX), BYTES_MAX]);
    // Where it is not waited for any more, its failure is nobody's.
    asked.catch(() => undefined);
    return asked;
  };
  let at = fromVersion;
  let [coming, reader]: [Promise<Rows>, ReturnType<typeof journalReader>?] = [ask(at)];
  while (at < toVersion) {
    const { before, events } = pieceOf(await coming, at);
    if (events.length === 0) return at;
    coming = at + events.length < toVersion ? ask(at + events.length) : coming;
    reader ??= journalReader(chain, { key, id: "", version: toVersion, hash: START }, fromVersion, before);
    for (const event of events) {
      try {
        reader.take({ ...event, version: at + 1 });
      } catch (error) {
        if (error instanceof StoreDamaged) return at;
        throw error;
      }
      at++;
    }
  }
  return at;
}
