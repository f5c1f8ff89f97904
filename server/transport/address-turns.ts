/**
 * Lets callers, told apart by IP address, take turns with their work on the event loop. After a long piece of work, an
 * address rests: it gets no turn for three times as long as the work took, unless no other address calls. Otherwise a
 * call that needs several turns could wait, each time, for another address's long work.
 */

/** Length of a rest, in lengths of the work before it. */
const RESTS = 3;

/**
 * If no other address has had work for this many milliseconds, an address counts as the only one, and need not rest.
 */
const ALONE_MS = 1000;

/**
 * Number of addresses with a rest at which those whose rest is over are deleted. Otherwise an entry is deleted when its
 * address has work again, which may never happen.
 */
const RESTING_MAX = 1024;

/** Creates the queue of addresses that take turns. Work counts as long if it takes more than `longMs` milliseconds. */
export function createAddresses(longMs: number) {
  /**
   * Functions that do a connection's next piece of work, by address. The first address and its first function are next.
   */
  const waiting = new Map<string, Set<() => void>>();
  /** Time, by performance.now(), before which an address gets no turn. */
  const restsUntilMs = new Map<string, number>();
  /** The two addresses that worked last, the latest first, and the times of their work. */
  let [latest, before] = [
    { address: "", atMs: -Infinity },
    { address: "", atMs: -Infinity },
  ];

  const rests = (address: string): boolean => {
    const isOver = (restsUntilMs.get(address) ?? 0) <= performance.now();
    if (isOver) restsUntilMs.delete(address);
    return !isOver;
  };
  const isAlone = (address: string): boolean =>
    performance.now() - (latest.address === address ? before : latest).atMs > ALONE_MS;
  const work = (address: string, doWork: () => void): void => {
    const startMs = performance.now();
    doWork();
    const endMs = performance.now();
    if (latest.address === address) latest.atMs = endMs;
    else [latest, before] = [{ address, atMs: endMs }, latest];
    if (endMs - startMs <= longMs || isAlone(address)) return;
    if (restsUntilMs.size >= RESTING_MAX) for (const each of restsUntilMs.keys()) rests(each);
    restsUntilMs.set(address, endMs + RESTS * (endMs - startMs));
  };
  return {
    /** Queues a connection that has work. `next` does its next piece of work. */
    add(address: string, next: () => void): void {
      const own = waiting.get(address) ?? new Set();
      waiting.set(address, own.add(next));
    },
    /** Does the next work of the first address that is not resting. Returns whether there was one. */
    takeTurn(): boolean {
      for (const [address, connections] of waiting) {
        const [next] = connections;
        if (next === undefined || rests(address)) continue;
        connections.delete(next);
        // The address goes to the end of the queue.
        waiting.delete(address);
        if (connections.size > 0) waiting.set(address, connections);
        work(address, next);
        return true;
      }
      return false;
    },
    rests,
    /** Returns whether no other address has had work in the last ALONE_MS. */
    isAlone,
    /** Does a piece of an address's work at once, and measures how long it takes. */
    work,
    /** Returns whether no work waits. */
    isIdle: () => waiting.size === 0,
  };
}
