/** One HTTP request with its response: what Node leaves to us at its ends. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Call } from "../call.ts";
import type { HeldBytes } from "../held-bytes.ts";
import { toConnectError } from "./connect-error.ts";

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** What a connection has read and written in the exchanges before. */
const measured = new WeakMap<Socket, { readonly read: number; readonly written: number }>();

/**
 * The call closes with the response. How much went over the wire, headers included, is known then, for HTTP/1.1 has one
 * exchange at a time on a connection. Connect aborts the signal at a deadline, and at the end of every call.
 */
export function follow(call: Call, { request, response }: Exchange, signal: AbortSignal): void {
  const { socket } = request;
  response.once("close", () => {
    const before = measured.get(socket) ?? { read: 0, written: 0 };
    const { bytesRead: read, bytesWritten: written } = socket;
    measured.set(socket, { read, written });
    call.bytesIn = read - before.read;
    call.bytesOut = written - before.written;
    call.close();
  });
  if (signal.aborted) call.giveUp();
  else signal.addEventListener("abort", () => call.giveUp(), { once: true });
}

/** How long a request that was refused early may go on, so that its sender gets to read why. */
const lingerMs = 2000;

/**
 * The request's body. To stop reading it does not destroy the connection, as it does with Node's own iterator: a client
 * that is still sending would never see the answer. What is left of the body is read and dropped for a while.
 */
export function bodyOf({ request, response }: Exchange, held: HeldBytes): AsyncIterable<Uint8Array> {
  response.once("finish", () => {
    if (request.complete) return;
    request.resume();
    const timer = setTimeout(() => request.destroy(), lingerMs);
    request.once("close", () => clearTimeout(timer));
  });
  const iterator = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array, undefined>;
  return { [Symbol.asyncIterator]: () => boundedBy(held, iterator, response) };
}

/** A body that counts among what open calls hold until it is whole, and fails when the call must let go of it. */
function boundedBy(
  held: HeldBytes,
  body: AsyncIterator<Uint8Array, undefined>,
  response: ServerResponse,
): AsyncIterator<Uint8Array, undefined> {
  let receivedBytes = 0;
  let fail: (error: Error) => void = () => undefined;
  const failure = new Promise<never>((_, reject) => (fail = reject));
  failure.catch(() => undefined);
  const place = held.add({
    get heldBytes() {
      return receivedBytes + response.writableLength;
    },
    refuse: (error) => {
      receivedBytes = 0;
      if (response.headersSent) response.destroy();
      else fail(toConnectError(error));
    },
  });
  response.once("close", () => held.remove(place));
  return {
    next: async () => {
      const piece = await Promise.race([body.next(), failure]);
      receivedBytes = piece.done === true ? 0 : receivedBytes + piece.value.length;
      return piece;
    },
    return: async () => (await body.return?.()) ?? { done: true, value: undefined },
  };
}
