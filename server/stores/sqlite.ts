/**
 * Opens the embedded stores: SQLite files in a directory, shared by the processes of one machine, each with a thread.
 */
import { evaluationAccess, type EvaluationStore } from "./evaluation-store.ts";
import { sampleAccess, type SampleStore } from "./sample-store.ts";
import { type Access, runAccess, type Store } from "./store.ts";
import { openInThread, type ThreadData } from "./thread.ts";

export interface SqliteOptions {
  /** Made if it does not exist. */
  readonly directory: string;
  /**
   * "normal": commits survive the death of the process, kill -9 included, but a power failure may lose the last
   * commits. "full": commits survive a power failure too, at the cost of a sync to disk in each commit. Defaults to
   * "normal".
   */
  readonly synchronous?: "normal" | "full";
  /** How long a call waits for another process's lock, in milliseconds. Defaults to 5,000. */
  readonly busyTimeoutMs?: number;
  /**
   * Called with the problem when the file can no longer be used (it is full, locked or deleted); undefined: it can be
   * used again.
   */
  readonly onProblem?: (problem: string | undefined) => void;
}

/** Returns a function that opens a store of one kind, and rejects with CannotOpen. */
function opener<S>(holds: ThreadData["holds"], access: Access<S>): (options: SqliteOptions) => Promise<S> {
  return ({ directory, synchronous = "normal", busyTimeoutMs = 5000, onProblem = () => undefined }) =>
    openInThread({ holds, directory, synchronous, busyTimeoutMs }, access, onProblem);
}

/** Opens runs.sqlite. */
export const sqliteStore = opener<Store>("runs", runAccess);

/** Opens evaluations.sqlite. */
export const sqliteEvaluationStore = opener<EvaluationStore>("evaluations", evaluationAccess);

/** Opens samples.sqlite. */
export const sqliteSampleStore = opener<SampleStore>("samples", sampleAccess);
