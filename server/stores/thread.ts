/**
 * Runs a store in a thread, so that the event loop never waits for a disk or for another process's lock. Calls take
 * effect in order. When a promise resolves, its write is committed.
 */
import { Worker } from "node:worker_threads";
import type { StoreCall, Reply } from "./commit-queue.ts";
import type { FileOptions } from "./sqlite-file.ts";
import { type Access, StoreDamaged, StoreUnavailable } from "./store.ts";

/** Settings with which a storage thread starts. */
export interface ThreadData extends FileOptions {
  readonly holds: "runs" | "evaluations" | "samples" | "sessions";
}

export type ToThread = { readonly kind: "asked"; readonly asked: readonly StoreCall[] } | { readonly kind: "close" };

export type FromThread =
  | { readonly kind: "open" }
  | { readonly kind: "cannot_open"; readonly message: string }
  | { readonly kind: "replies"; readonly replies: readonly Reply[] }
  | { readonly kind: "problem"; readonly problem: string | undefined }
  | { readonly kind: "closed" };

/**
 * Maximum number of bytes of the calls that wait for a storage thread, or of the appends that wait for a database. A
 * single call or append may exceed it if nothing else waits.
 */
export const WAITING_BYTES_MAX = 128 * 1024 ** 2;
/** Bytes that a call counts towards the limit of waiting calls, in addition to its texts. */
const CALL_BYTES = 512;

/**
 * Error if a store cannot be opened, e.g. because its file is damaged or has another version. The operator must fix it;
 * the message names the file.
 */
export class CannotOpen extends Error {}

interface Call {
  readonly bytes: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Returns the number of bytes of all texts in a value. Each UTF-16 unit counts as two bytes. */
export function bytesOf(value: unknown): number {
  if (typeof value === "string") return 2 * value.length;
  if (value instanceof Uint8Array) return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, each) => sum + bytesOf(each), 0);
}

/**
 * Opens a store in a thread. Rejects with CannotOpen. `onProblem` is called with a text when the store can no longer be
 * used, and with undefined when it can be used again.
 */
export async function openInThread<S>(
  data: ThreadData,
  access: Access<S>,
  onProblem: (problem: string | undefined) => void,
): Promise<S> {
  // The thread gets none of the process's Node flags, because some of them, such as --input-type, suit only the main
  // thread.
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData: data, execArgv: [] });
  const calls = createCalls(worker);
  const ended = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  worker.on("message", (message: FromThread) => {
    if (message.kind === "replies") calls.settle(message.replies);
    else if (message.kind === "problem") onProblem(message.problem);
    else if (message.kind === "open") opened.resolve();
    else if (message.kind === "cannot_open") opened.reject(new CannotOpen(message.message));
  });
  const fail = (error: Error): void => {
    opened.reject(error);
    calls.failAll(error);
    onProblem(error.message);
  };
  worker.on("error", (error) => fail(new StoreUnavailable(`the storage thread failed: ${String(error)}`)));
  worker.on("exit", () => {
    ended.resolve();
    if (calls.close()) fail(new StoreUnavailable("the storage thread ended"));
  });
  await opened.promise;
  // An idle store does not keep the process alive.
  worker.unref();

  const names = Object.keys(access);
  const methods = names.map((name) => [name, (...args: readonly unknown[]) => calls.ask(name, args)] as const);
  const close = async (): Promise<void> => {
    if (!calls.close()) return ended.promise;
    worker.ref();
    worker.postMessage({ kind: "close" } satisfies ToThread);
    await ended.promise;
  };
  return { ...Object.fromEntries(methods), close } as S;
}

/** Tracks calls until the thread answers them. */
function createCalls(worker: Worker) {
  const waiting = new Map<number, Call>();
  let asked: StoreCall[] = [];
  let nextId = 0;
  let bytesWaiting = 0;
  let over: Error | undefined;

  const send = (): void => {
    const message: ToThread = { kind: "asked", asked };
    asked = [];
    if (over === undefined) worker.postMessage(message);
  };
  const take = (id: number): Call | undefined => {
    const call = waiting.get(id);
    waiting.delete(id);
    bytesWaiting -= call?.bytes ?? 0;
    if (waiting.size === 0) worker.unref();
    return call;
  };
  return {
    ask: (method: string, args: readonly unknown[]): Promise<unknown> => {
      if (over !== undefined) return Promise.reject(over);
      const bytes = CALL_BYTES + bytesOf(args);
      if (waiting.size > 0 && bytesWaiting + bytes > WAITING_BYTES_MAX) {
        const message = `the store is too slow: ${bytesWaiting} bytes wait to be written, and the limit is ${WAITING_BYTES_MAX}; try again later`;
        return Promise.reject(new StoreUnavailable(message));
      }
      const id = nextId++;
      bytesWaiting += bytes;
      if (waiting.size === 0) worker.ref();
      // All calls of one turn of the event loop are sent to the thread in one message.
      if (asked.length === 0) queueMicrotask(send);
      asked.push({ id, method, args });
      return new Promise((resolve, reject) => waiting.set(id, { bytes, resolve, reject }));
    },
    settle: (replies: readonly Reply[]): void => {
      for (const reply of replies) {
        const call = take(reply.id);
        if (reply.kind === "done") call?.resolve(reply.value);
        else call?.reject(errorOf(reply));
      }
    },
    failAll: (error: Error): void => {
      over = error;
      for (const id of [...waiting.keys()]) take(id)?.reject(error);
    },
    /** Sends the remaining calls, and refuses new ones. Returns false if it was called before. */
    close: (): boolean => {
      if (over !== undefined) return false;
      if (asked.length > 0) send();
      over = new Error("the store is closed");
      return true;
    },
  };
}

function errorOf(reply: Exclude<Reply, { readonly kind: "done" }>): Error {
  if (reply.kind === "unavailable") return new StoreUnavailable(reply.message);
  if (reply.kind === "damaged") return new StoreDamaged(reply.message);
  const error = new Error(reply.message);
  if (reply.stack !== undefined) error.stack = reply.stack;
  return error;
}
