/**
 * Serves the HTTP port: Connect and gRPC-Web, the protocols of other gyms, the page, /metrics and health checks. Also
 * serves the metrics port, which has only /metrics and health checks.
 */
import type { DescMethod } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  cors,
  createConnectRouter,
  createContextKey,
  createContextValues,
  type ServiceImpl,
} from "@connectrpc/connect";
import { compressionBrotli, compressionGzip, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createSecureServer } from "node:http2";
import type { Server as NetServer, Socket } from "node:net";
import type { Config } from "../../runtime/config.ts";
import type { Metrics } from "../../runtime/metrics.ts";
import { version } from "../../runtime/version.ts";
import { nobody } from "../admission.ts";
import { type Method, methodOf, type TransportContext } from "../call-context.ts";
import { CannotListen } from "../cannot-listen.ts";
import { toConnectError } from "../errors.ts";
import { handlersOf } from "../compat/episode.ts";
import { gymnasium } from "../compat/gymnasium/serve.ts";
import { nemoGym } from "../compat/nemo-gym/serve.ts";
import { openEnv } from "../compat/openenv/serve.ts";
import { openReward } from "../compat/openreward/serve.ts";
import type { Gym } from "../compat/route.ts";
import { countReset } from "../grpc/call.ts";
import type { ResetBudgets } from "../reset-budgets.ts";
import { type Registration, RpcError } from "../../base/rpc.ts";
import type { SessionStore } from "../../stores/session-store.ts";
import { OTHER_PARTS } from "../../runtime/health.ts";
import { callKey, implementationOf, messageKey } from "./handlers.ts";
import { bodyReader, type ByteRequest, HttpCall } from "./call.ts";
import { createPage } from "./page.ts";
import { isClosed, wireOf } from "./versions.ts";

// The next function tells browsers which web pages may call the HTTP port (CORS).

const ownHeaders = ["authorization", "x-request-id", "traceparent", "tracestate"] as const;
const allowedHeaders = [...cors.allowedHeaders, ...ownHeaders].join(", ");
const exposedHeaders = [...cors.exposedHeaders, "retry-delay-ms", "wait-reason"].join(", ");
const allowedMethods = cors.allowedMethods.join(", ");
/** Maximum time, in seconds, for which browsers cache the answer to a preflight request. */
const maxAgeSeconds = 7200;

/**
 * Sets the CORS headers that let a page read the answer. Returns true if the request was a preflight, which is then
 * answered.
 */
function answerCors(origins: readonly string[], request: IncomingMessage, response: ServerResponse): boolean {
  const { origin } = request.headers;
  if (origins.length === 0 || origin === undefined) return false;
  response.setHeader("vary", "origin");
  if (!origins.includes("*") && !origins.includes(origin)) return false;
  response.setHeader("access-control-allow-origin", origins.includes("*") ? "*" : origin);
  response.setHeader("access-control-expose-headers", exposedHeaders);
  if (request.method !== "OPTIONS" || request.headers["access-control-request-method"] === undefined) return false;
  response.setHeader("access-control-allow-methods", allowedMethods);
  response.setHeader("access-control-allow-headers", allowedHeaders);
  response.setHeader("access-control-max-age", maxAgeSeconds);
  response.writeHead(204).end();
  return true;
}

export type HttpConfig = Pick<Config, "host" | "httpPort" | "tls" | "corsOrigins" | "requestTimeoutMs" | "limits">;

/** Maximum number of open streams of an HTTP/2 connection. The gRPC port has the same default. */
const SESSION_STREAMS_MAX = 128;
/** Time in milliseconds after which an idle HTTP/2 connection is closed. */
const SESSION_IDLE_MS = 120_000;

/** Maximum time to receive a request's headers, in milliseconds. It is Node's default. */
const headersTimeoutMs = 60_000;
const timesCheckedEveryMs = 5_000;

export interface HttpPort {
  readonly port: number;
  /** Closes the port. Waits up to `graceMs` for answers that are being sent. No call may be in progress. */
  close(graceMs: number): Promise<void>;
}

export async function startHttp(
  config: HttpConfig,
  services: readonly Registration[],
  context: TransportContext,
  metrics: Metrics,
  rows?: SessionStore,
): Promise<HttpPort> {
  const handlers = handlersOf(services);
  const sessions = openEnv(context, handlers, config.limits.maxCompletionBytes);
  const callBytesMax = 6 * config.limits.maxCompletionBytes + 64 * 1024;
  const gyms = [
    ...(rows === undefined ? [] : [openReward(context, handlers, rows, callBytesMax)]),
    nemoGym(context, handlers),
    gymnasium(context, handlers),
    sessions.answer,
  ];
  const served = { routes: routesOf(services, context), gyms };
  const server = createHttpServer(config, listener(config, served, context, metrics), context.resets);
  server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    if (sessions.upgrade(request, socket, head)) return;
    // Node ignores upgrade requests that nobody handles, so they are answered here: the path does not exist.
    socket.end("HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
  });
  context.arrivals.watch(server);
  const port = await listening(server, "http-port", config.host, config.httpPort);
  return {
    port: port.port,
    close: (graceMs) => {
      sessions.close();
      return port.close(graceMs);
    },
  };
}

/**
 * Starts the port for /metrics and health checks alone. It uses plain HTTP without a token, so it should be reachable
 * only from an internal network.
 */
export function startMetrics(
  { host, metricsPort }: { readonly host: string; readonly metricsPort: number },
  context: TransportContext,
  metrics: Metrics,
): Promise<HttpPort> {
  const server = createServer((request, response) => {
    const path = request.url?.split("?", 1)[0] ?? "";
    if (answerProbe(path, response, context)) return;
    if (path === "/metrics") void answerMetrics(response, context, metrics);
    else answerText(response, 404, notFound(path, []));
  });
  return listening(server, "metrics-port", host, metricsPort);
}

async function listening(server: NetServer, flag: string, host: string, port: number): Promise<HttpPort> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) => reject(new CannotListen(flag, `${host}:${port}`, error));
    server.once("error", refuse);
    server.listen(port, host, () => {
      server.off("error", refuse);
      resolve();
    });
  });
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  return { port: bound, close: (graceMs) => close(server, sockets, graceMs) };
}

function createHttpServer(
  { tls, requestTimeoutMs }: HttpConfig,
  onRequest: RequestListener,
  resets: ResetBudgets,
): NetServer {
  const times = {
    requestTimeout: requestTimeoutMs,
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    connectionsCheckingInterval: Math.min(timesCheckedEveryMs, requestTimeoutMs),
  };
  if (tls === undefined) return createServer(times, onRequest);
  const { cert, key, clientCa } = tls;
  const mutual = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true };
  // Browsers use HTTP/2 only over TLS. With HTTP/2, all calls of a page share one connection; with HTTP/1.1, a browser
  // opens at most six connections, each with one call at a time.
  const settings = { maxConcurrentStreams: SESSION_STREAMS_MAX };
  const server = createSecureServer({ cert, key, ...mutual, settings, allowHTTP1: true });
  Object.assign(server, times);
  server.on("request", onRequest as unknown as Parameters<typeof server.on>[1]);
  server.on("session", (session) => {
    session.setTimeout(SESSION_IDLE_MS, () => session.close());
    session.on("stream", (stream) => countReset(stream, resets));
    const end = (): void => session.close();
    server.once("draining", end);
    session.once("close", () => server.off("draining", end));
  });
  return server.setMaxListeners(0);
}

/** A method of a service, with the function that reads its requests and Connect's handler. */
interface Route {
  readonly method: Method;
  readonly read: ReturnType<typeof bodyReader>;
  readonly handler: Handler;
}

interface Handler {
  (request: ByteRequest): Promise<UniversalServerResponse>;
  /** HTTP methods that the handler accepts, e.g. POST. */
  readonly allowedMethods: readonly string[];
  supportedContentType(type: string): boolean;
  readonly method: DescMethod;
}

/** Methods by path. */
type Routes = ReadonlyMap<string, Route>;

function routesOf(services: readonly Registration[], context: TransportContext): Routes {
  const router = createConnectRouter({
    readMaxBytes: context.maxMessageBytes,
    // Maximum delay of Node's timers. A longer timer would fire at once.
    maxTimeoutMs: 2 ** 31 - 1,
    acceptCompression: [compressionGzip, compressionBrotli],
    requestGate: ({ values }) => {
      const refused = values.get(refusalKey);
      if (refused !== undefined) throw toConnectError(values.get(callKey)?.refusedBy(refused) ?? refused);
    },
  });
  for (const { service, handlers } of services) {
    const implementations = service.methods.map((method) => {
      return [method.localName, implementationOf(method, handlers[method.localName])] as const;
    });
    router.service(service, Object.fromEntries(implementations) as unknown as Partial<ServiceImpl<typeof service>>);
  }
  return new Map(
    router.handlers.map((handler) => {
      const read = bodyReader(handler.method.input, context.longJson);
      return [handler.requestPath, { method: methodOf(context, handler.method), read, handler }];
    }),
  );
}

/**
 * Returns the request unchanged, without reading its body. Used for requests that are refused because of their headers.
 */
const unread = (request: ByteRequest): ByteRequest => request;

/** Key under which Connect's context stores the error that refuses a request because of its headers. */
const refusalKey = createContextKey<RpcError | undefined>(undefined);

/** The paths that are served: methods of Gradus's services, and those of other gyms. */
interface Served {
  readonly routes: Routes;
  readonly gyms: readonly Gym[];
}

function listener(
  config: HttpConfig,
  { routes, gyms }: Served,
  context: TransportContext,
  metrics: Metrics,
): RequestListener {
  const page = createPage();
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const path = request.url?.split("?", 1)[0] ?? "";
    if (answerProbe(path, response, context)) return;
    if (answerCors(config.corsOrigins, request, response)) return;
    const route = routes.get(path);
    const ofGym = gyms
      .values()
      .map((gym) => gym(path, request.headers))
      .find((found) => found !== undefined);
    if (route !== undefined) void answerCall(route, request, response, context);
    else if (ofGym !== undefined) ofGym(request, response);
    else if (path === "/metrics") answerScrape(request, response, context, metrics);
    else if (!page.answer(path, request, response)) answerText(response, 404, notFound(path, [...routes.keys()]));
  };
  return (request, response) => {
    // HTTP/2 has the host in the header `:authority`.
    request.headers.host ??= request.headers[":authority"]?.toString();
    context.turns(wireOf(request)).begin(() => {
      if (!isClosed(response)) answer(request, response);
    });
  };
}

/**
 * Error with which work is aborted when the client has left. It is made once, because making an error with its stack
 * takes as long as a short call.
 */
const left = new ConnectError("the caller left before the answer", Code.Canceled);

/**
 * Converts a request of Node into the form that Connect's handlers take. Connect's own function would abort a signal at
 * the end of each call, even of a successful one, with a new error. Making an error takes as long as a short call.
 */
function connectRequestOf(request: IncomingMessage, response: ServerResponse): Omit<ByteRequest, "contextValues"> {
  const { host } = request.headers;
  if (host === undefined) throw new Error("the request names no host");
  const leaving = new AbortController();
  response.once("close", () => {
    if (!response.writableEnded) leaving.abort(left);
  });
  const header = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (!name.startsWith(":")) header.set(name, String(value));
  // Connect refuses bidirectional calls over HTTP/1.1 without an explanation. So every request is passed on as HTTP/2,
  // and Gradus's own handler refuses such calls with an explanation.
  const [httpVersion, url] = ["2.0", new URL(request.url ?? "", `http://${host}`).href];
  return { httpVersion, method: request.method ?? "", url, header, body: request, signal: leaving.signal };
}

async function answerCall(
  { method, read, handler }: Route,
  request: IncomingMessage,
  response: ServerResponse,
  { admission, log, traces }: TransportContext,
): Promise<void> {
  if (!handler.allowedMethods.includes(request.method ?? "")) {
    // The request is refused without reading its body.
    const allowed = handler.allowedMethods.join(", ");
    response.setHeader("allow", allowed);
    return answerText(response, 405, `/${method.path} takes ${allowed}, not ${request.method}`);
  }
  const wrongType = contentTypeProblem(method, handler, request.headers["content-type"]);
  if (wrongType !== undefined) return answerText(response, 415, wrongType);
  // Admission is decided before the body is read, so that a caller without a token cannot make the server read it.
  const admitted = admission.admit(request.headers, method);
  const refused = admitted instanceof RpcError ? admitted : undefined;
  const call = new HttpCall(method, { request, response }, admitted instanceof RpcError ? nobody() : admitted);
  if (refused === undefined && traces !== undefined) call.trace(traces, (name) => request.headers[name]?.toString());
  try {
    const fill = refused === undefined ? await read(call, request.headers) : unread;
    // The client may have left while its request waited.
    if (isClosed(response)) return;
    const values = createContextValues().set(callKey, call).set(refusalKey, refused);
    const asked = { ...connectRequestOf(request, response), contextValues: values };
    const filled = fill(asked, (message) => values.set(messageKey, message));
    await universalResponseToNodeResponse(await handler(filled), response);
  } catch (error) {
    // The connection broke, or the host or path is invalid, so the client cannot be told more.
    log.debug({ err: error }, "an HTTP exchange failed");
    if (response.headersSent) response.destroy();
    else answerText(response, 400, "the request is not valid HTTP");
  }
}

/**
 * Returns the reason that a failed readiness check reports. It is short, because anybody can send a health check
 * without a token. The log says more.
 */
function unreadiness(health: TransportContext["health"]): string {
  const unwell = [...health.states()].filter(([, problem]) => problem !== undefined);
  return unwell.map(([part]) => OTHER_PARTS[part]).find((words) => words !== undefined) ?? "the store cannot be used";
}

/**
 * Answers a readiness check: 503 with the reason while the server drains or a part of it (e.g. its store) has a
 * problem, otherwise 200.
 */
function answerReadiness(response: ServerResponse, { admission, health }: TransportContext): void {
  if (admission.draining.aborted) answerText(response, 503, "draining");
  else if (health.problem() !== undefined) answerText(response, 503, unreadiness(health));
  else answerText(response, 200, `ok\ngradus ${version}`);
}

/**
 * Answers /livez, /readyz and /healthz. Returns false for other paths. /livez always succeeds, because an unavailable
 * store is no reason to kill the process.
 */
function answerProbe(path: string, response: ServerResponse, context: TransportContext): boolean {
  if (path === "/livez") answerText(response, 200, "ok");
  else if (path === "/readyz" || path === "/healthz") answerReadiness(response, context);
  else return false;
  return true;
}

const metricsAsked = { path: "/metrics", role: "viewer" } as const;

/** Answers /metrics on the HTTP port. The caller needs a token with the role viewer. */
function answerScrape(
  request: IncomingMessage,
  response: ServerResponse,
  context: TransportContext,
  metrics: Metrics,
): void {
  const admitted = context.admission.admit(request.headers, metricsAsked);
  if (!(admitted instanceof RpcError)) void answerMetrics(response, context, metrics);
  else answerText(response, admitted.code === "UNAUTHENTICATED" ? 401 : 403, admitted.message);
}

async function answerMetrics(response: ServerResponse, { log }: TransportContext, metrics: Metrics): Promise<void> {
  try {
    answerText(response, 200, await metrics.text(), metrics.contentType);
  } catch (error) {
    log.error({ err: error }, "/metrics was answered with 500, because the metrics could not be collected");
    answerText(response, 500, "the metrics could not be collected: the server's log says why");
  }
}

function answerText(response: ServerResponse, status: number, text: string, type = "text/plain; charset=utf-8"): void {
  response.writeHead(status, { "content-type": type }).end(text.endsWith("\n") ? text : `${text}\n`);
}

/**
 * Returns the error text for a content type that Connect would refuse without explanation. Undefined: the type is
 * accepted. A GET request has no content type.
 */
function contentTypeProblem({ path }: Method, handler: Handler, type: string | undefined): string | undefined {
  if (type === undefined ? handler.allowedMethods.includes("GET") : handler.supportedContentType(type))
    return undefined;
  const got = type === undefined ? "and none came" : `not ${type.slice(0, 100)}`;
  if (handler.method.methodKind === "unary")
    return `/${path} takes content-type application/json or application/proto, ${got} (in JSON a request without fields is {})`;
  const message = `{"${handler.method.input.fields[0]?.jsonName}":"one"}`;
  const length = message.length.toString(8);
  return [
    `/${path} is a stream: it takes content-type application/connect+json (or gRPC-Web's), ${got}.`,
    "Each message, in the request and in the answer, has five bytes before it: a 0, and its length in four bytes, the",
    "highest first. In the answer the last message has a 2 in place of the 0, and says how the stream ended. For example:",
    `  { printf '\\0\\0\\0\\0\\${length}'; printf '${message}'; } |`,
    `    curl -sN localhost:8080/${path} -H 'content-type: application/connect+json' --data-binary @-`,
  ].join("\n");
}

function notFound(path: string, paths: readonly string[]): string {
  const shown = paths.map((known) => `  POST ${known}`).join("\n");
  return `nothing is served at ${path.slice(0, 200)}. There are:\n  GET  /\n  GET  /livez\n  GET  /readyz\n  GET  /healthz\n  GET  /metrics\n  GET  /ws, /schema, /metadata, /health, /list_environments, POST /mcp (OpenEnv)\n  POST /seed_session, /verify, … (NeMo Gym)\n  POST /reset, /step (NeMo Gym, OpenEnv)\n  POST /create_session, … (OpenReward)\n${shown}`;
}

async function close(server: NetServer, sockets: ReadonlySet<Socket>, graceMs: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const force = setTimeout(() => sockets.forEach((socket) => socket.destroy()), graceMs);
    server.close(() => {
      clearTimeout(force);
      resolve();
    });
    // Tells the HTTP/2 connections to close when their streams have ended.
    server.emit("draining");
  });
}
