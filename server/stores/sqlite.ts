/** The embedded stores: SQLite files in a directory, shared by the processes of one machine, each with a thread. */
import { evaluationAccess, type EvaluationStore } from "./evaluation-store.ts";
import { sampleAccess, type SampleStore } from "./sample-store.ts";
import { runAccess, type Store } from "./store.ts";
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

function open<S>(
  holds: ThreadData["holds"],
  access: Parameters<typeof openInThread<S>>[1],
  options: SqliteOptions,
): Promise<S> {
  const { directory, synchronous = "normal", busyTimeoutMs = 5000 } = options;
  const { onProblem = () => undefined, onLoss = () => undefined } = options;
  return openInThread({ holds, directory, synchronous, busyTimeoutMs }, access, { onProblem, onLoss });
}

/** Opens runs.sqlite. Rejects with CannotOpen. */
export function sqliteStore(options: SqliteOptions): Promise<Store> {
  return open("runs", runAccess, options);
}

/** Opens evaluations.sqlite. Rejects with CannotOpen. */
export function sqliteEvaluationStore(options: SqliteOptions): Promise<EvaluationStore> {
  return open("evaluations", evaluationAccess, options);
}

/** Opens samples.sqlite. Rejects with CannotOpen. */
export function sqliteSampleStore(options: SqliteOptions): Promise<SampleStore> {
  return open("samples", sampleAccess, options);
}
