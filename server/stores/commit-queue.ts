/**
 * Schedules the calls of a store's thread. Waiting writes are committed together, in order; small reads go before large
 * ones. A write is answered only after its commit, and only if the store's file is still at its path.
 */
import type { DatabaseSync } from "node:sqlite";
import { isBusy, isDamage, mayPass, transaction } from "./sqlite-file.ts";
import { type Access, type Kind, type Names, StoreDamaged } from "./store.ts";

/** Store as its thread runs it: with the methods of the store's interface, but synchronous. */
export interface InThread<S> {
  readonly access: Access<S>;
  readonly methods: {
    readonly [K in Names<S>]: S[K] extends (...args: infer A) => Promise<infer R> ? (...args: A) => R : never;
  };
  /** Deletion of old rows in portions of a few milliseconds each. No caller waits for it. */
  readonly tidying: { readonly due: () => boolean; readonly portion: () => void };
}

export interface StoreCall {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

export type Reply =
  | { readonly kind: "done"; readonly id: number; readonly value: unknown }
  /** A temporary failure, e.g. a full disk. If the call was a write, it may not have been stored. */
  | { readonly kind: "unavailable"; readonly id: number; readonly message: string }
  /** A part of the store's file is missing or damaged. */
  | { readonly kind: "damaged"; readonly id: number; readonly message: string }
  /** The call failed because of a bug. */
  | { readonly kind: "failed"; readonly id: number; readonly message: string; readonly stack: string | undefined };

export interface CommitQueueParts {
  readonly db: DatabaseSync;
  readonly store: InThread<unknown>;
  /** Maximum time that a call waits for a lock that another process holds on the store's file, in milliseconds. */
  readonly busyTimeoutMs: number;
  /**
   * Returns what happened to the store's file if it is no longer at its path, e.g. that it was deleted. Undefined: it
   * is there.
   */
  readonly lost: () => string | undefined;
  readonly answer: (replies: readonly Reply[]) => void;
  /**
   * Called with a problem in words when the store can no longer be used, and with undefined when it can be used again.
   */
  readonly onProblem: (problem: string | undefined) => void;
}

export type CommitQueue = ReturnType<typeof commitQueue>;

interface Job extends StoreCall {
  /** Time, by performance.now(), until which the call waits for a lock. */
  readonly untilMs: number;
}

/** Maximum number of writes in one transaction, so that a transaction stays short. */
const WRITES_MAX = 512;
/** Maximum time for large reads before waiting writes are committed, in milliseconds. */
const BULK_MS = 4;
/**
 * Delays, in milliseconds, between attempts to get a lock that another process holds. SQLite begins with the same
 * delays.
 */
const BACKOFF_MS = [1, 2, 5, 10, 15, 20, 25];

function unavailable({ id }: { readonly id: number }, message: string): Reply {
  return { kind: "unavailable", id, message };
}

function failure(job: Job, error: unknown): Reply {
  const { message, stack } = error as Error;
  if (isDamage(error) || error instanceof StoreDamaged) return { kind: "damaged", id: job.id, message };
  return mayPass(error) ? unavailable(job, message) : { kind: "failed", id: job.id, message, stack };
}

export function commitQueue(parts: CommitQueueParts) {
  const { store, busyTimeoutMs, answer, onProblem } = parts;
  const waiting: Record<Kind, Job[]> = { write: [], read: [], bulk: [] };
  const writer = createWriter(parts);
  let lost: string | undefined;
  let told: string | undefined;
  let next: NodeJS.Immediate | undefined;
  let retry: NodeJS.Timeout | undefined;
  let onClosed: (() => void) | undefined;

  const idle = (): boolean => Object.values(waiting).every((jobs) => jobs.length === 0);
  const tell = (): void => {
    const problem = lost ?? writer.problem();
    if (problem === told) return;
    told = problem;
    onProblem(problem);
  };
  const work = (): Reply[] => {
    const replies = writer.write(waiting.write);
    const reader = readJob(store);
    for (const job of waiting.read.splice(0)) reader(job, waiting.read, replies);
    const endMs = performance.now() + BULK_MS;
    const bulk = waiting.bulk.splice(0);
    while (bulk.length > 0 && performance.now() < endMs) reader(bulk.shift() as Job, waiting.bulk, replies);
    waiting.bulk.unshift(...bulk);
    if (store.tidying.due()) writer.tidy(store.tidying.portion);
    return replies;
  };
  const turn = (): void => {
    clearImmediate(next);
    clearTimeout(retry);
    [next, retry] = [undefined, undefined];
    // The path is checked before writing, because data written into a deleted or moved file would be lost.
    if (lost !== undefined) lost = parts.lost();
    let replies = lost === undefined ? work() : Object.values(waiting).flatMap((jobs) => jobs.splice(0).map(fail));
    lost ??= parts.lost();
    if (lost !== undefined) replies = replies.map(fail);
    tell();
    if (replies.length > 0) answer(replies);
    if (!idle() || (store.tidying.due() && onClosed === undefined)) goOn();
    else onClosed?.();
  };
  const fail = (job: { readonly id: number }): Reply => unavailable(job, lost ?? "");
  /** Schedules the next turn: at once, or after a delay if another process holds the lock. */
  const goOn = (): void => {
    const delayMs = writer.backoffMs();
    if (delayMs === 0) next ??= setImmediate(turn);
    else retry ??= setTimeout(turn, delayMs);
  };
  // The first turn deletes rows of removed runs that an earlier process left in the file.
  goOn();

  return {
    ask: (asked: readonly StoreCall[]): void => {
      const untilMs = performance.now() + busyTimeoutMs;
      const access: Readonly<Record<string, Kind>> = store.access;
      for (const each of asked) waiting[access[each.method] ?? "read"].push({ ...each, untilMs });
      turn();
    },
    /**
     * Checks that the store's file is still at its path. If `isDoubtful`, also tests whether it can be written to. Then
     * copies SQLite's write-ahead log into the file, because SQLite would otherwise do so during a commit.
     */
    look: (isDoubtful: boolean): void => {
      lost = parts.lost();
      if (lost === undefined && (isDoubtful || writer.problem() !== undefined)) writer.probe();
      if (lost === undefined) writer.copyLog();
      tell();
    },
    /** Finishes the waiting work, then calls `closed`. */
    close: (closed: () => void): void => {
      onClosed = closed;
      next ??= setImmediate(turn);
    },
  };
}

/** Returns a function that runs a read. If another process's lock prevents it, the call is put back into the queue. */
function readJob(store: InThread<unknown>) {
  return (job: Job, waiting: Job[], replies: Reply[]): void => {
    try {
      replies.push({ kind: "done", id: job.id, value: run(store, job) });
    } catch (error) {
      if (isBusy(error) && performance.now() < job.untilMs) waiting.push(job);
      else replies.push(failure(job, error));
    }
  };
}

function run(store: InThread<unknown>, { method, args }: StoreCall): unknown {
  const methods: Readonly<Record<string, (...args: readonly unknown[]) => unknown>> = store.methods;
  const found = methods[method];
  if (found === undefined) throw new Error(`bug: the store has no method ${method}`);
  return found(...args);
}

type Attempt =
  | { readonly kind: "done"; readonly replies: readonly Reply[] }
  | { readonly kind: "busy" }
  | { readonly kind: "failed"; readonly error: unknown };

/** Returns functions that commit writes, and track whether committing works. */
function createWriter({ db, store }: Pick<CommitQueueParts, "db" | "store">) {
  let problem: string | undefined;
  /** Number of consecutive attempts that failed because another process held the lock. */
  let busy = 0;

  const attempt = (body: () => readonly Reply[]): Attempt => {
    try {
      const replies = transaction(db, body);
      [problem, busy] = [undefined, 0];
      return { kind: "done", replies };
    } catch (error) {
      if (!isBusy(error)) {
        if (mayPass(error)) problem = `it cannot be written to: ${(error as Error).message}`;
        return { kind: "failed", error };
      }
      busy++;
      return { kind: "busy" };
    }
  };
  const all = (jobs: readonly Job[]): Attempt =>
    attempt(() => jobs.map((job) => ({ kind: "done", id: job.id, value: run(store, job) })));

  /** Answers the calls that have waited too long for another process's lock with "unavailable". */
  const giveUp = (waiting: Job[]): Reply[] => {
    const nowMs = performance.now();
    const due = waiting.findIndex(({ untilMs }) => untilMs > nowMs);
    const late = waiting.splice(0, due < 0 ? waiting.length : due);
    if (late.length > 0) problem = "it cannot be written to: another process holds its lock";
    return late.map((job) => unavailable(job, "another process holds the lock of the store's file"));
  };
  const write = (waiting: Job[]): Reply[] => {
    if (waiting.length === 0) return [];
    const jobs = waiting.slice(0, WRITES_MAX);
    const together = all(jobs);
    if (together.kind === "busy") return giveUp(waiting);
    if (together.kind === "done") {
      waiting.splice(0, jobs.length);
      return [...together.replies];
    }
    // If one write fails, the whole transaction is undone. Each write is then tried alone, so that only the failing
    // ones fail.
    const replies: Reply[] = [];
    for (const job of jobs) {
      const alone = jobs.length === 1 ? together : all([job]);
      if (alone.kind === "busy") break;
      waiting.shift();
      replies.push(...(alone.kind === "done" ? alone.replies : [failure(job, alone.error)]));
    }
    return replies;
  };
  const none = (body: () => void) => () => {
    body();
    return [];
  };
  return {
    write,
    tidy: (portion: () => void) => void attempt(none(portion)),
    problem: () => problem,
    /** Copies SQLite's write-ahead log into the file, except parts that another process's lock protects. */
    copyLog: () => {
      try {
        db.exec("PRAGMA wal_checkpoint(PASSIVE)");
      } catch {
        // An error is ignored here. If the cause lasts, the next write fails too.
      }
    },
    backoffMs: () => (busy === 0 ? 0 : (BACKOFF_MS[busy - 1] ?? 50)),
    /** Creates a table with one row and drops it, to test whether the file can be written to. */
    probe: () => {
      const filled = attempt(
        none(() => db.exec("CREATE TABLE IF NOT EXISTS probe (body BLOB); INSERT INTO probe VALUES (zeroblob(65536))")),
      );
      if (filled.kind === "done") attempt(none(() => db.exec("DROP TABLE IF EXISTS probe")));
    },
  };
}
