/**
 * Holds every use of undocumented parts of @grpc/grpc-js and Node. Both are pinned; each use says its purpose, and
 * docs/decisions/0008-wire.md its gain. `checkInternals` runs at start.
 */
import type { Server, ServerInterceptingCallInterface } from "@grpc/grpc-js";
import { createRequire } from "node:module";
import {
  constants,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
  type ServerOptions,
} from "node:http2";
import type { Arrivals } from "../arrivals.ts";
import { Duplex } from "node:stream";
import type { Metadata } from "@grpc/grpc-js";

/** Version that this file was written for. An upgrade begins with checking the parts that this file uses. */
const grpcJsVersion = "1.14.7";

const require = createRequire(import.meta.url);

/** Throws if a part of grpc-js is not as this file expects it. */
export function checkInternals(server: Server): void {
  const { commonServerOptions, http2Servers } = server as unknown as Partial<ServerFields>;
  demand(typeof commonServerOptions === "object", "Server.commonServerOptions");
  demand(http2Servers instanceof Map, "Server.http2Servers");
  const call = sampleCall();
  demand(typeof call.decoder?.write === "function", "BaseServerInterceptingCall.decoder.write");
  for (const method of ["decompressMessage", "startRead", "sendStatus", "getDeadline", "getPeer"] as const) {
    demand(typeof call[method] === "function", `BaseServerInterceptingCall.${method}`);
  }
  demand(typeof call.incomingEncoding === "string", "BaseServerInterceptingCall.incomingEncoding");
  demand(call.metadata !== undefined && call.stream !== undefined, "BaseServerInterceptingCall.metadata and .stream");
}

function demand(holds: boolean, what: string, of = `@grpc/grpc-js ${grpcJsVersion}`): void {
  if (holds) return;
  const { version } = require("@grpc/grpc-js/package.json") as { readonly version: string };
  throw new Error(
    `server/transport/grpc/internals.ts was written for ${of}, and ${what} is not what it was there: ` +
      `this is @grpc/grpc-js ${version} on Node ${process.version}`,
  );
}

/** Returns a call as grpc-js makes one for each request, on a stream without a peer. */
function sampleCall(): Partial<IncomingCall> {
  const { BaseServerInterceptingCall: Base } = require("@grpc/grpc-js/build/src/server-interceptors.js") as {
    readonly BaseServerInterceptingCall?: new (...parts: readonly unknown[]) => Partial<IncomingCall>;
  };
  return Base === undefined ? {} : new Base(leadingNowhere(), {}, null, { path: "" }, {});
}

function leadingNowhere(): Duplex {
  return new Duplex({ read: () => undefined, write: (_bytes, _encoding, done) => done() });
}

// HTTP/2 settings that grpc-js has no option for.

interface ServerFields {
  readonly commonServerOptions: ServerOptions;
  readonly http2Servers: Map<Http2Server, unknown>;
}

/**
 * Maximum number of bytes that a client may send on one stream before it must wait for a window update. At the default
 * of 64 KiB a 1 MB message takes many round trips: measured at 4 ms each, 112 ms against 21. A larger window takes
 * fewer (13 ms at 4 MiB). But libuv reads in one round of the event loop all data that has arrived, up to 2 MiB, and
 * nobody else is served meanwhile.
 */
export const streamWindowBytes = 512 * 1024;
/**
 * Maximum number of bytes for all streams of a connection together. Node frees the window on arrival, so stalled
 * streams do not use it up.
 */
export const connectionWindowBytes = 1024 ** 2;

/**
 * Number of streams that a client may reset at once, and then each second, before its connection is closed (a guard
 * against the rapid reset attack). The defaults are 1,000 and 33: a trainer that cancels its 1,500 calls would then
 * lose the others too.
 */
const streamResetBurst = 1_600;
const streamResetRate = 500;
/**
 * Maximum number of streams over the limit that a client may open. At Node's default of 100 Node closes the connection
 * with all its calls.
 */
const streamsRejectedMax = 20_000;
/**
 * Maximum number of streams that a client may begin before it acknowledges our settings. Until then no limit on open
 * streams binds the client, and Node creates each stream that the client resets at once. 2,335 of those fit into the 64
 * KiB of one read, and others waited for 60 ms. After that, Node refuses streams over the limit before it creates
 * anything. Clients open at most 100 streams until they know the settings.
 */
export const unsettledStreamsMax = 256;

/** Sets the HTTP/2 options. Call this before the server is bound, because binding reads the options. */
export function setHttp2Options(server: Server, maxConcurrentStreams: number): void {
  const { commonServerOptions } = server as unknown as ServerFields;
  commonServerOptions.settings = { maxConcurrentStreams, initialWindowSize: streamWindowBytes };
  // A client that may open more streams may reset more.
  commonServerOptions.streamResetBurst = Math.max(streamResetBurst, 2 * maxConcurrentStreams);
  commonServerOptions.streamResetRate = streamResetRate;
  commonServerOptions.maxSessionRejectedStreams = streamsRejectedMax;
}

/** Sets, for each connection, the settings without an option. Call this as soon as the server is bound. */
export function watchConnections(server: Server, arrivals: Arrivals): void {
  for (const http2Server of serversOf(server)) {
    arrivals.watch(http2Server);
    http2Server.on("session", (session) => {
      session.setLocalWindowSize(connectionWindowBytes);
      let begun = 0;
      const count = (): void => {
        if (++begun > unsettledStreamsMax) session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
      };
      session.on("stream", count);
      session.once("localSettings", () => session.off("stream", count));
    });
  }
}

function serversOf(server: Server): Iterable<Http2Server> {
  const { http2Servers } = server as unknown as ServerFields;
  if (http2Servers.size === 0) throw new Error("there is no HTTP/2 server yet: this must come after binding");
  return http2Servers.keys();
}

export type StreamListener = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

/**
 * Puts our listener of streams in place of grpc-js's, and hands grpc-js's listener to ours. Call this as soon as the
 * server is bound.
 */
export function listenToStreams(server: Server, listenerOf: (serve: StreamListener) => StreamListener): void {
  for (const http2Server of serversOf(server)) {
    const [serve, ...others] = http2Server.listeners("stream");
    demand(serve !== undefined && others.length === 0, "the one listener of a server's streams");
    http2Server.removeAllListeners("stream");
    http2Server.on("stream", listenerOf(serve as StreamListener));
  }
}

// Incoming side of one call.

/** Side of a call that belongs to grpc-js, which interceptors get. The fields beyond its interface are private. */
export interface IncomingCall extends ServerInterceptingCallInterface {
  readonly stream: ServerHttp2Stream;
  readonly metadata: Metadata;
  /** Name of the compression in the request's `grpc-encoding`. */
  readonly incomingEncoding: string;
  /** Takes messages, each with its header of five bytes, out of the incoming data. */
  decoder: MessageDecoder;
  /** Takes a message with its header, and returns its contents. */
  decompressMessage(message: Buffer, encoding: string): Buffer | Promise<Buffer>;
}

export interface MessageDecoder {
  write(data: Buffer): Buffer[];
}
