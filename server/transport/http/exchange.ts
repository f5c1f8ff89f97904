/** One HTTP request with its response: what Node leaves to us at its ends. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Call } from "../call.ts";

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
export function bodyOf({ request, response }: Exchange): AsyncIterable<Uint8Array> {
  response.once("finish", () => {
    if (request.complete) return;
    request.resume();
    const timer = setTimeout(() => request.destroy(), lingerMs);
    request.once("close", () => clearTimeout(timer));
  });
  return { [Symbol.asyncIterator]: () => request.iterator({ destroyOnReturn: false }) };
}
