/** Followers of a run. All calls that wait for one run to change share a single reading of its store. */
import type { Clock } from "../base/clock.ts";

/** Time between two readings while a call waits. */
const POLL_MS = 250;

/** Called with "fresh" after each change, and with the outcome of a failed reading. */
export type Follower<Looked> = (looked: Looked | Promise<Looked>) => void;

/**
 * Creates the followers of a run. As long as there are any, `look` reads the store every POLL_MS, and at once when
 * `listen` reports a change. Readings do not overlap. `tell` notifies all followers.
 */
export function createFollowers<Looked>(
  clock: Clock,
  look: () => Promise<Looked>,
  listen: (onChange: () => void) => (() => void) | undefined,
) {
  const followers = new Set<Follower<Looked>>();
  let isPolling = false;
  const tell: Follower<Looked> = (looked) => {
    for (const follower of [...followers]) follower(looked);
  };
  const poll = async (): Promise<void> => {
    isPolling = true;
    let hear = (): void => undefined;
    const endListening = listen(() => hear());
    while (followers.size > 0) {
      // If a change is reported during a reading, the reading may have missed it, so another follows at once.
      const { promise: due, resolve } = Promise.withResolvers<void>();
      hear = resolve;
      const looked = look();
      const isFresh = (outcome: Looked): boolean => outcome === "fresh";
      if (!(await looked.then(isFresh, () => false))) tell(looked);
      const cancel = clock.setTimer(POLL_MS, resolve);
      await due;
      cancel();
    }
    endListening?.();
    isPolling = false;
  };
  return {
    tell,
    /** Adds a follower. Returns a function that removes it. */
    follow: (follower: Follower<Looked>): (() => void) => {
      followers.add(follower);
      if (!isPolling) void poll();
      return () => followers.delete(follower);
    },
  };
}
