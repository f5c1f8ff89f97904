/** Counts the calls in progress on all ports: refuses those over the limit, and all of them while shutting down. */
import { RpcError } from "../rpc/rpc-error.ts";
import { LiveTable } from "./live-table.ts";

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
