/** Opens the stores in SQLite files. The processes of one machine may share a directory. Each store has a thread. */
import { evaluationAccess, type EvaluationStore } from "./evaluation-store.ts";
import { sampleAccess, type SampleStore } from "./sample-store.ts";
import { sessionAccess, type SessionStore } from "./session-store.ts";
import { type Access, runAccess, type Store } from "./store.ts";
import { openInThread, type ThreadData } from "./thread.ts";

export interface SqliteOptions {
  /** Directory of the files, which is made if it does not exist. */
  readonly directory: string;
  /**
   * How safe commits are. "normal" (default): they survive the death of the process, but a power failure may lose the
   * last ones. "full": they survive a power failure too, but each commit waits for the disk.
   */
  readonly synchronous?: "normal" | "full";
  /** Maximum time that a call waits for another process's lock, in milliseconds. Defaults to 5,000. */
  readonly busyTimeoutMs?: number;
  /**
   * Called with a problem when the file can no longer be used, e.g. when it is deleted. Undefined: it can be used
   * again.
   */
  readonly onProblem?: (problem: string | undefined) => void;
}

/**
 * Returns a function that opens one kind of store. The function rejects with CannotOpen if the store cannot be opened.
 */
function opener<S>(holds: ThreadData["holds"], access: Access<S>): (options: SqliteOptions) => Promise<S> {
  return ({ directory, synchronous = "normal", busyTimeoutMs = 5000, onProblem = () => undefined }) =>
    openInThread({ holds, directory, synchronous, busyTimeoutMs }, access, onProblem);
}

export const sqliteStore = opener<Store>("runs", runAccess);

export const sqliteEvaluationStore = opener<EvaluationStore>("evaluations", evaluationAccess);

export const sqliteSampleStore = opener<SampleStore>("samples", sampleAccess);

export const sqliteSessionStore = opener<SessionStore>("sessions", sessionAccess);
