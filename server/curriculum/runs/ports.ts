/** What the coordinator of runs needs from outside. */
import type { Store } from "../../stores/store.ts";
import type { Arm, Json } from "../types.ts";

/** The time, for waiting, time-outs and expiry only: no task depends on it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls back once after a delay (which may be longer than setTimeout takes); what it returns cancels it. */
  setTimer(delayMs: number, callback: () => void): () => void;
}

/** Where failures of work in the background go. pino's loggers are such. */
export interface Log {
  warn(details: object, message: string): void;
}

/** Which instance of an arm is wanted. */
export interface IssueRequest {
  /** f(run seed, arm, ordinal): makes the instance. */
  readonly seed: bigint;
  /** The run's seed: fixes the order in which an arm with rows goes through them. */
  readonly runSeed: bigint;
  /** Counted from 0. */
  readonly ordinal: number;
}

export type Issued =
  /** `hash` is of the canonical instance, equal for equal instances of any arm; 16 hex digits will do. No spaces. */
  | { readonly kind: "task"; readonly hash: string; readonly draft: Json }
  /** This ordinal has no instance, whenever it is asked for: it is passed over. */
  | { readonly kind: "none" }
  /** No telling now, e.g. the workers' queue is full. */
  | { readonly kind: "unavailable"; readonly message: string; readonly retryDelayMs: number };

/** Makes instances: a pure function of the arm and the request, but for being unavailable. */
export interface TaskSource {
  issue(arm: Arm, request: IssueRequest): Promise<Issued>;
}

export interface Ports {
  readonly store: Store;
  readonly source: TaskSource;
  readonly clock: Clock;
  /** Undefined: they are not told. */
  readonly log?: Log;
}
