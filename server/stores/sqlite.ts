/** The embedded stores: SQLite files in a directory, shared by the processes of one machine, each with a thread. */
import { evaluationAccess, type EvaluationStore } from "./evaluation-store.ts";
import { sampleAccess, type SampleStore } from "./sample-store.ts";
import { type Access, runAccess, type Store } from "./store.ts";
import { openInThread, type ThreadData } from "./thread.ts";

export interface SqliteOptions {
  /** Made if it is not there. */
  readonly directory: string;
  /**
   * "normal": what was committed survives the death of the process, kill -9 included, but the last commits may be lost
   * when the machine loses power. "full": they survive that too, for a sync to disk in each commit.
   */
  readonly synchronous?: "normal" | "full";
  /** How long a call waits for another process's lock. */
  readonly busyTimeoutMs?: number;
  /** Told when the file can no longer be used (it is full, locked, deleted), and why; undefined: it can be again. */
  readonly onProblem?: (problem: string | undefined) => void;
  /** Told what of the file was damaged and lost when it was opened. */
  readonly onLoss?: (loss: string) => void;
}

/** What opens a store of one kind. It rejects with CannotOpen. */
function opener<S>(holds: ThreadData["holds"], access: Access<S>): (options: SqliteOptions) => Promise<S> {
  return ({ directory, synchronous = "normal", busyTimeoutMs = 5000, ...told }) => {
    const { onProblem = () => undefined, onLoss = () => undefined } = told;
    return openInThread({ holds, directory, synchronous, busyTimeoutMs }, access, { onProblem, onLoss });
  };
}

/** Opens runs.sqlite. */
export const sqliteStore = opener<Store>("runs", runAccess);

/** Opens evaluations.sqlite. */
export const sqliteEvaluationStore = opener<EvaluationStore>("evaluations", evaluationAccess);

/** Opens samples.sqlite. */
export const sqliteSampleStore = opener<SampleStore>("samples", sampleAccess);
