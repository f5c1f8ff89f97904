/** Follows a run's state over servers that go away and come back. */
import { setTimeout as delay } from "node:timers/promises";
import { GradusError, type RunHandle, type RunState } from "../../clients/ts/src/public.ts";

export type Seen =
  | { readonly kind: "state"; readonly state: RunState }
  /** The server is gone; it is tried again. */
  | { readonly kind: "lost"; readonly reason: string };

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** Before the first try to come back, and the longest before any. */
  readonly delayMs?: number;
  readonly delayMaxMs?: number;
}

/**
 * The state now and after each change. Ends when the run is deleted or the signal is aborted. What fails before the
 * first state is thrown, for then the address may be wrong; later only what trying again does not mend.
 */
export async function* follow(
  run: Pick<RunHandle, "watch">,
  { signal, delayMs = 500, delayMaxMs = 5_000 }: FollowOptions,
): AsyncGenerator<Seen, void, undefined> {
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
