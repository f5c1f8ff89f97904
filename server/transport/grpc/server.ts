/** Starts and closes the gRPC port. */
import { Server, ServerCredentials, setLogger, type UntypedHandleCall } from "@grpc/grpc-js";
import type { Config } from "../../runtime/config.ts";
import { type Method, methodOf, type TransportContext } from "../call-context.ts";
import { CannotListen } from "../cannot-listen.ts";
import type { Registration } from "../../base/rpc.ts";
import { implementationOf } from "./handlers.ts";
import { addCompanions, type Companions } from "./health-and-reflection.ts";
import { checkInternals, listenToStreams, setHttp2Options, watchConnections } from "./internals.ts";
import { openCalls, screened } from "./call.ts";

export type GrpcConfig = Pick<Config, "host" | "port" | "tls" | "limits" | "drainTimeoutMs">;

export async function startGrpc(config: GrpcConfig, services: readonly Registration[], context: TransportContext) {
  setLogger({ error: (...parts: unknown[]) => context.log.debug({ parts }, "grpc-js") });
  const methods = new Map<string, Method>();
  const server = new Server({ ...serverOptions(config), interceptors: [openCalls(methods)] });
  checkInternals(server);
  setHttp2Options(server, config.limits.maxConcurrentStreams);
  for (const registration of services) {
    for (const method of addService(server, registration, context)) methods.set(`/${method.path}`, method);
  }
  const companions = addCompanions(
    server,
    services.map(({ service }) => service),
    context,
  );
  for (const method of companions.methods) methods.set(`/${method.path}`, method);
  const port = await bind(server, config);
  watchConnections(server, context.arrivals);
  listenToStreams(server, (serve) => screened(serve, context, methods));
  return {
    port,
    /** Makes health checks answer NOT_SERVING from now on. */
    stop: companions.stop,
    /** Closes the port. Waits up to `graceMs` for answers that are being sent. No call may be in progress. */
    close: (graceMs: number): Promise<void> => close(server, companions, graceMs),
  };
}

/**
 * Returns the interval of HTTP/2 pings, in milliseconds. Pings detect clients that vanished without closing their
 * connection. The interval is longer than a shutdown takes (`drainTimeoutMs`), because a ping during a shutdown
 * destroys calls.
 */
export function keepaliveTimeMs(drainTimeoutMs: number): number {
  return Math.max(5 * 60_000, 2 * drainTimeoutMs);
}

function serverOptions({ limits, drainTimeoutMs }: GrpcConfig) {
  return {
    "grpc.max_receive_message_length": limits.maxMessageBytes,
    "grpc.keepalive_time_ms": keepaliveTimeMs(drainTimeoutMs),
    "grpc.keepalive_timeout_ms": 20_000,
    // The statistics of grpc-js (channelz) are off, because they cost time for every message.
    "grpc.enable_channelz": 0,
  };
}

function addService(server: Server, { service, handlers }: Registration, context: TransportContext): readonly Method[] {
  const all = service.methods.map((description) => {
    const method = methodOf(context, description);
    const { localName: name } = description;
    return { name, method, ...implementationOf(method, description, handlers[name]) };
  });
  const calls: Record<string, UntypedHandleCall> = Object.fromEntries(all.map(({ name, handle }) => [name, handle]));
  server.addService(Object.fromEntries(all.map(({ name, definition }) => [name, definition])), calls);
  return all.map(({ method }) => method);
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
      if (error === null) resolve(bound);
      else reject(new CannotListen("port", `${address}:${port}`, systemErrorOf(error)));
    });
  });
}

/**
 * Returns a bind error with the operating system's error code, e.g. EADDRINUSE, in the field `code`. The library
 * grpc-js puts this code only into the message.
 */
function systemErrorOf(error: Error): NodeJS.ErrnoException {
  const isUnknown = error.message.startsWith("Name resolution failed");
  const code = isUnknown ? "ENOTFOUND" : /\bE[A-Z]{3,}\b/.exec(error.message)?.[0];
  return Object.assign(error, { code });
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
