/** Calls that wait for a run to change share one look at its store, however many they are. */
import type { Clock } from "../base/clock.ts";

/** Time from one look to the next while a call waits. */
const POLL_MS = 250;

/** Is given "fresh" after each change, and the outcome of a look that failed. */
export type Follower<Looked> = (looked: Looked | Promise<Looked>) => void;

/**
 * While anybody follows, `look` reads the store every POLL_MS, and at once when `listen` hears of a change. Looks do not
 * overlap. `tell` tells all followers.
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
      // A change that is heard of during a look may be too late for that look.
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
    /** The function that it returns ends that. */
    follow: (follower: Follower<Looked>): (() => void) => {
      followers.add(follower);
      if (!isPolling) void poll();
      return () => followers.delete(follower);
    },
  };
}
