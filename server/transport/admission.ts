/** Counts the calls in progress on all ports: refuses those over the limit, and all of them while shutting down. */
import { hash, timingSafeEqual } from "node:crypto";
import { LiveTable } from "./live-table.ts";
import { RpcError } from "./rpc.ts";

/** A call in progress. */
export interface Guest {
  /** Its place, which the gate gives it. */
  place: number;
  /** Tells it that nobody waits for it any more. */
  abort(reason: RpcError): void;
}

export interface Gate {
  /** Takes a place; undefined: taken. Each place taken must be given back by `leave`. */
  enter(guest: Guest): RpcError | undefined;
  leave(guest: Guest): void;
  inflight(): number;
  /** Aborted once the shutdown begins. */
  readonly draining: AbortSignal;
  /**
   * Lets nobody in from now on and waits until all have left, or the time is up, in which case those left are aborted,
   * and waited for no more.
   */
  drain(timeoutMs: number): Promise<{ readonly abandoned: number }>;
}

/** Long enough for some calls to end, short enough that a trainer hardly notices. */
const overloadDelayMs = 250;
/** Another server, or this one started again, may be there by then. */
export const drainDelayMs = 1000;

export function createGate(inflightMax: number): Gate {
  const draining = new AbortController();
  const guests = new LiveTable<Guest>();
  let whenEmpty: (() => void) | undefined;

  return {
    draining: draining.signal,
    inflight: () => guests.size,
    enter: (guest) => {
      if (draining.signal.aborted) return shuttingDown();
      if (guests.size >= inflightMax) return overloaded(inflightMax);
      guest.place = guests.add(guest);
      return undefined;
    },
    leave: (guest) => {
      guests.delete(guest.place);
      if (guests.size === 0) whenEmpty?.();
    },
    drain: async (timeoutMs) => {
      draining.abort();
      if (guests.size > 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, timeoutMs);
          whenEmpty = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      const abandoned = guests.size;
      guests.forEach((guest) => guest.abort(shuttingDown()));
      return { abandoned };
    },
  };
}

/** For calls that come, and streams that are cut, while the server shuts down. */
export function shuttingDown(): RpcError {
  return new RpcError("UNAVAILABLE", "the server is shutting down; call again, and another one may answer", {
    retryDelayMs: drainDelayMs,
  });
}

function overloaded(inflightMax: number): RpcError {
  const message = `the server already has ${inflightMax} calls in progress, its limit (--max-inflight-calls)`;
  return new RpcError("RESOURCE_EXHAUSTED", message, { retryDelayMs: overloadDelayMs });
}

// The bearer token that callers bring.

/** Whether a call may come in, by its `authorization` header. */
export type TokenCheck = (authorization: string | undefined) => boolean;

/** A check for one token; for none, it lets all in. */
export function tokenCheck(token: string | undefined): TokenCheck {
  if (token === undefined) return () => true;
  const expected = digest(token);
  return (authorization) => {
    const brought = /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
    // Digests have one length, so that the comparison takes as long for every token.
    return brought !== undefined && timingSafeEqual(digest(brought), expected);
  };
}

export function unauthenticated(): RpcError {
  return new RpcError("UNAUTHENTICATED", "this server wants its token: send 'authorization: Bearer <token>'");
}

function digest(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

// What the open calls hold in memory, together: requests that have not come whole or that no handler has taken, and
// answers that nobody reads. Each call is bounded by itself, but thousands of them are not: without this limit a few
// hundred streams that send and never read bring the process down.

/** An open call, from its first bytes on. */
export interface Holder {
  readonly heldBytes: number;
  /** Ends the call, and lets go of what it holds. */
  refuse(error: RpcError): void;
}

export interface HeldBytes {
  /** Returns the holder's place, for `remove`. */
  add(holder: Holder): number;
  remove(place: number): void;
}

/** Between two looks a client cannot send more than some tens of megabytes, and a look at 1,000 calls takes 0.1 ms. */
const lookEveryMs = 50;
/** Long enough for others to be answered. */
const retryDelayMs = 1000;

export function createHeldBytes(maxBytes: number): HeldBytes {
  const open = new LiveTable<Holder>();
  let timer: NodeJS.Timeout | undefined;

  /** Refuses those that hold most, until the rest are within the limit. */
  const enforce = (): void => {
    const holders: { readonly holder: Holder; readonly bytes: number }[] = [];
    open.forEach((holder) => holders.push({ holder, bytes: holder.heldBytes }));
    let total = holders.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total <= maxBytes) return;
    for (const { holder, bytes } of holders.sort((a, b) => b.bytes - a.bytes)) {
      if (total <= maxBytes) break;
      holder.refuse(tooMuchHeld(maxBytes));
      total -= bytes;
    }
  };
  const look = (): void => {
    if (open.size > 0) enforce();
    else {
      clearInterval(timer);
      timer = undefined;
    }
  };
  return {
    add: (holder) => {
      timer ??= setInterval(look, lookEveryMs).unref();
      return open.add(holder);
    },
    remove: (place) => void open.delete(place),
  };
}

function tooMuchHeld(maxBytes: number): RpcError {
  const message =
    `the open calls hold more than ${maxBytes} bytes that are not answered or not read (--max-held-bytes), ` +
    "and this one held most of them: send less at once, and read the answers";
  return new RpcError("RESOURCE_EXHAUSTED", message, { retryDelayMs });
}
