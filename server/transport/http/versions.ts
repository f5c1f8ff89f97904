/** Hides the differences between HTTP/1.1 and HTTP/2 requests in Node; in all other ways the two look the same. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2Session, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";

/** A socket, or an HTTP/2 session, which carries many requests at a time. */
export type Wire = Socket | Http2Session;

/** Returns undefined for a request over HTTP/1.1. */
export function streamOf(message: IncomingMessage | ServerResponse): ServerHttp2Stream | undefined {
  return (message as unknown as Partial<Http2ServerRequest>).stream;
}

/** Returns the connection of a request. */
export function wireOf(request: IncomingMessage): Wire {
  return streamOf(request)?.session ?? request.socket;
}

/** Returns the socket of a connection; undefined: the connection is an HTTP/2 session that has ended. */
export function socketOf(wire: Wire): Socket | undefined {
  if (!("settings" in wire)) return wire;
  return wire.destroyed ? undefined : wire.socket;
}

export function isClosed(response: ServerResponse): boolean {
  return streamOf(response)?.closed ?? response.closed;
}
