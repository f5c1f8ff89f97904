/** What the coordinator of runs needs from outside. */
import type { Log } from "../base/log.ts";
import type { Clock } from "../base/clock.ts";
import type { Store } from "../stores/store.ts";
import type { Codecs } from "../curriculum/event-codec.ts";
import type { RunEvent } from "../curriculum/events.ts";
import type { RunState } from "../curriculum/state.ts";
import type { InstanceKey, TaskPlace } from "../curriculum/types.ts";

export type Made<Key extends InstanceKey> =
  | { readonly kind: "task"; readonly key: Key }
  /** This ordinal has no instance, whenever it is asked for: it is passed over. The message says why. */
  | { readonly kind: "none"; readonly message: string }
  /** No telling now, e.g. the workers' queue is full. */
  | { readonly kind: "unavailable"; readonly message: string; readonly retryDelayMs: number }
  /** The signal was aborted first. */
  | { readonly kind: "cancelled" };

/**
 * Makes instances: a pure function of their places, but for being unavailable, and for a teacher's. Those of one place may
 * differ from time to time; a run keeps the keys of what it drew, so that it has the same again.
 */
export interface TaskSource<Spec, Key extends InstanceKey> extends Codecs<Spec, Key> {
  /** Instances of one arm, for a run; a result for each place, in order. */
  make(places: readonly TaskPlace<Spec>[], signal: AbortSignal, runId: string): Promise<readonly Made<Key>[]>;
}

/** How the rows of this server's pools stand to those that a run knows. */
export type RowsLook =
  | { readonly kind: "same" }
  /** The run is to take these in first; the message says what changed, and is empty where there is nothing to tell. */
  | { readonly kind: "changed"; readonly events: readonly RunEvent<never, never>[]; readonly message: string }
  /** This server has older rows than the run, or lacks a pool: it must not work on the run. */
  | { readonly kind: "stale"; readonly message: string };

export interface RunRows<Spec, Key extends InstanceKey> {
  /** Pure, and at no cost for a state that has the lists of one that was looked at before. */
  look(state: RunState<Spec, Key>): RowsLook;
  /** Whether the task of a key and a spec can be given: its row, if it is one, and its sources are still here. */
  readonly has: (key: Key, spec: Spec) => boolean;
  /** Why no tasks of a spec can be made here, as its sources were replaced; undefined: they were not. */
  readonly whyMissing?: (spec: Spec) => string | undefined;
}

export interface Ports<Spec, Key extends InstanceKey> {
  readonly store: Store;
  readonly source: TaskSource<Spec, Key>;
  /** Left out: arms have no rows that could change. */
  readonly rows?: RunRows<Spec, Key>;
  /** Told why this server must not work on a run: its pools are older. */
  readonly onStale?: (message: string) => void;
  /** Whether two specs stand for the same tasks. Left out: only equal ones do. */
  readonly haveSameTasks?: (one: Spec, other: Spec) => boolean;
  readonly clock: Clock;
  /** Names an incarnation as no other ever was or will be, on any server: at least 64 random bits. No slashes. */
  readonly newIncarnation: () => string;
  /** Tasks of a run that may be made ahead of their draw; left out: none are. */
  readonly aheadMax?: number;
  /** Told of each run that is deleted or has expired, with its id. */
  readonly onRemoved?: (runId: string) => void;
  /** Undefined: they are not told. */
  readonly log?: Log;
}
