/**
 * What the open calls hold in memory, together: requests that have not come whole or that no handler has taken, and
 * answers that nobody reads. Each call is bounded by itself, but thousands of them are not: without this limit a few
 * hundred streams that send and never read bring the process down.
 */
import { RpcError } from "../rpc/rpc-error.ts";
import { LiveTable } from "./live-table.ts";

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
