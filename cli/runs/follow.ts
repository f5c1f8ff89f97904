/** Follows a run's state, and reconnects when the server goes away and comes back. */
import { setTimeout as delay } from "node:timers/promises";
import { GradusError, type RunHandle, type RunState } from "../../clients/ts/src/public.ts";

export type FollowedState =
  | { readonly kind: "state"; readonly state: RunState }
  /** State of the connection: the server is gone, and the connection is retried. */
  | { readonly kind: "lost"; readonly reason: string };

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** Milliseconds before the first retry after a lost connection. The delay grows up to `delayMaxMs`. */
  readonly delayMs?: number;
  readonly delayMaxMs?: number;
}

/**
 * Yields the run's state now and after each change. Ends when the run is deleted or the signal is aborted. Throws an
 * error before the first state, because the address may be wrong. Later, throws only errors that retrying cannot fix.
 */
export async function* follow(
  run: Pick<RunHandle, "watch">,
  { signal, delayMs = 500, delayMaxMs = 5_000 }: FollowOptions,
): AsyncGenerator<FollowedState, void, undefined> {
  let seen = false;
  let wait = delayMs;
  while (!signal.aborted) {
    try {
      for await (const state of run.watch({ signal })) {
        [seen, wait] = [true, delayMs];
        yield { kind: "state", state };
      }
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (!seen || !(error instanceof GradusError) || error.code !== "UNAVAILABLE") throw error;
      yield { kind: "lost", reason: error.message };
      await delay(wait, undefined, { signal }).catch(() => undefined);
      wait = Math.min(delayMaxMs, wait * 2);
    }
  }
}
