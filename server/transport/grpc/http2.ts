/**
 * HTTP/2 settings that grpc-js has no option for, reached through its private fields. This is the only place that does
 * so; an upgrade that moves the fields fails here at start, and in test/server/transport/grpc/http2.test.ts.
 */
import type { Server } from "@grpc/grpc-js";
import { LiveTable } from "../live-table.ts";
import type { Http2Server, ServerOptions, ServerHttp2Session } from "node:http2";

/**
 * What a client may send on one stream before it must wait for a window update. At the default of 64 KiB a 1 MB message
 * takes many round trips: measured at 4 ms each, 112 ms against 7 to 12 ms.
 */
export const streamWindowBytes = 4 * 1024 ** 2;
/** The same for all streams of a connection together. Node frees it on arrival, so stalled streams do not use it up. */
export const connectionWindowBytes = 16 * 1024 ** 2;

/**
 * How many streams a client may reset at once, and then each second, before its connection is closed (a guard against
 * the rapid reset attack). By default 1,000 and 33: a trainer that cancels its 1,500 calls then loses the others too.
 */
export const streamResetBurst = 20_000;
export const streamResetRate = 2_000;

interface Internals {
  readonly commonServerOptions: ServerOptions;
  readonly http2Servers: Map<Http2Server, unknown>;
}

/** To be called before the server is bound: its options are read then. */
export function setHttp2Options(server: Server, maxConcurrentStreams: number): void {
  const { commonServerOptions } = internals(server);
  commonServerOptions.settings = { maxConcurrentStreams, initialWindowSize: streamWindowBytes };
  commonServerOptions.streamResetBurst = streamResetBurst;
  commonServerOptions.streamResetRate = streamResetRate;
  // Streams over the limit that a client opens at once: at Node's 100 it closes the connection, with all its calls.
  commonServerOptions.maxSessionRejectedStreams = streamResetBurst;
}

/** To be called as soon as the server is bound: the connection's window is not among the options. */
export function widenConnections(server: Server): void {
  const { http2Servers } = internals(server);
  if (http2Servers.size === 0) throw new Error("no HTTP/2 server yet: widenConnections must come after binding");
  for (const http2Server of http2Servers.keys()) {
    http2Server.on("session", (session: ServerHttp2Session) => session.setLocalWindowSize(connectionWindowBytes));
  }
}

/** To be called as soon as the server is bound. Node keeps the streams of a connection in a Map: see LiveTable. */
export function keepStreamsApart(server: Server): void {
  for (const http2Server of internals(server).http2Servers.keys()) {
    http2Server.on("session", (session: ServerHttp2Session) => replaceStreams(session));
  }
}

/** A Node that keeps them elsewhere goes on as it is, slower. */
function replaceStreams(session: ServerHttp2Session): void {
  const key = Object.getOwnPropertySymbols(session).find(({ description }) => description === "state");
  const state = (session as unknown as Record<symbol, { streams?: { readonly size: number } }>)[key ?? Symbol.iterator];
  if (state?.streams?.size === 0) state.streams = new LiveTable();
}

function internals(server: Server): Internals {
  const { commonServerOptions, http2Servers } = server as unknown as Partial<Internals>;
  if (typeof commonServerOptions !== "object" || !(http2Servers instanceof Map)) {
    throw new Error(
      "this version of @grpc/grpc-js keeps its HTTP/2 options elsewhere: see server/transport/grpc/http2.ts",
    );
  }
  return { commonServerOptions, http2Servers };
}
