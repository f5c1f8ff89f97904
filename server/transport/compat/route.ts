/** Answers HTTP requests of other gyms' clients in JSON. Each request is one call: admitted, counted and logged. */
import type { JsonValue } from "@bufbuild/protobuf";
import type { IncomingMessage, ServerResponse } from "node:http";
import { nobody } from "../admission.ts";
import type { Method } from "../call-context.ts";
import { HttpCall } from "../http/call.ts";
import { type CodeName, RpcError } from "../../base/rpc.ts";
import { headersOf } from "./call.ts";

/** Answers one request. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Returns the function that answers requests at a path. Undefined: the gym has no such path. */
export type Gym = (path: string) => Answer | undefined;

export interface Route {
  readonly method: Method;
  readonly verb: "GET" | "POST";
  /** Maximum bytes of the request's body. */
  readonly bytesMax: number;
}

/**
 * Returns the function that answers a route's requests with the JSON that `work` returns. `work` runs what it does as
 * `answered` says.
 */
export function answering(route: Route, work: (call: HttpCall, body: Buffer) => Promise<JsonValue>): Answer {
  return (request, response) => void serve(route, work, request, response);
}

async function serve(
  { method, verb, bytesMax }: Route,
  work: (call: HttpCall, body: Buffer) => Promise<JsonValue>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const admitted = method.admission.admit(headersOf(request.headers), method);
  const isRefused = admitted instanceof RpcError;
  const call = new HttpCall(method, { request, response }, isRefused ? nobody() : admitted);
  try {
    if (isRefused) throw call.refusedBy(admitted);
    if (request.method !== verb)
      throw call.refusedBy(new RpcError("UNIMPLEMENTED", `${method.path} must be called by ${verb}`));
    const format = { json: true, framed: false, encoding: undefined, bytesMax };
    const body = verb === "GET" ? Buffer.alloc(0) : await call.readMessage(format);
    call.begin(undefined);
    send(response, 200, [JSON.stringify(await work(call, body))]);
  } catch (thrown) {
    sendError(response, thrown instanceof RpcError ? thrown : call.failure(thrown));
  }
}

/** Pieces of a JSON answer, in order. */
export type Parts = readonly (string | Uint8Array)[];

const STATUS: Partial<Record<CodeName, number>> = {
  INVALID_ARGUMENT: 422,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  FAILED_PRECONDITION: 409,
  OUT_OF_RANGE: 409,
  RESOURCE_EXHAUSTED: 429,
  UNAVAILABLE: 503,
  UNIMPLEMENTED: 405,
};

/** Sends an error by its HTTP status, with the reason under `detail` as FastAPI does. */
export function sendError(response: ServerResponse, { code, message, retryDelayMs }: RpcError): void {
  const delay = retryDelayMs === undefined ? {} : { retry_delay_ms: retryDelayMs };
  send(response, STATUS[code] ?? 500, [JSON.stringify({ detail: message, grpc_code: code, ...delay })]);
}

export function send(response: ServerResponse, status: number, parts: Parts): void {
  if (response.closed || response.headersSent) return;
  const length = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  response.writeHead(status, { "content-type": "application/json", "content-length": length });
  for (const part of parts) response.write(part);
  response.end();
}
