/** Reads the body of a NeMo Gym request: the data row that chooses the task, and the model's response. */
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { withThoughts } from "../../../../envs/lib/join-thoughts.ts";
import { FinishReason } from "../../../../proto/gen/gradus/v1/environment_pb.js";
import { RpcError } from "../../../base/rpc.ts";
import { type JsonLimits, jsonWithin } from "../../http/json-codec.ts";
import { PARTS_MAX } from "../../wire/pieces.ts";
import type { Stepped, Written } from "../episode.ts";
import { type Choice, choiceOf, invalid, isObject } from "../read-task-choice.ts";
import { aggregated } from "./aggregate.ts";

/**
 * Limits of a body's JSON. NeMo Gym's training sends lists with one entry for each token, so a body has hundreds of
 * thousands of numbers but few keys.
 */
export const BODY_LIMITS: JsonLimits = { parts: PARTS_MAX, structures: 2 ** 16, depth: 100 };
/** Fields that NeMo Gym adds to a row. They do not choose the task. */
const OWN = [
  ...["responses_create_params", "response", "verifier_metadata", "agent_ref", "name", "id"],
  ...["resources_session_id", "episode_id", "task_id", "task_data"],
] as const;
/** Maximum length of the id that a client chooses for a session. */
const SESSION_ID_LENGTH_MAX = 256;

/** Results of `readMessage` for the body of a request, by path of the API. */
export interface MessageOf {
  readonly seed_session: Seed;
  readonly verify: Row;
  readonly close_session: { readonly sessionId: string };
  readonly aggregate_metrics: { readonly metrics: Uint8Array };
}

export type MessageKind = keyof MessageOf;

interface Seed {
  readonly choice: Choice;
  /**
   * Id that NeMo Gym's environment server chose for the session. Undefined: the request came from an agent, which
   * expects the task as the answer.
   */
  readonly sessionId: string | undefined;
}

interface Row {
  readonly choice: Choice;
  readonly written: Written;
  /**
   * The request's body as JSON, which the answer repeats. It lacks the closing brace and the fields of ADDED, so that
   * the answer can append its own fields.
   */
  readonly echo: Uint8Array;
}

/** Names of the fields that the answer adds to the body. */
const ADDED: readonly string[] = ["reward", "outcome"] satisfies readonly (keyof Stepped)[];

/** Reads the body of a request. Throws RpcError if the body is invalid. */
export function readMessage<Kind extends MessageKind>(kind: Kind, bytes: Uint8Array): MessageOf[Kind] {
  const readers: { readonly [Each in MessageKind]: (body: JsonObject) => MessageOf[Each] } = {
    seed_session: seedIn,
    verify: rowIn,
    close_session: (body) => ({ sessionId: sessionIdIn(body) }),
    aggregate_metrics: (body) => ({ metrics: encoded(JSON.stringify(aggregated(body))) }),
  };
  const body = jsonWithin(bytes, BODY_LIMITS);
  if (!isObject(body)) throw new RpcError("INVALID_ARGUMENT", "the body must be a JSON object");
  return readers[kind](body);
}

function seedIn(body: JsonObject): Seed {
  const { resources_session_id: id, task_data: row } = body;
  if (id === undefined) return { choice: choiceIn(body), sessionId: undefined };
  if (!isObject(row)) throw invalid("task_data", "must be an object: the data row that chooses the task");
  return { choice: choiceIn(row), sessionId: sessionIdIn(body) };
}

function sessionIdIn({ resources_session_id: id }: JsonObject): string {
  if (typeof id === "string" && id !== "" && id.length <= SESSION_ID_LENGTH_MAX) return id;
  throw invalid("resources_session_id", `must be a string of 1 to ${SESSION_ID_LENGTH_MAX} characters`);
}

function rowIn(body: JsonObject): Row {
  const written = writtenIn(body);
  const kept = Object.entries(body).filter(([name]) => !ADDED.includes(name));
  const echo = encoded(JSON.stringify(Object.fromEntries(kept)).slice(0, -1));
  return { choice: choiceIn(body), written, echo };
}

const encoded = (text: string): Uint8Array => new TextEncoder().encode(text);

export function choiceIn(body: JsonObject): Choice {
  const row = body["verifier_metadata"];
  const data = isObject(row) ? row : Object.fromEntries(Object.entries(body).filter(([name]) => !isOwn(name)));
  const unseeded = (): never => {
    throw invalid("seed", "a row must name its task by a seed, so that /seed_session and /verify use the same task");
  };
  const unplaced = (): never => {
    throw invalid(
      "cursor",
      "a row must name a run's task by its cursor, so that /seed_session and /verify use the same task",
    );
  };
  return choiceOf(data, { seed: unseeded, cursorOf: unplaced });
}

const isOwn = (name: string): boolean => (OWN as readonly string[]).includes(name) || name.startsWith("_");

/**
 * Reads the assistant's final message, with the thoughts before it, from a reply of OpenAI's Responses API. Throws
 * RpcError if the reply failed or has no final message, because then there is no completion to score.
 */
function writtenIn({ response }: JsonObject): Written {
  if (!isObject(response)) throw invalid("response", "must be a response of the Responses API");
  checkEnded(response);
  const { output, incomplete_details: incomplete } = response;
  if (!Array.isArray(output) || output.length === 0 || !output.every(isObject))
    throw invalid("response.output", "must be a list of items, one of which is the assistant's message");
  // Messages of other roles after the assistant's last message do not belong to the completion.
  const items = output.slice(0, output.findLastIndex((item) => isAssistants(item) || roleOf(item) === undefined) + 1);
  const messages = items.slice(items.findLastIndex((item) => !isAssistants(item)) + 1);
  const before = items.slice(0, items.length - messages.length);
  const reasoning = before.slice(before.findLastIndex(({ type }) => type !== "reasoning") + 1);
  const isCut = [response, ...messages].some((each) => each["status"] === "incomplete") || isObject(incomplete);
  // A completion that was cut off within its thoughts has thoughts but no message.
  if (messages.length === 0 && !(isCut && reasoning.length > 0))
    throw invalid("response.output", `must end with a message of the assistant; got ${quoted(output.at(-1))}`);
  const text = messages.flatMap(textsIn).join("");
  const thoughts = reasoning.length === 0 ? undefined : reasoning.flatMap(thoughtsIn).join("\n");
  return {
    completion: withThoughts(thoughts, text, isCut),
    finishReason: isCut ? FinishReason.LENGTH : FinishReason.UNSPECIFIED,
  };
}

/**
 * Reads the completion in a step of a Gymnasium server. The reply may call tools in place of a final message. Throws
 * RpcError if the reply failed, or has neither.
 */
export function steppedIn(body: JsonObject): Written {
  const { response } = body;
  const output = isObject(response) ? listed(response["output"]).filter(isObject) : [];
  const toolCalls = output.filter(({ type }) => type === "function_call").map(toolCallOf);
  if (!isObject(response) || toolCalls.length === 0) return writtenIn(body);
  checkEnded(response);
  const completion = output.filter(isAssistants).flatMap(textsIn).join("");
  return { completion, finishReason: FinishReason.UNSPECIFIED, toolCalls };
}

function toolCallOf({ call_id: id, name, arguments: argumentsJson }: JsonObject) {
  if (typeof id === "string" && typeof name === "string" && typeof argumentsJson === "string")
    return { id, name, argumentsJson };
  throw invalid("response.output", "a function_call must have a call_id, a name and arguments, each a text");
}

/** Throws RpcError if the model gave no complete response. */
function checkEnded({ status = null, error }: JsonObject): void {
  if (isObject(error) || !ENDED.includes(status))
    throw invalid(
      "response.status",
      `the model gave no complete response: its status is ${quoted(status)}, error ${quoted(error)}`,
    );
}

/** Statuses of a finished reply. Null: the endpoint gives no status. */
const ENDED: readonly (JsonValue | undefined)[] = [null, "completed", "incomplete"];

/** Returns a message's role, which defaults to "assistant". Undefined: the item is not a message. */
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

/** Returns the thoughts as the model wrote them, or their summary if there is nothing else. */
function thoughtsIn({ content, summary }: JsonObject): readonly string[] {
  const parts = listed(content).length > 0 ? listed(content) : listed(summary);
  return parts.filter(isText).map(textOf);
}

const textOf = (part: JsonValue): string => (part as { readonly text: string }).text;
