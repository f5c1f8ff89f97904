/**
 * Everything that this server uses of @grpc/grpc-js and Node though they do not document it. Both are pinned; each reach
 * says what it is for, and docs/decisions/0008-wire.md what it brings. `checkInternals` runs at start.
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
import type { ResetBudgets } from "../reset-budgets.ts";
import { Duplex } from "node:stream";
import type { Metadata } from "@grpc/grpc-js";

/** What this file was written for. An upgrade begins with reading what it relies on again. */
const grpcJsVersion = "1.14.7";

const require = createRequire(import.meta.url);

/** Throws where something is not where this file expects it. */
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

/** A call as grpc-js makes one for each request, on a stream that leads nowhere. */
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
 * What a client may send on one stream before it must wait for a window update. At the default of 64 KiB a 1 MB message
 * takes many round trips: measured at 4 ms each, 112 ms against 21. A larger window takes fewer (13 ms at 4 MiB), but
 * libuv reads in one round of the event loop whatever has come, up to 2 MiB, and meanwhile nobody else is served.
 */
export const streamWindowBytes = 512 * 1024;
/** The same for all streams of a connection together. Node frees it on arrival, so stalled streams do not use it up. */
export const connectionWindowBytes = 1024 ** 2;

/**
 * How many streams a client may reset at once, and then each second, before its connection is closed (a guard against
 * the rapid reset attack). By default 1,000 and 33: a trainer that cancels its 1,500 calls then loses the others too.
 */
const streamResetBurst = 1_600;
const streamResetRate = 500;
/** Streams over the limit that a client opens at once: at Node's 100 it closes the connection, with all its calls. */
const streamsRejectedMax = 20_000;
/**
 * Streams that a client may begin before it acknowledges our settings. Until then no limit on open streams binds it, and
 * Node makes each one that it resets at once, of which 2,335 fit into the 64 KiB that are read in one go: others waited
 * for 60 ms. From then on Node refuses in a round of the event loop what is over the limit, before it makes anything.
 * Clients open 100 streams at most until they know the settings.
 */
export const unsettledStreamsMax = 256;

/** To be called before the server is bound: its options are read then. */
export function setHttp2Options(server: Server, maxConcurrentStreams: number): void {
  const { commonServerOptions } = server as unknown as ServerFields;
  commonServerOptions.settings = { maxConcurrentStreams, initialWindowSize: streamWindowBytes };
  // Whoever may have more open may give up more.
  commonServerOptions.streamResetBurst = Math.max(streamResetBurst, 2 * maxConcurrentStreams);
  commonServerOptions.streamResetRate = streamResetRate;
  commonServerOptions.maxSessionRejectedStreams = streamsRejectedMax;
}

/** What is among no options, and is set for each connection. To be called as soon as the server is bound. */
export function watchConnections(server: Server, resets: ResetBudgets): void {
  for (const http2Server of serversOf(server)) {
    resets.watch(http2Server);
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

/** Has a listener of ours hear of streams in grpc-js's place, which is handed to it. To be called as soon as the server is bound. */
export function listenToStreams(server: Server, listenerOf: (serve: StreamListener) => StreamListener): void {
  for (const http2Server of serversOf(server)) {
    const [serve, ...others] = http2Server.listeners("stream");
    demand(serve !== undefined && others.length === 0, "the one listener of a server's streams");
    http2Server.removeAllListeners("stream");
    http2Server.on("stream", listenerOf(serve as StreamListener));
  }
}

// What comes in for one call.

/** grpc-js's own side of a call, which interceptors are given. The fields beyond its interface are private. */
export interface IncomingCall extends ServerInterceptingCallInterface {
  readonly stream: ServerHttp2Stream;
  readonly metadata: Metadata;
  /** As the request's `grpc-encoding` names it. */
  readonly incomingEncoding: string;
  /** Takes messages, each with its header of five bytes, out of the data as it comes. */
  decoder: MessageDecoder;
  /** Is given a message with its header, and gives its contents. */
  decompressMessage(message: Buffer, encoding: string): Buffer | Promise<Buffer>;
}

export interface MessageDecoder {
  write(data: Buffer): Buffer[];
}
