/**
 * Dependencies of the code for runs, e.g. the store, the clock and the maker of tasks. The code that creates the server
 * provides them.
 */
import type { Log } from "../base/log.ts";
import type { Clock } from "../base/clock.ts";
import type { Store } from "../stores/store.ts";
import type { Codecs } from "../curriculum/event-codec.ts";
import type { RunEvent } from "../curriculum/events.ts";
import type { RunState } from "../curriculum/state.ts";
import type { IssuedTask } from "../curriculum/batches.ts";
import type { InstanceKey, RunConfig, TaskPlace } from "../curriculum/types.ts";

export type MakeOutcome<Key extends InstanceKey> =
  | { readonly kind: "task"; readonly key: Key }
  /** The arm has no instance for this task number and never will, so draws skip the number. The message says why. */
  | { readonly kind: "none"; readonly message: string }
  /** No instance can be made now, e.g. because the queue of the worker threads is full. */
  | { readonly kind: "unavailable"; readonly message: string; readonly retryDelayMs: number }
  /** The caller's signal aborted before the instance was made. */
  | { readonly kind: "cancelled" };

/**
 * Makes the instances of tasks. The same TaskPlace always gives the same instance, unless a teacher model makes it. A
 * run stores the keys of drawn instances, so it can also get an instance from a teacher again.
 */
export interface TaskSource<Spec, Key extends InstanceKey> extends Codecs<Spec, Key> {
  /** Makes instances of one arm of a run. Returns a result for each of `places`, in order. */
  make(places: readonly TaskPlace<Spec>[], signal: AbortSignal, runId: string): Promise<readonly MakeOutcome<Key>[]>;
  /**
   * Makes the prompts and messages of tasks that the next draw will probably issue, so that NextBatch need not. Unset:
   * they are made only when they are requested.
   */
  readonly present?: (runId: string, tasks: readonly IssuedTask<Key>[], config: RunConfig<Spec>) => Promise<void>;
}

/** Result of comparing the rows of this server's data pools with the rows that a run knows. */
export type RowsLook =
  | { readonly kind: "same" }
  /**
   * The rows have changed, and the run must apply these events first. The message describes the change for the log.
   * Empty: nothing is logged.
   */
  | { readonly kind: "changed"; readonly events: readonly RunEvent<never, never>[]; readonly message: string }
  /**
   * This server's data pools are older than those that the run knows, or one is missing. The server must not work on
   * the run.
   */
  | { readonly kind: "stale"; readonly message: string };

export interface RunRows<Spec, Key extends InstanceKey> {
  /**
   * Compares the rows of this server's data pools with those that a run knows. The function is pure, and fast if the
   * same lists were compared before.
   */
  look(state: RunState<Spec, Key>): RowsLook;
  /**
   * Returns whether this server can serve a task: it still has the task's data row, if there is one, and the same
   * source files of the task's environment.
   */
  readonly has: (key: Key, spec: Spec) => boolean;
  /**
   * Returns why this server cannot make tasks of a specification: the source files of its environment were replaced.
   * Undefined: it can.
   */
  readonly whyMissing?: (spec: Spec) => string | undefined;
}

export interface Ports<Spec, Key extends InstanceKey> {
  readonly store: Store;
  readonly source: TaskSource<Spec, Key>;
  /** Comparison of this server's data pools with runs. Unset: no arm draws rows that could change. */
  readonly rows?: RunRows<Spec, Key>;
  /**
   * Called when this server must not work on a run, because its data pools are older than the run's. The message says
   * so.
   */
  readonly onStale?: (message: string) => void;
  /** Returns whether two specifications describe the same tasks. Unset: only equal specifications do. */
  readonly haveSameTasks?: (one: Spec, other: Spec) => boolean;
  readonly clock: Clock;
  /**
   * Returns a new incarnation: a name of a run that each import replaces. It is unique over all servers: at least 64
   * random bits, without slashes.
   */
  readonly newIncarnation: () => string;
  /**
   * Maximum number of a run's tasks that are made in advance, before they are drawn. The number may be slightly
   * greater. Unset: 0.
   */
  readonly aheadMax?: number;
  /** Called with the id of each run that was deleted or has expired. */
  readonly onRemoved?: (runId: string) => void;
  /** Log of the server. Unset: nothing is logged. */
  readonly log?: Log;
}
