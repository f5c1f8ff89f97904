/**
 * Schedules the storage thread's work. Waiting writes are committed together, in their order; small reads go before
 * large ones. Nothing is answered before it is committed and the file is found to be still at its path.
 */
import type { DatabaseSync } from "node:sqlite";
import { isBusy, isDamage, mayPass, transaction } from "./sqlite-file.ts";
import { type Access, type Kind, type Names, StoreDamaged } from "./store.ts";

/** A store as its thread has it: the same methods, but synchronous. */
export interface InThread<S> {
  readonly access: Access<S>;
  readonly methods: {
    readonly [K in Names<S>]: S[K] extends (...args: infer A) => Promise<infer R> ? (...args: A) => R : never;
  };
  /** Work that nobody waits for, done a few milliseconds at a time. */
  readonly tidying: { readonly due: () => boolean; readonly portion: () => void };
}

export interface StoreCall {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

export type Reply =
  | { readonly kind: "done"; readonly id: number; readonly value: unknown }
  /** The failure may pass; the write is not confirmed. */
  | { readonly kind: "unavailable"; readonly id: number; readonly message: string }
  /** A part of the file is missing or cannot be read. */
  | { readonly kind: "damaged"; readonly id: number; readonly message: string }
  /** A bug. */
  | { readonly kind: "failed"; readonly id: number; readonly message: string; readonly stack: string | undefined };

export interface CommitQueueParts {
  readonly db: DatabaseSync;
  readonly store: InThread<unknown>;
  /** How long a call waits for another process's lock, in milliseconds. */
  readonly busyTimeoutMs: number;
  /** Returns what has become of the file if it is no longer at its path; undefined: the file is there. */
  readonly lost: () => string | undefined;
  readonly answer: (replies: readonly Reply[]) => void;
  /** Called with the problem when the store can no longer be used; undefined: the store works again. */
  readonly onProblem: (problem: string | undefined) => void;
}

export type CommitQueue = ReturnType<typeof commitQueue>;

interface Job extends StoreCall {
  /** Time by performance.now() until which the job waits for a lock. */
  readonly untilMs: number;
}

/** Maximum number of writes in one transaction, so that it ends soon. */
const WRITES_MAX = 512;
/** Time after which large reads let newly arrived writes go first, in milliseconds. */
const BULK_MS = 4;
/** Delays between attempts to get a lock that another process holds, in milliseconds: SQLite's own steps. */
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
    // A lost file is not written to: nobody would see the data.
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
  /** Schedules the next turn: at once, unless another process holds the lock. */
  const goOn = (): void => {
    const delayMs = writer.backoffMs();
    if (delayMs === 0) next ??= setImmediate(turn);
    else retry ??= setTimeout(turn, delayMs);
  };
  // Begins with the tidying that the last process left.
  goOn();

  return {
    ask: (asked: readonly StoreCall[]): void => {
      const untilMs = performance.now() + busyTimeoutMs;
      const access: Readonly<Record<string, Kind>> = store.access;
      for (const each of asked) waiting[access[each.method] ?? "read"].push({ ...each, untilMs });
      turn();
    },
    /**
     * Checks that the file is still there and, if `isDoubtful`, writes to it to see whether writing works. Then copies
     * the log to the file, which SQLite would otherwise do within a commit that somebody waits for.
     */
    look: (isDoubtful: boolean): void => {
      lost = parts.lost();
      if (lost === undefined && (isDoubtful || writer.problem() !== undefined)) writer.probe();
      if (lost === undefined) writer.copyLog();
      tell();
    },
    /** Does the waiting work, then calls back. */
    close: (closed: () => void): void => {
      onClosed = closed;
      next ??= setImmediate(turn);
    },
  };
}

/** Does a read job; if a lock prevents the read, the job goes back to the queue. */
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
  if (found === undefined) throw new Error(`the store has no method ${method}`);
  return found(...args);
}

type Attempt =
  | { readonly kind: "done"; readonly replies: readonly Reply[] }
  | { readonly kind: "busy" }
  | { readonly kind: "failed"; readonly error: unknown };

/** Commits writes, and tracks whether committing works. */
function createWriter({ db, store }: Pick<CommitQueueParts, "db" | "store">) {
  let problem: string | undefined;
  /** Number of attempts in a row that found the lock held. */
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

  /** Answers the jobs that waited too long for the lock. */
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
    // If one job fails, all are undone. So each job is tried alone, and only the failing ones fail.
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
    /** Does not wait for a lock of another process. */
    copyLog: () => {
      try {
        db.exec("PRAGMA wal_checkpoint(PASSIVE)");
      } catch {
        // A cause that lasts shows in the next write.
      }
    },
    backoffMs: () => (busy === 0 ? 0 : (BACKOFF_MS[busy - 1] ?? 50)),
    /** Writes a row and deletes it, to find out whether writing works. */
    probe: () => {
      const filled = attempt(
        none(() => db.exec("CREATE TABLE IF NOT EXISTS probe (body BLOB); INSERT INTO probe VALUES (zeroblob(65536))")),
      );
      if (filled.kind === "done") attempt(none(() => db.exec("DROP TABLE IF EXISTS probe")));
    },
  };
}
