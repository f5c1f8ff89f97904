/** The gRPC port. */
import {
  Server,
  ServerCredentials,
  type ServerInterceptingCall,
  type ServerInterceptor,
  setLogger,
  type UntypedHandleCall,
} from "@grpc/grpc-js";
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Config } from "../../runtime/config.ts";
import { type Method, methodOf, recordRefused, type TransportContext } from "../call.ts";
import { toStatus } from "../errors.ts";
import { type Registration, RpcError } from "../rpc.ts";
import { implementationOf } from "./calls.ts";
import { addCompanions, type Companions, isOpenToAll } from "./companions.ts";
import { checkInternals, type IncomingCall, screenHeaders, setHttp2Options, watchConnections } from "./internals.ts";
import { GrpcCall } from "./messages.ts";

type GrpcConfig = Pick<Config, "host" | "port" | "tls" | "limits" | "drainTimeoutMs">;

export interface GrpcPort {
  readonly port: number;
  /** Health checks answer NOT_SERVING from now on. */
  stop(): void;
  /** Closes the port. Waits so long for answers that are on their way; by then no call may be in progress. */
  close(graceMs: number): Promise<void>;
}

/** Methods by their paths, with the leading slash. */
type Methods = ReadonlyMap<string, Method>;

export async function startGrpc(
  config: GrpcConfig,
  services: readonly Registration[],
  context: TransportContext,
): Promise<GrpcPort> {
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
  watchConnections(server);
  screenHeaders(server, context.turns, (stream, headers) => screen(stream, headers, context, methods));
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

/** Opens a call of ours for each that grpc-js makes. */
function openCalls(methods: Methods): ServerInterceptor {
  return ({ path }, given) => {
    const method = methods.get(path);
    if (method === undefined) throw new Error(`${path} is served, but its limits are not known`);
    const incoming = given as IncomingCall;
    incoming.decoder = new GrpcCall(method, incoming);
    // The type asks for the class that wraps such calls, where grpc-js itself returns what it got.
    return given as ServerInterceptingCall;
  };
}

/** Answers what is refused by its headers; gives those with which the others go on. */
function screen(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  context: TransportContext,
  methods: Methods,
): IncomingHttpHeaders | undefined {
  const path = String(headers[":path"]);
  const { ":authority": host = headers.host, origin, authorization } = headers;
  const refused = isOpenToAll(path) ? undefined : context.admission.refuseHeaders({ host, origin, authorization });
  const timeout = refused === undefined ? readTimeout(headers["grpc-timeout"]) : undefined;
  const error = refused ?? (timeout instanceof RpcError ? timeout : unreadable(headers["grpc-encoding"]));
  if (error === undefined) return typeof timeout === "string" ? { ...headers, "grpc-timeout": timeout } : headers;
  const { code, details, metadata } = toStatus(error);
  const status = { "grpc-status": code, "grpc-message": encodeURI(details), ...metadata.toHttp2Headers() };
  const answer = { ":status": 200, "content-type": "application/grpc+proto", ...status };
  // Nothing reads the stream, so that Node resets it, and drops what comes of it.
  if (!stream.destroyed) stream.respond(answer, { endStream: true });
  const method = methods.get(path);
  if (method !== undefined) recordRefused(method, headers["x-request-id"]?.toString(), error);
  return undefined;
}

const timeoutUnitsMs = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 } as const;
/** Node's timers take no longer delay: one that is longer would fire at once. */
const timeoutMsMax = 2 ** 31 - 1;

/** As grpc-js may be given it; undefined: as it came. grpc-js takes what begins like a time-out for one. */
function readTimeout(header: string | readonly string[] | undefined): string | RpcError | undefined {
  if (header === undefined) return undefined;
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(String(header)) ?? [];
  if (digits === undefined || unit === undefined) {
    const why = `grpc-timeout must be 1 to 8 digits and one of H, M, S, m, u, n; got '${String(header)}'`;
    return new RpcError("INVALID_ARGUMENT", why);
  }
  const ms = Number(digits) * timeoutUnitsMs[unit as keyof typeof timeoutUnitsMs];
  if (ms === 0) return new RpcError("DEADLINE_EXCEEDED", "the deadline had passed when the request came");
  return ms > timeoutMsMax ? `${Math.floor(timeoutMsMax / 1000)}S` : undefined;
}

const encodings: ReadonlySet<string> = new Set(["identity", "gzip", "deflate"]);

function unreadable(encoding: string | readonly string[] | undefined): RpcError | undefined {
  if (encoding === undefined || encodings.has(String(encoding))) return undefined;
  const why = `the request's messages are compressed with '${String(encoding)}', and this server reads gzip and deflate`;
  return new RpcError("UNIMPLEMENTED", why);
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
      else reject(bindError(error, `${address}:${port}`));
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
