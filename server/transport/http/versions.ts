/** What of a request differs by the version of HTTP that it came by: Node's HTTP/2 looks like its HTTP/1.1, but for this. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2Session, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";

/** A socket, or a session of HTTP/2, which has many requests at a time. */
export type Wire = Socket | Http2Session;

/** Undefined: the request came by HTTP/1.1. */
export function streamOf(message: IncomingMessage | ServerResponse): ServerHttp2Stream | undefined {
  return (message as unknown as Partial<Http2ServerRequest>).stream;
}

/** The connection that a request came by. */
export function wireOf(request: IncomingMessage): Wire {
  return streamOf(request)?.session ?? request.socket;
}

/** The socket of a connection; undefined: it was a session's, which is over. */
export function socketOf(wire: Wire): Socket | undefined {
  if (!("settings" in wire)) return wire;
  return wire.destroyed ? undefined : wire.socket;
}

export function isClosed(response: ServerResponse): boolean {
  return streamOf(response)?.closed ?? response.closed;
}
