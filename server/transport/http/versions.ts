/** Hides the differences between Node's HTTP/1.1 and HTTP/2 requests. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2Session, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";

/** Connection of a request: a socket (HTTP/1.1), or a session (HTTP/2), which carries many requests at a time. */
export type Wire = Socket | Http2Session;

/** Returns the HTTP/2 stream of a request or response. Undefined: it is HTTP/1.1. */
export function streamOf(message: IncomingMessage | ServerResponse): ServerHttp2Stream | undefined {
  return (message as unknown as Partial<Http2ServerRequest>).stream;
}

export function wireOf(request: IncomingMessage): Wire {
  return streamOf(request)?.session ?? request.socket;
}

/** Returns the socket of a connection. Undefined: it is an HTTP/2 session that has ended. */
export function socketOf(wire: Wire): Socket | undefined {
  if (!("settings" in wire)) return wire;
  return wire.destroyed ? undefined : wire.socket;
}

export function isClosed(response: ServerResponse): boolean {
  return streamOf(response)?.closed ?? response.closed;
}
