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
import { RpcError } from "../../base/rpc.ts";
import { answered, headersOf } from "./call.ts";
import { begin, type Episode, type Handlers, shown, step } from "./episode.ts";
import { readRow, type Row, type RowKind } from "./nemo-row.ts";
import { type Gym, type Parts, send, sendError } from "./route.ts";

const BODY_FORMAT = { json: true, framed: false, encoding: undefined, bytesMax: 16 * 1024 ** 2 } as const;

export function nemoGym(context: TransportContext, handlers: Handlers): Gym {
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
        sendError(response, thrown instanceof RpcError ? thrown : call.failure(thrown));
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
