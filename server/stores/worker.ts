/** Entry point of a storage thread. The thread opens one store's file, and answers the calls that thread.ts sends. */
import { statfsSync } from "node:fs";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { type StoreCall, commitQueue, type InThread } from "./commit-queue.ts";
import { openFile, watchFile } from "./sqlite-file.ts";
import { evaluationSchema, evaluationsIn } from "./sqlite-evaluations.ts";
import { runSchema, runsIn } from "./sqlite-runs.ts";
import { sampleSchema, samplesIn } from "./sqlite-samples.ts";
import { sessionSchema, sessionsIn } from "./sqlite-sessions.ts";
import type { FromThread, ThreadData, ToThread } from "./thread.ts";

/**
 * Interval, in milliseconds, at which the thread checks that its file is there and copies SQLite's write-ahead log into
 * it. If the last write failed or the disk is full, it also tests whether the file can be written to.
 */
const LOOK_EVERY_MS = 1000;

if (parentPort === null) throw new Error("this module must run in a worker thread");
const port = parentPort;
const { holds, ...options } = workerData as ThreadData;
const tell = (message: FromThread): void => port.postMessage(message);

const kinds = {
  runs: { schema: runSchema, storeIn: runsIn },
  evaluations: { schema: evaluationSchema, storeIn: evaluationsIn },
  samples: { schema: sampleSchema, storeIn: samplesIn },
  sessions: { schema: sessionSchema, storeIn: sessionsIn },
} as const;

function open() {
  const { schema, storeIn } = kinds[holds];
  const file = openFile(options, schema);
  const store: InThread<unknown> = storeIn(file.db);
  return { ...file, store };
}

function serve({ db, path, store }: ReturnType<typeof open>): void {
  const queue = commitQueue({
    db,
    store,
    busyTimeoutMs: options.busyTimeoutMs,
    lost: watchFile(path),
    answer: (replies) => tell({ kind: "replies", replies }),
    onProblem: (problem) => tell({ kind: "problem", problem: problem && `${path}: ${problem}` }),
  });
  const close = (): void =>
    queue.close(() => {
      clearInterval(looking);
      db.close();
      tell({ kind: "closed" });
      port.close();
    });
  /** Takes all calls that have arrived, so that they are committed together. */
  const takeAll = (first: readonly StoreCall[]): void => {
    let [asked, more] = [first, receiveMessageOnPort(port)];
    for (; more !== undefined; more = receiveMessageOnPort(port)) {
      const message = more.message as ToThread;
      if (message.kind === "close") {
        queue.ask(asked);
        return close();
      }
      asked = asked.concat(message.asked);
    }
    queue.ask(asked);
  };
  const looking = setInterval(() => queue.look(isFull(path)), LOOK_EVERY_MS);
  port.on("message", (message: ToThread) => {
    if (message.kind === "asked") return takeAll(message.asked);
    close();
  });
}

/** Returns whether the disk of the file is full. */
function isFull(path: string): boolean {
  try {
    return statfsSync(path).bavail === 0;
  } catch {
    // The error is ignored: if the file was deleted, the commit queue detects that.
    return false;
  }
}

try {
  serve(open());
  tell({ kind: "open" });
} catch (error) {
  tell({ kind: "cannot_open", message: (error as Error).message });
}
