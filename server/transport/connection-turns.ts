/**
 * Schedules the work of calls on the event loop: addresses take turns, and so do the connections of one address.
 * Otherwise a client could send thousands of calls at once, and all other callers would wait until they are done.
 */
import type { Socket } from "node:net";
import { LinkedQueue } from "../base/linked-queue.ts";
import { createAddresses } from "./address-turns.ts";

/** Time, in milliseconds, after which one round of the event loop begins no further work of calls. */
const ROUND_MS = 2;

/**
 * Maximum bytes of unread answers to unary calls of one connection. Beyond it, the connection's work waits. Clients
 * always read such answers, so only a slow network causes this.
 */
export const UNREAD_BYTES_MAX = 4 * 1024 ** 2;

/** One connection's work, waiting and in progress. */
export interface Connection {
  /**
   * Does the next piece of work of a call in progress. The work runs at once if the round of the event loop has time
   * left and no other work of this connection waits. Otherwise it runs in a later round, where addresses and
   * connections take turns.
   */
  take(work: () => void): void;
  /**
   * Does the first piece of work of a new call, behind all work that already waits and behind this connection's calls
   * in progress. Returns a function that withdraws the work, for a caller that has left.
   */
  begin(work: () => void): () => void;
  /**
   * Counts bytes of unary calls' answers that were written to the connection. A negative number counts bytes that the
   * client has read.
   */
  wrote(bytes: number): void;
}

export interface Turns {
  /** Returns the scheduler of a connection's work, given its socket or HTTP/2 session. */
  (of: object): Connection;
  /** Returns whether no call has work that waits. */
  isIdle(): boolean;
  /** Returns whether no address but this one has had work in the last second. */
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
    // Queued work may use half of the round's time. The other half is left for the next steps of the same calls, each
    // of which would otherwise wait for another round.
    while (addresses.takeTurn() && hasTime(roundMs / 2));
  };

  const open = (address: string): Connection => {
    const going = new LinkedQueue<() => void>();
    const coming = new LinkedQueue<() => void>();
    let unreadBytes = 0;
    let isQueued = false;
    const next = (): void => {
      isQueued = false;
      const work = going.shift() ?? coming.shift();
      if (work === undefined) return;
      wait();
      work();
    };
    const wait = (): void => {
      if (isQueued || going.size + coming.size === 0 || unreadBytes > UNREAD_BYTES_MAX) return;
      isQueued = true;
      if (beganMs === undefined) begin();
      addresses.add(address, next);
    };
    const take = (work: () => void, works: LinkedQueue<() => void>): (() => void) => {
      if (beganMs === undefined) begin();
      // New calls begin only after the calls in progress of this connection.
      const isFirst = going.size === 0 && (works === going || (coming.size === 0 && addresses.isIdle()));
      if (isFirst && unreadBytes <= UNREAD_BYTES_MAX && hasTime() && !addresses.rests(address)) {
        addresses.work(address, work);
        return () => undefined;
      }
      const withdraw = works.add(work);
      wait();
      return withdraw;
    };
    return {
      take: (work) => void take(work, going),
      begin: (work) => take(work, coming),
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
