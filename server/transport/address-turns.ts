/**
 * Lets callers, told apart by IP address, take turns with their work on the event loop. After a long piece of work, an
 * address rests: it gets no turn for three times as long as the work took, unless no other address calls. Otherwise a
 * call that needs several turns could wait, each time, for another address's long work.
 */
import { LinkedQueue } from "../base/linked-queue.ts";

/** Length of a rest, in lengths of the work before it. */
const RESTS = 3;

/**
 * If no other address has had work for this many milliseconds, an address counts as the only one, and need not rest.
 */
const ALONE_MS = 1000;

/**
 * Maximum number of remembered addresses. When it is reached, addresses without waiting work that are not resting are
 * forgotten.
 */
const KNOWN_MAX = 1024;

interface Address {
  readonly name: string;
  /**
   * One function for each connection of the address that has work, in the order of their turns. Each function does the
   * next piece of its connection's work.
   */
  readonly connections: LinkedQueue<() => void>;
  /** Time, by performance.now(), until which the address rests, i.e. gets no turn. */
  restsUntilMs: number;
  /** Removes the address from the queue of addresses that have work. */
  leave: () => void;
}

/** Creates the queue of addresses that take turns. Work counts as long if it takes more than `longMs` milliseconds. */
export function createAddresses(longMs: number) {
  const known = new Map<string, Address>();
  /** Addresses that have work, in the order of their turns. */
  const waiting = new LinkedQueue<Address>();
  /** The two addresses that worked last, the latest first, and the times of their work. */
  let [latest, before] = [
    { address: "", atMs: -Infinity },
    { address: "", atMs: -Infinity },
  ];

  const isResting = ({ restsUntilMs }: Address): boolean => restsUntilMs > performance.now();
  const forgetIdle = (): void => {
    for (const each of known.values()) if (each.connections.size === 0 && !isResting(each)) known.delete(each.name);
  };
  const addressOf = (name: string): Address => {
    const found = known.get(name);
    if (found !== undefined) return found;
    if (known.size >= KNOWN_MAX) forgetIdle();
    const address = { name, connections: new LinkedQueue<() => void>(), restsUntilMs: 0, leave: () => undefined };
    known.set(name, address);
    return address;
  };
  const isAlone = (name: string): boolean =>
    performance.now() - (latest.address === name ? before : latest).atMs > ALONE_MS;
  const work = (name: string, doWork: () => void): void => {
    const startMs = performance.now();
    doWork();
    const endMs = performance.now();
    if (latest.address === name) latest.atMs = endMs;
    else [latest, before] = [{ address: name, atMs: endMs }, latest];
    if (endMs - startMs <= longMs || isAlone(name)) return;
    addressOf(name).restsUntilMs = endMs + RESTS * (endMs - startMs);
  };
  return {
    /** Queues a connection that has work. `next` does its next piece of work. */
    add(name: string, next: () => void): void {
      const address = addressOf(name);
      if (address.connections.size === 0) address.leave = waiting.add(address);
      address.connections.add(next);
    },
    /**
     * Does the next piece of work of the first address that is not resting. Returns false if no such address has work.
     */
    takeTurn(): boolean {
      for (const address of waiting) {
        if (isResting(address)) continue;
        const next = address.connections.shift();
        // The address goes to the end of the queue.
        address.leave();
        if (address.connections.size > 0) address.leave = waiting.add(address);
        if (next !== undefined) work(address.name, next);
        return true;
      }
      return false;
    },
    rests: (name: string): boolean => {
      const address = known.get(name);
      return address !== undefined && isResting(address);
    },
    /** Returns whether no other address has had work in the last ALONE_MS. */
    isAlone,
    /** Does a piece of an address's work at once, and measures how long it takes. */
    work,
    /** Returns whether no work waits. */
    isIdle: () => waiting.size === 0,
  };
}
