/** Answers HTTP requests of other gyms' clients in JSON. Each request is one call: admitted, counted and logged. */
import type { JsonValue } from "@bufbuild/protobuf";
import type { IncomingMessage, ServerResponse } from "node:http";
import { nobody } from "../admission.ts";
import type { Method } from "../call-context.ts";
import { type Exchange, HttpCall } from "../http/call.ts";
import { type CodeName, RpcError } from "../../base/rpc.ts";
import { headersOf } from "./call.ts";

/** Answers one request. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Returns the function that answers requests at a path. Undefined: the gym has no such path. */
export type Gym = (path: string, headers: IncomingMessage["headers"]) => Answer | undefined;

export interface Route<Message = Buffer> {
  readonly method: Method;
  readonly verb: "GET" | "POST";
  /** Maximum bytes of the request's body. */
  readonly bytesMax: number;
  /** Reads the body before the call counts as in progress. Left out: the message is the body's bytes. */
  readonly read?: (body: Buffer, call: HttpCall) => Message | Promise<Message>;
  /** HTTP statuses of errors that differ from those in STATUS on this route. Left out: none differs. */
  readonly statuses?: Partial<Record<CodeName, number>>;
}

/** Pieces of a JSON answer, in order. */
export type Parts = readonly (string | Uint8Array)[];

/** Answer whose JSON is already written, or that has headers of its own. */
export class EncodedJson {
  readonly parts: Parts;
  readonly headers: Readonly<Record<string, string>>;

  constructor(parts: Parts, headers: EncodedJson["headers"] = {}) {
    this.parts = parts;
    this.headers = headers;
  }
}

/** Handles a message, and returns the answer as JSON. Undefined: the function has already sent the answer itself. */
type Work<Message> = (
  call: HttpCall,
  message: Message,
  exchange: Exchange,
) => Promise<JsonValue | EncodedJson | undefined>;

/**
 * Returns a function that admits each request of a route, reads its message, and sends the JSON that `work` returns.
 * `work` must do its work through the function `answered`, which waits for the connection's turn and records the
 * status.
 */
export function answering<Message = Buffer>(route: Route<Message>, work: Work<Message>): Answer {
  return (request, response) => void serve(route, work, { request, response });
}

async function serve<Message>(
  { method, verb, bytesMax, read, statuses = {} }: Route<Message>,
  work: Work<Message>,
  exchange: Exchange,
): Promise<void> {
  const { request, response } = exchange;
  // Admission is decided before the body is read.
  const admitted = method.admission.admit(headersOf(request.headers), method);
  const isRefused = admitted instanceof RpcError;
  const call = new HttpCall(method, exchange, isRefused ? nobody() : admitted);
  try {
    if (isRefused) throw call.refusedBy(admitted);
    if (request.method !== verb) {
      const error = call.refusedBy(new RpcError("UNIMPLEMENTED", `${method.path} must be called by ${verb}`));
      return sendError(response, error, 405);
    }
    const format = { json: true, framed: false, encoding: undefined, bytesMax };
    const body = verb === "GET" ? Buffer.alloc(0) : await call.readMessage(format);
    const message = read === undefined ? (body as Message) : await read(body, call);
    call.begin(undefined);
    const answer = await work(call, message, exchange);
    if (answer === undefined) return;
    const written = answer instanceof EncodedJson ? answer : new EncodedJson([JSON.stringify(answer)]);
    send(response, 200, written.parts, written.headers);
  } catch (thrown) {
    const error = thrown instanceof RpcError ? thrown : call.failure(thrown);
    sendError(response, error, statuses[error.code]);
  }
}

/** HTTP status for the gRPC status of an error. All others become 500. */
const STATUS: Partial<Record<CodeName, number>> = {
  INVALID_ARGUMENT: 422,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  FAILED_PRECONDITION: 409,
  OUT_OF_RANGE: 409,
  RESOURCE_EXHAUSTED: 429,
  UNAVAILABLE: 503,
  UNIMPLEMENTED: 501,
};

/** Sends an error by its HTTP status, with the reason under `detail` as FastAPI does. */
export function sendError(response: ServerResponse, error: RpcError, status = STATUS[error.code] ?? 500): void {
  const { code, message, retryDelayMs } = error;
  const isTemporary = retryDelayMs !== undefined;
  const body = { detail: message, grpc_code: code, ...(isTemporary && { retry_delay_ms: retryDelayMs }) };
  send(
    response,
    status,
    [JSON.stringify(body)],
    isTemporary ? { "retry-after": `${Math.ceil(retryDelayMs / 1000)}` } : {},
  );
}

export function send(
  response: ServerResponse,
  status: number,
  parts: Parts,
  headers: EncodedJson["headers"] = {},
): void {
  if (response.closed || response.headersSent) return;
  const length = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  response.writeHead(status, { "content-type": "application/json", "content-length": length, ...headers });
  for (const part of parts) response.write(part);
  response.end();
}
