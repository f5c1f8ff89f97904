/** Dependencies of the run code, e.g. store, clock and maker of tasks. Its caller provides them. */
import type { Log } from "../base/log.ts";
import type { Clock } from "../base/clock.ts";
import type { Store } from "../stores/store.ts";
import type { Codecs } from "../curriculum/event-codec.ts";
import type { RunEvent } from "../curriculum/events.ts";
import type { RunState } from "../curriculum/state.ts";
import type { InstanceKey, TaskPlace } from "../curriculum/types.ts";

export type MakeOutcome<Key extends InstanceKey> =
  | { readonly kind: "task"; readonly key: Key }
  /** The arm has no instance for this task number and never will, so a draw skips it. The message says why. */
  | { readonly kind: "none"; readonly message: string }
  /** No instance can be made now, e.g. because the workers' queue is full. */
  | { readonly kind: "unavailable"; readonly message: string; readonly retryDelayMs: number }
  /** The caller's signal aborted before the instance was made. */
  | { readonly kind: "cancelled" };

/**
 * Makes the instances of tasks. An instance depends only on its TaskPlace, unless a teacher model makes it: then two
 * calls may give different instances. A run stores the keys of drawn instances, so it gets the same ones again.
 */
export interface TaskSource<Spec, Key extends InstanceKey> extends Codecs<Spec, Key> {
  /** Makes instances of one arm of a run. Returns a result for each of `places`, in order. */
  make(places: readonly TaskPlace<Spec>[], signal: AbortSignal, runId: string): Promise<readonly MakeOutcome<Key>[]>;
}

/** Result of comparing this server's pools with the rows that a run knows. */
export type RowsLook =
  | { readonly kind: "same" }
  /**
   * The rows have changed, and the run must apply these events first. The message describes the change. Empty: there is
   * nothing to report.
   */
  | { readonly kind: "changed"; readonly events: readonly RunEvent<never, never>[]; readonly message: string }
  /** This server has older rows than the run, or lacks a pool. It must not work on the run. */
  | { readonly kind: "stale"; readonly message: string };

export interface RunRows<Spec, Key extends InstanceKey> {
  /** Compares this server's rows with a run's. It is pure, and fast for a state whose lists were compared before. */
  look(state: RunState<Spec, Key>): RowsLook;
  /**
   * Returns whether this server can serve a task: its row, if it has one, and its environment's sources are still the
   * same.
   */
  readonly has: (key: Key, spec: Spec) => boolean;
  /**
   * Returns why this server cannot make tasks of a specification, because its sources were replaced. Undefined: it can.
   */
  readonly whyMissing?: (spec: Spec) => string | undefined;
}

export interface Ports<Spec, Key extends InstanceKey> {
  readonly store: Store;
  readonly source: TaskSource<Spec, Key>;
  /** Rows of this server's pools. Unset: no arm has rows that could change. */
  readonly rows?: RunRows<Spec, Key>;
  /**
   * Called when this server must not work on a run, because its pools are older than the run's. The message says so.
   */
  readonly onStale?: (message: string) => void;
  /** Returns whether two specifications describe the same tasks. Unset: they do only if they are equal. */
  readonly haveSameTasks?: (one: Spec, other: Spec) => boolean;
  readonly clock: Clock;
  /**
   * Returns a new incarnation, the name of a run that each import replaces. It is unique on all servers: at least 64
   * random bits, without slashes.
   */
  readonly newIncarnation: () => string;
  /** Number of a run's undrawn tasks from which no more are made in advance. A few more may be made. Unset: 0. */
  readonly aheadMax?: number;
  /** Called with the id of each run that was deleted or has expired. */
  readonly onRemoved?: (runId: string) => void;
  /** Log of the server. Unset: nothing is logged. */
  readonly log?: Log;
}
