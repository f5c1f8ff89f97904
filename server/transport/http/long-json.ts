/**
 * Parses long JSON in a thread. JSON.parse cannot be interrupted, and takes a second for 60 MB, in which no call would
 * be served. If several callers wait, the one with the fewest parsed bytes so far is next.
 */
import { Piscina } from "piscina";
import { createTurnTaking, type Party } from "../../base/fair-turns.ts";
import { RpcError } from "../../base/rpc.ts";
import type { Job, Outcome, ValueOf } from "./long-json-worker.ts";

/** Number of bytes above which JSON is parsed in the thread. */
export const LONG_JSON_BYTES = 64 * 1024;
/** Time after which the idle thread ends, in milliseconds. */
const IDLE_TIMEOUT_MS = 60_000;
/** Maximum heap of the thread in megabytes. A JSON text with a million values needs half of it. */
const HEAP_MB_MAX = 768;

export interface LongJson {
  /**
   * Parses a JSON text in the thread. Most texts are moved there, so the caller must not use the bytes afterwards.
   * Rejects with RpcError if the text is invalid.
   */
  read<Kind extends Job["kind"]>(job: Extract<Job, { kind: Kind }>, party: Party): Promise<ValueOf[Kind]>;
  close(): Promise<void>;
}

export function createLongJson(): LongJson {
  let threads: Piscina<Job, Outcome> | undefined;
  const inTurn = createTurnTaking(1);
  // The thread runs at the same priority as the event loop. At a lower priority, other processes could run while the
  // thread holds the lock of the process's memory, and the event loop would wait for that lock.
  const start = (): Piscina<Job, Outcome> =>
    new Piscina<Job, Outcome>({
      filename: new URL("./long-json-worker.ts", import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_TIMEOUT_MS,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    });
  const run = async (job: Job): Promise<Outcome> => {
    const { buffer, byteLength } = job.bytes;
    threads ??= start();
    try {
      // Bytes that are a small part of a larger buffer are copied, because moving them would move the whole buffer.
      const moves = buffer.byteLength < 2 * byteLength && buffer instanceof ArrayBuffer;
      return await threads.run(job, moves ? { transferList: [buffer] } : {});
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_WORKER_OUT_OF_MEMORY") throw error;
      throw new RpcError("RESOURCE_EXHAUSTED", "the request's JSON needs too much memory: send it in smaller parts");
    }
  };
  return {
    async read(job, party) {
      const { length } = job.bytes;
      const outcome = await inTurn(party, length, (charge) => {
        charge(length);
        return run(job);
      });
      if (outcome.kind === "read") return outcome.value as never;
      const { code, message, field } = outcome;
      throw new RpcError(code, message, field === undefined ? {} : { field });
    },
    close: async () => threads?.destroy(),
  };
}
