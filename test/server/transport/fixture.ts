/** Starts a server on loopback with handlers of the test's own, and makes clients for it. */
import { type Client, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { Writable } from "node:stream";
import type { SecureContextOptions } from "node:tls";
import { pino } from "pino";
import { EnvironmentService } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { type Config, readConfig } from "../../../server/runtime/config.ts";
import { createHealth } from "../../../server/runtime/health.ts";
import { createMetrics } from "../../../server/runtime/metrics.ts";
import { startTransports, type Transports } from "../../../server/transport/listen.ts";
import { register, type Registration, type ServiceHandlers } from "../../../server/base/rpc.ts";

export type Handlers = ServiceHandlers<typeof EnvironmentService>;

/** Settings of a client's connection, beyond the address. */
export interface ClientOptions {
  readonly interceptors?: Interceptor[];
  readonly tls?: SecureContextOptions;
}

export interface Fixture extends Transports {
  /** Returns the log, one object for each line. */
  lines(): readonly Readonly<Record<string, unknown>>[];
  /** Speaks gRPC by another implementation than the server's. */
  grpc(options?: ClientOptions): Client<typeof EnvironmentService>;
  /** Speaks Connect with JSON. */
  json(options?: ClientOptions): Client<typeof EnvironmentService>;
  /** Speaks gRPC-Web, as browsers do. */
  web(options?: ClientOptions): Client<typeof EnvironmentService>;
}

/** The configuration that flags give, with any free ports. */
export function configOf(flags: Readonly<Record<string, unknown>> = {}): Config {
  const result = readConfig({ port: "0", httpPort: "0", drainTimeoutMs: "5000", ...flags }, {});
  if (result.kind === "invalid") throw new Error(result.message);
  return result.config;
}

const running = new Set<Transports>();

/** Starts a server; stopAll() stops it. */
export async function start(handlers: Handlers, flags: Readonly<Record<string, unknown>> = {}): Promise<Fixture> {
  const lines: string[] = [];
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(...chunk.toString().trim().split("\n"));
      done();
    },
  });
  const services: readonly Registration[] = [register(EnvironmentService, handlers)];
  const log = pino({ level: "debug", base: null }, sink);
  const config = configOf(flags);
  const transports = await startTransports({ config, services, log, metrics: createMetrics(), health: createHealth() });
  running.add(transports);
  return {
    ...transports,
    lines: () => lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>),
    ...clientsOf(transports, config.tls === undefined ? "http" : "https"),
  };
}

function clientsOf({ grpcPort, httpPort }: Transports, scheme: string): Pick<Fixture, "grpc" | "json" | "web"> {
  const client = (transport: Transport) => createClient(EnvironmentService, transport);
  const http = { baseUrl: `${scheme}://127.0.0.1:${httpPort}`, httpVersion: "1.1" } as const;
  return {
    grpc: ({ interceptors = [], tls = {} } = {}) =>
      client(createGrpcTransport({ baseUrl: `${scheme}://127.0.0.1:${grpcPort}`, interceptors, nodeOptions: tls })),
    json: ({ interceptors = [], tls = {} } = {}) =>
      client(createConnectTransport({ ...http, useBinaryFormat: false, interceptors, nodeOptions: tls })),
    web: ({ interceptors = [], tls = {} } = {}) =>
      client(createGrpcWebTransport({ ...http, interceptors, nodeOptions: tls })),
  };
}

export async function stopAll(): Promise<void> {
  await Promise.all([...running].map((transports) => transports.drain()));
  running.clear();
}

/** Sets a header on each call. */
export function withHeader(name: string, value: string): Interceptor {
  return (next) => (request) => {
    request.header.set(name, value);
    return next(request);
  };
}
