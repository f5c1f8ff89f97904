/**
 * NeMo Gym's two calls of a resources server on the HTTP port. Both bring the row, which says the task (choice.ts), at the
 * top or under verifier_metadata; /verify brings the model's response too, and what it answers is the same with a reward.
 * Nothing is kept between them: the row names the task as well as a session would.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { nobody } from "../admission.ts";
import { methodAt, type TransportContext } from "../call.ts";
import { HttpCall } from "../http/messages.ts";
import { type CodeName, RpcError } from "../rpc.ts";
import { answered, headersOf } from "./calls.ts";
import { choiceOf, invalid, isObject } from "./choice.ts";
import { begin, type Handlers, shown, step } from "./episodes.ts";

/** Answers a request that is NeMo Gym's; undefined: the path is not. */
export type NemoGym = (path: string) => ((request: IncomingMessage, response: ServerResponse) => void) | undefined;

/** What NeMo Gym itself puts into a body, which says nothing of the task. */
const OWN = ["responses_create_params", "response", "verifier_metadata", "agent_ref", "name", "id"] as const;

export function nemoGym(context: TransportContext, handlers: Handlers): NemoGym {
  const of = (path: string, work: (body: JsonObject, call: HttpCall) => Promise<JsonObject>) => {
    const method = methodAt(context, { path: `nemo_gym${path}`, role: "trainer", streamsRequests: false });
    return [path, (request: IncomingMessage, response: ServerResponse) => void serve(request, response)] as const;

    async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
      // Before the body is read.
      const admitted = context.admission.admit(headersOf(request.headers), method);
      const call = new HttpCall(method, { request, response }, admitted instanceof RpcError ? nobody() : admitted);
      try {
        if (admitted instanceof RpcError) throw call.refusedBy(admitted);
        if (request.method !== "POST") throw call.refusedBy(new RpcError("UNIMPLEMENTED", `${path} takes POST`));
        const body = bodyOf(await call.readMessage({ json: true, framed: false, encoding: undefined }));
        call.begin(undefined);
        send(response, 200, await answered(call, () => work(body, call)));
      } catch (thrown) {
        const error = thrown instanceof RpcError ? thrown : call.failure(thrown);
        const delay = error.retryDelayMs === undefined ? {} : { retry_delay_ms: error.retryDelayMs };
        send(response, STATUS[error.code] ?? 500, { detail: error.message, grpc_code: error.code, ...delay });
      }
    }
  };
  const routes = new Map([
    of("/seed_session", async (body, call) => shown(await episodeOf(handlers, body, call))),
    of("/verify", async (body, call) => {
      const { reward, outcome } = await step(handlers, await episodeOf(handlers, body, call), textOf(body), call);
      // A failure of ours has no place in their answer but an error: it is never a reward of 0.
      if (reward === null)
        throw new RpcError("UNAVAILABLE", `there is no reward: ${JSON.stringify(outcome["no_reward"])}`);
      return { ...body, reward, outcome };
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

function bodyOf(bytes: Buffer): JsonObject {
  try {
    const body: unknown = JSON.parse(bytes.toString());
    if (isObject(body)) return body;
  } catch {
    // Said below.
  }
  throw new RpcError("INVALID_ARGUMENT", "the body must be a JSON object");
}

function episodeOf(handlers: Handlers, body: JsonObject, call: HttpCall) {
  const row = body["verifier_metadata"];
  const data = isObject(row) ? row : Object.fromEntries(Object.entries(body).filter(([name]) => !isOwn(name)));
  const unseeded = (): never => {
    throw invalid("seed", "a row names its task by a seed, which /seed_session and /verify both go by");
  };
  const unplaced = (): never => {
    throw invalid("cursor", "a row names a run's task by its cursor, which /seed_session and /verify both go by");
  };
  return begin(handlers, choiceOf(data, { seed: unseeded, cursorOf: unplaced }), call);
}

const isOwn = (name: string): boolean => (OWN as readonly string[]).includes(name) || name.startsWith("_");

/** The text of a response of the Responses API: of its messages, for other items are thoughts and calls of tools. */
function textOf({ response }: JsonObject): string {
  const output = isObject(response) ? response["output"] : undefined;
  if (!Array.isArray(output)) throw invalid("response.output", "it must be a list of items");
  return (output as readonly JsonValue[]).flatMap((item) => (isObject(item) ? textsIn(item) : [])).join("");
}

function textsIn({ type, content }: JsonObject): readonly string[] {
  if (type !== undefined && type !== "message") return [];
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return (content as readonly JsonValue[]).flatMap((part) =>
    isObject(part) && typeof part["text"] === "string" ? [part["text"]] : [],
  );
}

function send(response: ServerResponse, status: number, body: JsonObject): void {
  if (response.closed || response.headersSent) return;
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
