/**
 * All code that relies on undocumented parts of the libraries grpc-js and Node, whose versions are pinned. At start,
 * `checkInternals` throws if such a part has changed. The file docs/decisions/0008-wire.md says what each use gains.
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

/**
 * Throws an Error that names the first undocumented part of grpc-js that is missing, or has another type than this
 * server expects. Called once at start.
 */
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

/**
 * Makes one of grpc-js's internal call objects, on a stream that leads nowhere, so that `checkInternals` can inspect
 * its fields and methods. Returns {} if grpc-js has no such class.
 */
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
 * HTTP/2 flow-control window of a stream: maximum bytes that a client may send before the server has read some. With
 * Node's default of 64 KiB, a message of 1 MB takes 112 ms at a round trip of 4 ms; with this window, 21 ms. With a
 * larger window, one read of a socket could delay other callers.
 */
export const streamWindowBytes = 512 * 1024;
/**
 * HTTP/2 flow-control window of a connection: maximum bytes that a client may send on all its streams before the server
 * frees some. Node frees bytes as soon as they arrive, so streams that nobody reads do not use up the window.
 */
export const connectionWindowBytes = 1024 ** 2;

/**
 * Number of streams that a client may reset at once before its connection is closed (against "rapid reset" attacks).
 * Node's default of 1,000 is too low for a trainer that cancels 1,500 calls in progress.
 */
const streamResetBurst = 1_600;
/** Number of streams that a client may reset per second in the long run. Node's default is 33. */
const streamResetRate = 500;
/**
 * Number of streams beyond the limit of open streams that a client may try to open before Node closes the connection.
 * Node's default is only 100.
 */
const streamsRejectedMax = 20_000;
/**
 * Maximum number of streams that a client may open before it acknowledges the server's HTTP/2 SETTINGS frame. With
 * more, the connection is closed. Until the acknowledgement no other limit of streams applies, so one read of 64 KiB
 * could open and reset 2,335 streams. Real clients open at most 100 by then.
 */
export const unsettledStreamsMax = 128;

/**
 * Sets the HTTP/2 options of a gRPC server: its window size and its limits of streams. Call it before the server is
 * bound to a port, because binding reads the options.
 */
export function setHttp2Options(server: Server, maxConcurrentStreams: number): void {
  const { commonServerOptions } = server as unknown as ServerFields;
  commonServerOptions.settings = { maxConcurrentStreams, initialWindowSize: streamWindowBytes };
  // A client that may open more streams may also reset more.
  commonServerOptions.streamResetBurst = Math.max(streamResetBurst, 2 * maxConcurrentStreams);
  commonServerOptions.streamResetRate = streamResetRate;
  commonServerOptions.maxSessionRejectedStreams = streamsRejectedMax;
}

/**
 * Sets the window size of each new connection, limits its first streams, and lets `arrivals` decide when it is
 * accepted. Call it as soon as the server is bound to a port.
 */
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
 * Replaces grpc-js's listener for new HTTP/2 streams by the one that `listenerOf` returns. `listenerOf` gets grpc-js's
 * own listener (`serve`), so that the new one can call it. Call it as soon as the server is bound to a port.
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

/**
 * A call as grpc-js passes it to server interceptors. The fields declared here are private to grpc-js; `checkInternals`
 * checks that they exist.
 */
export interface IncomingCall extends ServerInterceptingCallInterface {
  readonly stream: ServerHttp2Stream;
  readonly metadata: Metadata;
  /** Compression named in the request's header `grpc-encoding`. */
  readonly incomingEncoding: string;
  /** Splits the incoming data into messages, each with its header of five bytes. */
  decoder: MessageDecoder;
  /** Removes a message's header of five bytes, and returns the rest, decompressed by `encoding`. */
  decompressMessage(message: Buffer, encoding: string): Buffer | Promise<Buffer>;
}

export interface MessageDecoder {
  write(data: Buffer): Buffer[];
}
