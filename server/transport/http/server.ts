/** The HTTP port: Connect and gRPC-Web for curl and browsers, /metrics and /healthz. */
import { cors, createConnectRouter, createContextValues, type ServiceImpl } from "@connectrpc/connect";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Config } from "../../runtime/config.ts";
import type { Metrics } from "../../runtime/metrics.ts";
import { unauthenticated } from "../admission.ts";
import type { Host } from "../call.ts";
import { toConnectError } from "../errors.ts";
import type { Registration } from "../rpc.ts";
import { bodyOf, exchangeKey, implementationOf } from "./calls.ts";
import { acceptCompression, type ByteRequest, messageChecker } from "./messages.ts";

// Which web pages may call the HTTP port.

const ownHeaders = ["authorization", "x-request-id"] as const;
const allowedHeaders = [...cors.allowedHeaders, ...ownHeaders].join(", ");
const exposedHeaders = [...cors.exposedHeaders, "retry-delay-ms"].join(", ");
const allowedMethods = cors.allowedMethods.join(", ");
/** The longest that browsers keep a preflight's answer. */
const maxAgeSeconds = 7200;

/** Sets the headers that let a page read the answer. True: the request was a preflight, and is answered. */
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

type HttpConfig = Pick<Config, "host" | "httpPort" | "tls" | "corsOrigins">;

export interface HttpPort {
  readonly port: number;
  /** Closes the port. Waits so long for answers that are on their way; by then no call may be in progress. */
  close(graceMs: number): Promise<void>;
}

export async function startHttp(
  config: HttpConfig,
  services: readonly Registration[],
  host: Host,
  metrics: Metrics,
): Promise<HttpPort> {
  const server = createHttpServer(config, listener(config, routes(services, host), host, metrics));
  await new Promise<void>((resolve, reject) => {
    const refuse = ({ code, message }: NodeJS.ErrnoException) => {
      const why = `cannot listen on ${config.host}:${config.httpPort}: ${code ?? message}`;
      reject(Object.assign(new Error(why), { code }));
    };
    server.once("error", refuse);
    server.listen(config.httpPort, config.host, () => {
      server.off("error", refuse);
      resolve();
    });
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : config.httpPort;
  return { port, close: (graceMs) => close(server, graceMs) };
}

function createHttpServer({ tls }: HttpConfig, onRequest: RequestListener): Server {
  if (tls === undefined) return createServer(onRequest);
  const { cert, key, clientCa } = tls;
  const mutual = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true };
  return createTlsServer({ cert, key, ...mutual }, onRequest);
}

type Answer = (request: ByteRequest) => Promise<UniversalServerResponse>;

/** What answers the requests for each method's path. */
function routes(services: readonly Registration[], host: Host): ReadonlyMap<string, Answer> {
  const router = createConnectRouter({
    readMaxBytes: host.maxMessageBytes,
    // Node's timers take no longer delay: one that is longer would fire at once.
    maxTimeoutMs: 2 ** 31 - 1,
    acceptCompression,
    // By default Connect passes over names that it does not know: "split": "eval" would silently give train tasks.
    jsonOptions: { ignoreUnknownFields: false },
    // Before the body is read: nobody without the token makes us read it.
    requestGate: ({ requestHeader }) => {
      if (host.mayEnter(requestHeader.get("authorization") ?? undefined)) return;
      throw toConnectError(unauthenticated());
    },
  });
  for (const { service, handlers } of services) {
    const implementations = service.methods.map((method) => {
      return [method.localName, implementationOf(host, method, handlers[method.localName])] as const;
    });
    router.service(service, Object.fromEntries(implementations) as unknown as Partial<ServiceImpl<typeof service>>);
  }
  return new Map(
    router.handlers.map((handler) => {
      const check = messageChecker(handler.method.input, host.maxMessageBytes);
      return [handler.requestPath, (request) => handler(check(request))];
    }),
  );
}

function listener(
  config: HttpConfig,
  methods: ReadonlyMap<string, Answer>,
  host: Host,
  metrics: Metrics,
): RequestListener {
  return (request, response) => {
    if (answerCors(config.corsOrigins, request, response)) return;
    const path = request.url?.split("?", 1)[0] ?? "";
    const method = methods.get(path);
    if (method !== undefined) void answerCall(method, request, response, host);
    else if (path === "/healthz") answerHealth(response, host);
    else if (path === "/metrics") void answerMetrics(request, response, host, metrics);
    else answerText(response, 404, notFound(path, [...methods.keys()]));
  };
}

async function answerCall(
  method: Answer,
  request: IncomingMessage,
  response: ServerResponse,
  host: Host,
): Promise<void> {
  try {
    const exchange = { request, response };
    const values = createContextValues().set(exchangeKey, exchange);
    const universal = universalRequestFromNodeRequest(request, response, undefined, values);
    // Connect refuses bidirectional calls over HTTP/1.1 without a word; ours are refused by a handler that explains.
    const answer = await method({ ...universal, httpVersion: "2.0", body: bodyOf(exchange, host.held) });
    await universalResponseToNodeResponse(answer, response);
  } catch (error) {
    // The connection broke, or the request has no host or a path that is none: nobody is there to be told more.
    host.log.debug({ err: error }, "an HTTP exchange failed");
    if (response.headersSent) response.destroy();
    else answerText(response, 400, "the request is not valid HTTP");
  }
}

function answerHealth(response: ServerResponse, { gate }: Host): void {
  if (gate.draining.aborted) answerText(response, 503, "draining");
  else answerText(response, 200, "ok");
}

async function answerMetrics(
  request: IncomingMessage,
  response: ServerResponse,
  host: Host,
  metrics: Metrics,
): Promise<void> {
  if (!host.mayEnter(request.headers.authorization)) {
    answerText(response, 401, unauthenticated().message);
    return;
  }
  try {
    answerText(response, 200, await metrics.text(), metrics.contentType);
  } catch (error) {
    host.log.error({ err: error }, "metrics could not be collected");
    answerText(response, 500, "metrics could not be collected");
  }
}

function answerText(response: ServerResponse, status: number, text: string, type = "text/plain; charset=utf-8"): void {
  response.writeHead(status, { "content-type": type }).end(text.endsWith("\n") ? text : `${text}\n`);
}

function notFound(path: string, paths: readonly string[]): string {
  const shown = paths.map((known) => `  POST ${known}`).join("\n");
  return `nothing is served at ${path.slice(0, 200)}. There are:\n  GET  /healthz\n  GET  /metrics\n${shown}`;
}

async function close(server: Server, graceMs: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(force);
      resolve();
    });
    server.closeIdleConnections();
  });
}
