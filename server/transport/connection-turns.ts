/**
 * Does the work of calls in turns: between addresses, and between the connections of one address. Otherwise a client
 * could send thousands of calls at once, and all other callers would wait until these are done.
 */
import type { Socket } from "node:net";
import { createAddresses } from "./address-turns.ts";

/** Time in milliseconds after which a round of the event loop begins no further work. */
const ROUND_MS = 2;

/**
 * Maximum bytes of unread answers to unary calls of one connection. Beyond it, the connection's work waits. Clients
 * always read such answers, so only a slow network causes this.
 */
export const UNREAD_BYTES_MAX = 4 * 1024 ** 2;

/** One connection's work, waiting and in progress. */
export interface Connection {
  /**
   * Does the next work of a call in progress. It runs at once if the round has time left and no other work of this
   * connection waits, else in a later round, where addresses and connections take turns.
   */
  take(work: () => void): void;
  /**
   * Does the first work of a new call, after all waiting work and after this connection's calls in progress. Returns a
   * function that withdraws the work, for a caller that has left.
   */
  begin(work: () => void): () => void;
  /** Counts bytes of answers that were written. A negative number counts bytes that the client has read. */
  wrote(bytes: number): void;
}

export interface Turns {
  /** Returns the turns of a connection, given its socket or HTTP/2 session. */
  (of: object): Connection;
  /** Returns whether no work waits. */
  isIdle(): boolean;
  /** Returns whether no other address has worked lately. */
  isAlone(address: string): boolean;
}

export function createTurns(roundMs = ROUND_MS): Turns {
  const known = new WeakMap<object, Connection>();
  const addresses = createAddresses(roundMs);
  /**
   * Time, by performance.now(), at which the first work of this round of the event loop began. Undefined: none has
   * begun.
   */
  let beganMs: number | undefined;

  const begin = (): void => {
    beganMs = performance.now();
    setImmediate(nextRound);
  };
  const hasTime = (ms = roundMs): boolean => beganMs !== undefined && performance.now() - beganMs < ms;
  const nextRound = (): void => {
    beganMs = undefined;
    if (addresses.isIdle()) return;
    begin();
    // Half of the round is left for the next steps of this work. Otherwise each step would wait for another round.
    while (addresses.takeTurn() && hasTime(roundMs / 2));
  };

  const open = (address: string): Connection => {
    const going = new Set<() => void>();
    const coming = new Set<() => void>();
    let unreadBytes = 0;
    const next = (): void => {
      const works = going.size > 0 ? going : coming;
      const [work] = works;
      if (work === undefined) return;
      works.delete(work);
      wait();
      work();
    };
    const wait = (): void => {
      if (going.size + coming.size === 0 || unreadBytes > UNREAD_BYTES_MAX) return;
      if (beganMs === undefined) begin();
      addresses.add(address, next);
    };
    const take = (work: () => void, works: Set<() => void>): void => {
      if (beganMs === undefined) begin();
      // New calls begin only after the calls in progress of this connection.
      const isFirst = going.size === 0 && (works === going || (coming.size === 0 && addresses.isIdle()));
      if (isFirst && unreadBytes <= UNREAD_BYTES_MAX && hasTime() && !addresses.rests(address))
        return addresses.work(address, work);
      works.add(work);
      wait();
    };
    return {
      take: (work) => take(work, going),
      begin(work) {
        take(work, coming);
        return () => void coming.delete(work);
      },
      wrote(bytes) {
        unreadBytes += bytes;
        if (bytes < 0) wait();
      },
    };
  };
  const connectionOf = (of: object): Connection => {
    const connection = known.get(of) ?? open(addressOf(of));
    known.set(of, connection);
    return connection;
  };
  return Object.assign(connectionOf, { isIdle: addresses.isIdle, isAlone: addresses.isAlone });
}

/** Returns the address of a socket or session. Returns "" if it is destroyed, because reading it would throw. */
function addressOf(of: { readonly destroyed?: boolean; readonly socket?: object; readonly remoteAddress?: string }) {
  if (of.destroyed === true) return "";
  return of.remoteAddress ?? (of.socket as Partial<Socket> | undefined)?.remoteAddress ?? "";
}
