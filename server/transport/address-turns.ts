/**
 * Lets the addresses of callers take turns. After long work an address must rest for as long, unless no other address
 * calls. Otherwise each of a call's turns could wait for another address's long work.
 */

/** If no other address has had work for this many milliseconds, an address counts as the only one. */
const ALONE_MS = 1000;

/**
 * Maximum number of resting addresses. Beyond it, those whose rest is over are dropped, because they may never return.
 */
const RESTING_MAX = 1024;

/** Creates the turns of addresses. Work counts as long if it takes more than `longMs` milliseconds. */
export function createAddresses(longMs: number) {
  /** Connections with waiting work, by address. The first address and its first connection are next. */
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
    restsUntilMs.set(address, 2 * endMs - startMs);
  };
  return {
    /** Adds waiting work of a connection. */
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
    /** Returns whether no other address has worked lately. */
    isAlone,
    /** Does work of an address at once. */
    work,
    /** Returns whether no work waits. */
    isIdle: () => waiting.size === 0,
  };
}
