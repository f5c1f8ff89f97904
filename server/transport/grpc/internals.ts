/**
 * Contains all uses of undocumented parts of grpc-js and Node, whose versions are pinned. `checkInternals` tests them
 * at start. What each use gains is in docs/decisions/0008-wire.md.
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

/** Version of grpc-js for which this file is written. After an upgrade, the parts used here must be checked first. */
const grpcJsVersion = "1.14.7";

const require = createRequire(import.meta.url);

/** Throws if a part of grpc-js differs from what this file expects. */
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

/** Returns a call object as grpc-js makes it, on a stream without a client. */
function sampleCall(): Partial<IncomingCall> {
  const { BaseServerInterceptingCall: Base } = require("@grpc/grpc-js/build/src/server-interceptors.js") as {
    readonly BaseServerInterceptingCall?: new (...parts: readonly unknown[]) => Partial<IncomingCall>;
  };
  return Base === undefined ? {} : new Base(leadingNowhere(), {}, null, { path: "" }, {});
}

function leadingNowhere(): Duplex {
  return new Duplex({ read: () => undefined, write: (_bytes, _encoding, done) => done() });
}

// Functions that set HTTP/2 options for which grpc-js has no setting.

interface ServerFields {
  readonly commonServerOptions: ServerOptions;
  readonly http2Servers: Map<Http2Server, unknown>;
}

/**
 * Maximum bytes that a client may send on one stream before it must wait. At Node's 64 KiB a message of 1 MB took 112
 * ms over a 4 ms round trip, and here takes 21 ms. With more, one read could delay other callers.
 */
export const streamWindowBytes = 512 * 1024;
/**
 * Maximum bytes that a client may send on all streams of a connection before it must wait. Stalled streams do not use
 * this up, because Node frees it on arrival.
 */
export const connectionWindowBytes = 1024 ** 2;

/**
 * Number of streams that a client may reset at once before its connection is closed (against "rapid reset" attacks).
 * Node's 1,000 is too low for a trainer that cancels its 1,500 calls.
 */
const streamResetBurst = 1_600;
/** Number of streams that a client may reset per second in the long run. Node's default is 33. */
const streamResetRate = 500;
/**
 * Number of streams above the limit of open ones that a client may try to open before Node closes the connection.
 * Node's default is only 100.
 */
const streamsRejectedMax = 20_000;
/**
 * Maximum number of streams that a client may begin before it acknowledges the server's settings. Until then no other
 * limit applies, and one read of 64 KiB could begin and reset 2,335 streams. Clients open at most 100 until then.
 */
export const unsettledStreamsMax = 256;

/** Sets HTTP/2 options. Call it before the server is bound to a port, which reads them. */
export function setHttp2Options(server: Server, maxConcurrentStreams: number): void {
  const { commonServerOptions } = server as unknown as ServerFields;
  commonServerOptions.settings = { maxConcurrentStreams, initialWindowSize: streamWindowBytes };
  // A client that may open more streams may also reset more.
  commonServerOptions.streamResetBurst = Math.max(streamResetBurst, 2 * maxConcurrentStreams);
  commonServerOptions.streamResetRate = streamResetRate;
  commonServerOptions.maxSessionRejectedStreams = streamsRejectedMax;
}

/** Sets, on each new connection, the settings that have no option. Call it as soon as the server is bound to a port. */
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
 * Replaces grpc-js's listener of streams by another, which gets grpc-js's own. Call it as soon as the server is bound
 * to a port.
 */
export function listenToStreams(server: Server, listenerOf: (serve: StreamListener) => StreamListener): void {
  for (const http2Server of serversOf(server)) {
    const [serve, ...others] = http2Server.listeners("stream");
    demand(serve !== undefined && others.length === 0, "the one listener of a server's streams");
    http2Server.removeAllListeners("stream");
    http2Server.on("stream", listenerOf(serve as StreamListener));
  }
}

// Types and functions for the receiving side of a call within grpc-js.

/** Call as grpc-js passes it to interceptors. The fields beyond its public interface are private. */
export interface IncomingCall extends ServerInterceptingCallInterface {
  readonly stream: ServerHttp2Stream;
  readonly metadata: Metadata;
  /** Compression named in the request's header `grpc-encoding`. */
  readonly incomingEncoding: string;
  /** Splits the incoming data into messages, each with its header of five bytes. */
  decoder: MessageDecoder;
  /** Returns the contents of a message with a header, decompressed. */
  decompressMessage(message: Buffer, encoding: string): Buffer | Promise<Buffer>;
}

export interface MessageDecoder {
  write(data: Buffer): Buffer[];
}
