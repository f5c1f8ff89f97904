/** Lets calls wait until a run changes. All calls that wait for the same run share the readings of the store. */
import type { Clock } from "../base/clock.ts";

/** Time between two readings of the store while a call waits, in milliseconds. */
const POLL_MS = 250;

/**
 * Function that is called when a run may have changed. The argument is "fresh" after a change. Otherwise it is the
 * result of a reading of the store that failed, e.g. because the run was deleted.
 */
export type Follower<Looked> = (looked: Looked | Promise<Looked>) => void;

/**
 * Creates a list of functions to call when a run changes. While the list is not empty, `look` reads the store every
 * POLL_MS milliseconds, and at once when `listen` reports a change. Readings do not overlap. `tell` calls all functions
 * of the list.
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
      // If a change is reported during a reading, the reading may have missed it. So another reading follows at once.
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
    /** Adds a function to call. Returns a function that removes it. */
    follow: (follower: Follower<Looked>): (() => void) => {
      followers.add(follower);
      if (!isPolling) void poll();
      return () => followers.delete(follower);
    },
  };
}
