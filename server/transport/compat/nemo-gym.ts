/**
 * Serves NeMo Gym's two calls of a resources server on the HTTP port. Both requests hold the row that chooses the task
 * (read-task-choice.ts), at the top or under verifier_metadata. /verify gets the model's response too, and answers with the
 * same body plus a reward. The server keeps nothing between the two calls, because the row alone names the task.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { withThoughts } from "../../../envs/lib/join-thoughts.ts";
import { FinishReason } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { nobody } from "../admission.ts";
import { methodAt, type TransportContext } from "../call-context.ts";
import { type JsonLimits, jsonWithin } from "../http/json-codec.ts";
import { HttpCall } from "../http/call.ts";
import { type CodeName, RpcError } from "../../base/rpc.ts";
import { PARTS_MAX } from "../wire/codec.ts";
import { answered, headersOf } from "./call.ts";
import { choiceOf, invalid, isObject } from "./read-task-choice.ts";
import { begin, type Handlers, shown, step, type Written } from "./episode.ts";

/** Returns the function that answers a request at one of NeMo Gym's paths; undefined: the path is not NeMo Gym's. */
export type NemoGym = (path: string) => ((request: IncomingMessage, response: ServerResponse) => void) | undefined;

/**
 * NeMo Gym's training asks for lists with one entry a token, so a body has hundreds of thousands of numbers and few
 * keys.
 */
const BODY_LIMITS: JsonLimits = { parts: PARTS_MAX, structures: 2 ** 16, depth: 100 };
const BODY_FORMAT = { json: true, framed: false, encoding: undefined, bytesMax: 16 * 1024 ** 2 } as const;

/** Fields that NeMo Gym itself adds to a body; none of them chooses the task. */
const OWN = ["responses_create_params", "response", "verifier_metadata", "agent_ref", "name", "id"] as const;

export function nemoGym(context: TransportContext, handlers: Handlers): NemoGym {
  const of = (path: string, work: (body: JsonObject, call: HttpCall) => Promise<JsonObject>) => {
    const method = methodAt(context, { path: `nemo_gym${path}`, role: "trainer", streamsRequests: false });
    return [path, (request: IncomingMessage, response: ServerResponse) => void serve(request, response)] as const;

    async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
      // Admission comes before the body is read.
      const admitted = context.admission.admit(headersOf(request.headers), method);
      const call = new HttpCall(method, { request, response }, admitted instanceof RpcError ? nobody() : admitted);
      try {
        if (admitted instanceof RpcError) throw call.refusedBy(admitted);
        if (request.method !== "POST") throw call.refusedBy(new RpcError("UNIMPLEMENTED", `${path} takes POST`));
        const body = bodyOf(await call.readMessage(BODY_FORMAT));
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
      const written = writtenIn(body);
      return { ...body, ...(await step(handlers, await episodeOf(handlers, body, call), written, call)) };
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
  const body = jsonWithin(bytes, BODY_LIMITS);
  if (isObject(body)) return body;
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

/**
 * Reads the assistant's final message from a response of the Responses API, with the thoughts right before it. Messages
 * of other roles, and items before the last tool call, do not belong to the completion. Throws RpcError if the response
 * failed or has no final message: the policy wrote no answer that could earn 0.
 */
function writtenIn({ response }: JsonObject): Written {
  if (!isObject(response)) throw invalid("response", "it must be a response of the Responses API");
  const { output, status = null, error, incomplete_details: incomplete } = response;
  if (isObject(error) || !ENDED.includes(status))
    throw invalid(
      "response.status",
      `the model gave no whole response: it is ${quoted(status)}, error ${quoted(error)}`,
    );
  if (!Array.isArray(output) || output.length === 0 || !output.every(isObject))
    throw invalid("response.output", "it must be a list of items, and one of them the assistant's message");
  // Messages of other roles after the assistant's message do not belong to the completion.
  const items = output.slice(0, output.findLastIndex((item) => isAssistants(item) || roleOf(item) === undefined) + 1);
  const messages = items.slice(items.findLastIndex((item) => !isAssistants(item)) + 1);
  const before = items.slice(0, items.length - messages.length);
  const reasoning = before.slice(before.findLastIndex(({ type }) => type !== "reasoning") + 1);
  const isCut = [response, ...messages].some((each) => each["status"] === "incomplete") || isObject(incomplete);
  // A completion that was cut off within its thoughts has no message.
  if (messages.length === 0 && !(isCut && reasoning.length > 0))
    throw invalid("response.output", `it has no final message of the assistant: it ends with ${quoted(output.at(-1))}`);
  const text = messages.flatMap(textsIn).join("");
  const thoughts = reasoning.length === 0 ? undefined : reasoning.flatMap(thoughtsIn).join("\n");
  return {
    completion: withThoughts(thoughts, text, isCut),
    finishReason: isCut ? FinishReason.LENGTH : FinishReason.UNSPECIFIED,
  };
}

/** Statuses of a response whose model has finished; null: the endpoint gives no status. */
const ENDED: readonly (JsonValue | undefined)[] = [null, "completed", "incomplete"];

/** Returns the role of a message, "assistant" if the message names none; undefined: the item is no message. */
const roleOf = ({ type, role }: JsonObject) => ((type ?? "message") === "message" ? (role ?? "assistant") : undefined);
const isAssistants = (item: JsonObject): boolean => roleOf(item) === "assistant";
const quoted = (value: JsonValue | undefined): string => JSON.stringify(value ?? null).slice(0, 200);

const listed = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : []);
const isText = (part: JsonValue): boolean => isObject(part) && typeof part["text"] === "string";

function textsIn({ content }: JsonObject): readonly string[] {
  if (typeof content === "string") return [content];
  const parts = listed(content);
  if (parts.length > 0 && parts.every(isText)) return parts.map(textOf);
  const other = parts.find((part) => !isText(part));
  throw invalid("response.output", `the assistant's message must be text, and nothing else: ${quoted(other)}`);
}

/** Returns the thoughts as the model wrote them, or their summary if the response holds only that. */
function thoughtsIn({ content, summary }: JsonObject): readonly string[] {
  const parts = listed(content).length > 0 ? listed(content) : listed(summary);
  return parts.filter(isText).map(textOf);
}

const textOf = (part: JsonValue): string => (part as { readonly text: string }).text;

function send(response: ServerResponse, status: number, body: JsonObject): void {
  if (response.closed || response.headersSent) return;
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
