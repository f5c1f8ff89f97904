/**
 * Turns of addresses. After long work an address rests for as long, unless nobody else calls: a call takes several
 * turns, and would otherwise wait for another address's long work at each.
 */

/** An address is alone if no other has had work for this time, in milliseconds. */
const ALONE_MS = 1000;

/** Creates the turns of addresses. Work that takes more than `longMs` milliseconds is long. */
export function createAddresses(longMs: number) {
  /** Connections with waiting work by their addresses, the next address and its next connection first. */
  const waiting = new Map<string, Set<() => void>>();
  /** End of the rest of an address. */
  const restsUntilMs = new Map<string, number>();
  /** The two addresses that worked last, the latest first, and when. */
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
    if (endMs - startMs > longMs && !isAlone(address)) restsUntilMs.set(address, 2 * endMs - startMs);
  };
  return {
    /** Adds the next work of a connection. */
    add(address: string, next: () => void): void {
      const own = waiting.get(address) ?? new Set();
      waiting.set(address, own.add(next));
    },
    /** Does the next work of the first address that does not rest; returns whether there was one. */
    takeTurn(): boolean {
      for (const [address, connections] of waiting) {
        const [next] = connections;
        if (next === undefined || rests(address)) continue;
        connections.delete(next);
        // The address goes behind all others.
        waiting.delete(address);
        if (connections.size > 0) waiting.set(address, connections);
        work(address, next);
        return true;
      }
      return false;
    },
    rests,
    /** Returns whether no other address has had work lately. */
    isAlone,
    /** Does work of an address now. */
    work,
    /** Returns whether no work waits. */
    isIdle: () => waiting.size === 0,
  };
}
