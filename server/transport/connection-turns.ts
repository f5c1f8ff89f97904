/**
 * Does the work of calls in turns between addresses, and between the connections of an address. Without turns, a client
 * could send thousands of calls in one piece, or one over each of hundreds of connections, and everybody else would
 * wait until all are done.
 */
import type { Socket } from "node:net";
import { createAddresses } from "./address-turns.ts";

/** A round begins no further work after this time, in milliseconds. */
const ROUND_MS = 2;

/**
 * Maximum number of bytes of unread answers to unary calls of a connection; above it the connection's work waits.
 * Clients read such answers whether or not anybody waits for them, so only the network holds up a busy client.
 */
export const UNREAD_BYTES_MAX = 4 * 1024 ** 2;

/** Work in progress and waiting work of one connection. */
export interface Connection {
  /**
   * Does the next work of a call that has begun: now if this round has time left and no work of its connection waits,
   * else in a later round. In a later round addresses take turns, and then connections, one piece of work each.
   */
  take(work: () => void): void;
  /**
   * Does the first work of a new call, after all waiting work and after the calls in progress of its connection.
   * Returns a function that withdraws the work, so that nothing is kept for a caller that has left.
   */
  begin(work: () => void): () => void;
  /** Counts bytes of answers that were written; a negative number counts bytes that the client has read. */
  wrote(bytes: number): void;
}

export interface Turns {
  /** Returns the connection of a socket or an HTTP/2 session. */
  (of: object): Connection;
  /** Returns whether no work waits. */
  isIdle(): boolean;
  /** Returns whether no other address has had work lately. */
  isAlone(address: string): boolean;
}

export function createTurns(roundMs = ROUND_MS): Turns {
  const known = new WeakMap<object, Connection>();
  const addresses = createAddresses(roundMs);
  /** Time at which this round's first work began; undefined: no work has begun. */
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
    // The other half of the round is for the next steps of this work; otherwise each step would wait for a round.
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
      // Calls that have begun continue before new calls begin.
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

/** Returns the address of a socket or a session. Reading the socket of a destroyed session throws. */
function addressOf(of: { readonly destroyed?: boolean; readonly socket?: object; readonly remoteAddress?: string }) {
  if (of.destroyed === true) return "";
  return of.remoteAddress ?? (of.socket as Partial<Socket> | undefined)?.remoteAddress ?? "";
}
