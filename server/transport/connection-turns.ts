/**
 * Work that callers bring, in turns. A client can send thousands of calls in one piece, all of which would be worked on
 * in the round of the event loop in which they came, while everybody else waits.
 */

/** So long after a round's first piece of work no other is begun in it. */
const ROUND_MS = 2;

/**
 * Answers to unary calls that a connection was given and has not read: beyond so many bytes nothing is worked on for it.
 * Clients read such answers whether or not anybody waits for them, so that a busy one is held up by its network alone.
 */
export const UNREAD_BYTES_MAX = 4 * 1024 ** 2;

/** What is worked on, and what waits to be, for one connection. */
export interface Connection {
  /**
   * Does the work that a call goes on with: now where this round has time left and none of its connection waits, else in a
   * later one, in which connections take turns, a piece of work each.
   */
  take(work: () => void): void;
  /**
   * The same for a call that comes: it waits for all that wait, and for what others of its connection are at. What is
   * returned takes it back, so that nothing is kept of those that left by then.
   */
  begin(work: () => void): () => void;
  /** So many bytes of answers were written; less than none: so many were read. */
  wrote(bytes: number): void;
}

/** The connection of a socket or a session. */
export type Turns = (of: object) => Connection;

export function createTurns(roundMs = ROUND_MS): Turns {
  const known = new WeakMap<object, Connection>();
  /** Those with work that waits, the next one first. */
  const waiting = new Set<() => void>();
  /** When this round's first work began; undefined: there was none. */
  let beganMs: number | undefined;

  const begin = (): void => {
    beganMs = performance.now();
    setImmediate(nextRound);
  };
  const hasTime = (ms = roundMs): boolean => beganMs !== undefined && performance.now() - beganMs < ms;
  const nextRound = (): void => {
    beganMs = undefined;
    if (waiting.size === 0) return;
    begin();
    do {
      const [next] = waiting;
      next?.();
      // The other half is for what the work that was begun goes on with: each step would wait for a round otherwise.
    } while (waiting.size > 0 && hasTime(roundMs / 2));
  };

  const open = (): Connection => {
    const going = new Set<() => void>();
    const coming = new Set<() => void>();
    let unreadBytes = 0;
    const next = (): void => {
      waiting.delete(next);
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
      waiting.add(next);
    };
    const take = (work: () => void, works: Set<() => void>): void => {
      if (beganMs === undefined) begin();
      // What has begun goes on before others begin.
      const others = works === going ? going.size : waiting.size + going.size + coming.size;
      if (others === 0 && unreadBytes <= UNREAD_BYTES_MAX && hasTime()) return work();
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
  return (of) => {
    const connection = known.get(of) ?? open();
    known.set(of, connection);
    return connection;
  };
}
