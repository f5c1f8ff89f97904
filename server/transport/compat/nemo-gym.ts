/**
 * Serves the two calls of a NeMo Gym resources server on the HTTP port. Each request has a data row that chooses the
 * task (read-task-choice.ts). For /verify it also has the model's response, and the answer repeats the request with a
 * reward. Nothing is kept between the calls.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { nobody } from "../admission.ts";
import { methodAt, type TransportContext } from "../call-context.ts";
import { LONG_JSON_BYTES } from "../http/long-json.ts";
import { HttpCall } from "../http/call.ts";
import { type CodeName, RpcError } from "../../base/rpc.ts";
import { answered, headersOf } from "./call.ts";
import { begin, type Episode, type Handlers, shown, step } from "./episode.ts";
import { readRow, type Row, type RowKind } from "./nemo-row.ts";

/** Returns the function that answers requests at a path of NeMo Gym. Undefined: NeMo Gym has no such path. */
export type NemoGym = (path: string) => ((request: IncomingMessage, response: ServerResponse) => void) | undefined;

const BODY_FORMAT = { json: true, framed: false, encoding: undefined, bytesMax: 16 * 1024 ** 2 } as const;

/** Pieces of a JSON answer, in order. */
type Parts = readonly (string | Uint8Array)[];

export function nemoGym(context: TransportContext, handlers: Handlers): NemoGym {
  const of = (
    path: string,
    kind: RowKind,
    work: (row: Row, episode: Episode, call: HttpCall) => Parts | Promise<Parts>,
  ) => {
    const method = methodAt(context, { path: `nemo_gym${path}`, role: "trainer", streamsRequests: false });
    return [path, (request: IncomingMessage, response: ServerResponse) => void serve(request, response)] as const;

    async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
      // Admission is decided before the body is read.
      const admitted = context.admission.admit(headersOf(request.headers), method);
      const call = new HttpCall(method, { request, response }, admitted instanceof RpcError ? nobody() : admitted);
      try {
        if (admitted instanceof RpcError) throw call.refusedBy(admitted);
        if (request.method !== "POST")
          throw call.refusedBy(new RpcError("UNIMPLEMENTED", `${path} must be called by POST`));
        const bytes = await call.readMessage(BODY_FORMAT);
        const isLong = bytes.length > LONG_JSON_BYTES;
        const row = isLong
          ? await context.longJson.read({ kind: "nemo", row: kind, bytes }, call.party)
          : readRow(kind, bytes);
        call.begin(undefined);
        const parts = await answered(call, async () => work(row, await begin(handlers, row.choice, call), call));
        send(response, 200, parts);
      } catch (thrown) {
        const error = thrown instanceof RpcError ? thrown : call.failure(thrown);
        const delay = error.retryDelayMs === undefined ? {} : { retry_delay_ms: error.retryDelayMs };
        const told = { detail: error.message, grpc_code: error.code, ...delay };
        send(response, STATUS[error.code] ?? 500, [JSON.stringify(told)]);
      }
    }
  };
  const routes = new Map([
    of("/seed_session", "seed", (_row, episode) => [JSON.stringify(shown(episode))]),
    of("/verify", "verify", async ({ written, echo }, episode, call) => {
      if (written === undefined) throw new Error("bug: the row was read without its response");
      const added = JSON.stringify(await step(handlers, episode, written, call)).slice(1);
      return [echo, echo.length > 1 ? "," : "", added];
    }),
  ]);
  return (path) => routes.get(path);
}

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

function send(response: ServerResponse, status: number, parts: Parts): void {
  if (response.closed || response.headersSent) return;
  const length = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  response.writeHead(status, { "content-type": "application/json", "content-length": length });
  for (const part of parts) response.write(part);
  response.end();
}
