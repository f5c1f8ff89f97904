/** The gRPC port. */
import { Server, ServerCredentials, setLogger, type UntypedHandleCall } from "@grpc/grpc-js";
import type { Config } from "../../runtime/config.ts";
import type { Host } from "../call.ts";
import { type Registration, unimplemented, unimplementedStream } from "../rpc.ts";
import { definitionOf, grpcMethod, type GrpcMethod, unaryCalls } from "./calls.ts";
import { addCompanions, type Companions } from "./companions.ts";
import { keepStreamsApart, setHttp2Options, widenConnections } from "./http2.ts";
import { giveInboxes, type Inbox } from "./inbox.ts";
import { bidiCalls, serverStreamCalls } from "./streams.ts";

type GrpcConfig = Pick<Config, "host" | "port" | "tls" | "limits" | "drainTimeoutMs">;

export interface GrpcPort {
  readonly port: number;
  /** Health checks answer NOT_SERVING from now on. */
  stop(): void;
  /** Closes the port. Waits so long for answers that are on their way; by then no call may be in progress. */
  close(graceMs: number): Promise<void>;
}

export async function startGrpc(config: GrpcConfig, services: readonly Registration[], host: Host): Promise<GrpcPort> {
  setLogger({ error: (...parts: unknown[]) => host.log.debug({ parts }, "grpc-js") });
  const methods = new Map<string, GrpcMethod>();
  const missed = (path: string, inbox: Inbox): void => methods.get(path)?.missed(inbox);
  const { maxMessageBytes, maxConcurrentStreams } = config.limits;
  const interceptors = [giveInboxes({ maxMessageBytes, held: host.held, missed })];
  const server = new Server({ ...serverOptions(config), interceptors });
  setHttp2Options(server, maxConcurrentStreams);
  for (const registration of services) {
    for (const ours of addService(server, registration, host)) methods.set(ours.path, ours);
  }
  const companions = addCompanions(
    server,
    services.map(({ service }) => service),
    host.mayEnter,
  );
  const port = await bind(server, config);
  return { port, stop: companions.stop, close: (graceMs) => close(server, companions, graceMs) };
}

/**
 * A ping finds connections whose peer is gone without a word. One that is due while a connection closes destroys the
 * calls on it, so that the time between pings must be longer than a drain takes.
 */
export function keepaliveTimeMs(drainTimeoutMs: number): number {
  return Math.max(5 * 60_000, 2 * drainTimeoutMs);
}

function serverOptions({ limits, drainTimeoutMs }: GrpcConfig) {
  return {
    "grpc.max_receive_message_length": limits.maxMessageBytes,
    "grpc.keepalive_time_ms": keepaliveTimeMs(drainTimeoutMs),
    "grpc.keepalive_timeout_ms": 20_000,
    // Its counters cost time on every message, and the server has metrics of its own.
    "grpc.enable_channelz": 0,
  };
}

function addService(server: Server, { service, handlers }: Registration, host: Host): readonly GrpcMethod[] {
  const methods = service.methods.map((method) => grpcMethod(host, method));
  const definition = Object.fromEntries(methods.map((ours) => [ours.method.localName, definitionOf(ours)]));
  const calls = methods.map((ours) => [ours.method.localName, callsOf(ours, handlers[ours.method.localName])]);
  server.addService(definition, Object.fromEntries(calls) as Record<string, UntypedHandleCall>);
  return methods;
}

/** register() has checked the handlers against the service's types. */
function callsOf(ours: GrpcMethod, handler: unknown): UntypedHandleCall {
  const { method } = ours;
  switch (method.methodKind) {
    case "unary":
      return unaryCalls(ours, (handler ?? unimplemented(method)) as never);
    case "server_streaming":
      return serverStreamCalls(ours, (handler ?? unimplementedStream(method)) as never);
    case "bidi_streaming":
      return bidiCalls(ours, (handler ?? unimplementedStream(method)) as never);
    case "client_streaming":
      throw new Error(`${method.parent.typeName}/${method.name}: no transport serves client streams`);
  }
}

async function bind(server: Server, { host, port, tls }: GrpcConfig): Promise<number> {
  const credentials =
    tls === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(
          tls.clientCa === undefined ? null : Buffer.from(tls.clientCa),
          [{ cert_chain: Buffer.from(tls.cert), private_key: Buffer.from(tls.key) }],
          tls.clientCa !== undefined,
        );
  const address = host.includes(":") ? `[${host}]` : host;
  return new Promise((resolve, reject) => {
    server.bindAsync(`${address}:${port}`, credentials, (error, bound) => {
      if (error !== null) return reject(bindError(error, `${address}:${port}`));
      widenConnections(server);
      keepStreamsApart(server);
      resolve(bound);
    });
  });
}

/** grpc-js hides the system's error code in its message. */
function bindError({ message }: Error, address: string): Error {
  const code = /\bE[A-Z]{3,}\b/.exec(message)?.[0];
  return Object.assign(new Error(`cannot listen on ${address}: ${code ?? message}`), { code });
}

async function close(server: Server, companions: Companions, graceMs: number): Promise<void> {
  companions.close();
  await new Promise<void>((resolve) => {
    const force = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, graceMs);
    server.tryShutdown(() => {
      clearTimeout(force);
      resolve();
    });
  });
}
