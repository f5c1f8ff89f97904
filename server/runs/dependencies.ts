/** Dependencies of the coordinator of runs, which its caller passes in. */
import type { Log } from "../base/log.ts";
import type { Clock } from "../base/clock.ts";
import type { Store } from "../stores/store.ts";
import type { Codecs } from "../curriculum/event-codec.ts";
import type { RunEvent } from "../curriculum/events.ts";
import type { RunState } from "../curriculum/state.ts";
import type { InstanceKey, TaskPlace } from "../curriculum/types.ts";

export type MakeOutcome<Key extends InstanceKey> =
  | { readonly kind: "task"; readonly key: Key }
  /** This ordinal never has an instance, so it is skipped. The message gives the reason. */
  | { readonly kind: "none"; readonly message: string }
  /** The result is not known now, e.g. because the workers' queue is full. */
  | { readonly kind: "unavailable"; readonly message: string; readonly retryDelayMs: number }
  /** The signal was aborted first. */
  | { readonly kind: "cancelled" };

/**
 * Makes instances. They depend only on their places, except for a teacher's, and except that making may be unavailable.
 * Instances of one place may differ between calls. A run stores the keys of its drawn instances, so that it gets the
 * same ones again.
 */
export interface TaskSource<Spec, Key extends InstanceKey> extends Codecs<Spec, Key> {
  /** Makes instances of one arm for a run, and returns a result for each place, in order. */
  make(places: readonly TaskPlace<Spec>[], signal: AbortSignal, runId: string): Promise<readonly MakeOutcome<Key>[]>;
}

/** Comparison of the rows in this server's pools with those that a run knows. */
export type RowsLook =
  | { readonly kind: "same" }
  /** The run must apply these events first. The message says what changed; empty: there is nothing to report. */
  | { readonly kind: "changed"; readonly events: readonly RunEvent<never, never>[]; readonly message: string }
  /** This server has older rows than the run, or lacks a pool. It must not work on the run. */
  | { readonly kind: "stale"; readonly message: string };

export interface RunRows<Spec, Key extends InstanceKey> {
  /** Compares rows. The function is pure, and fast for a state whose lists were compared before. */
  look(state: RunState<Spec, Key>): RowsLook;
  /** Returns whether this server can serve a task: its row, if it has one, and its sources are still here. */
  readonly has: (key: Key, spec: Spec) => boolean;
  /** Returns why this server can make no tasks of a specification: its sources were replaced. Undefined: they were not. */
  readonly whyMissing?: (spec: Spec) => string | undefined;
}

export interface Ports<Spec, Key extends InstanceKey> {
  readonly store: Store;
  readonly source: TaskSource<Spec, Key>;
  /** Rows of this server's pools. Unset: the arms have no rows that could change. */
  readonly rows?: RunRows<Spec, Key>;
  /** Called with the reason why this server must not work on a run: its pools are older. */
  readonly onStale?: (message: string) => void;
  /** Returns whether two specifications describe the same tasks. Unset: only equal ones do. */
  readonly haveSameTasks?: (one: Spec, other: Spec) => boolean;
  readonly clock: Clock;
  /** Returns a name for an incarnation that is unique on all servers: at least 64 random bits, without slashes. */
  readonly newIncarnation: () => string;
  /** Maximum number of a run's tasks that may be made before they are drawn. Unset: none. */
  readonly aheadMax?: number;
  /** Called with the id of each run that is deleted or has expired. */
  readonly onRemoved?: (runId: string) => void;
  /** Log of the server. Undefined: nothing is logged. */
  readonly log?: Log;
}
