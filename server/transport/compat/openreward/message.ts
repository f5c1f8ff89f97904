/** Reads the JSON that OpenReward's client sends: which task a session plays, ranges of tasks, and calls of tools. */
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { parseExact } from "../../../../envs/lib/exact-json.ts";
import { RpcError } from "../../../base/rpc.ts";
import { type JsonLimits, jsonWithin } from "../../http/json-codec.ts";
import { type Choice, choiceOf, invalid, isObject } from "../read-task-choice.ts";

/** Number of tasks that the server reports for each split. Their seeds are 0 to TASKS − 1. */
export const TASKS = 1_000_000;
/** Maximum number of tasks of a range. */
const RANGE_MAX = 10_000;
/** Limits of a body's JSON. */
const LIMITS: JsonLimits = { parts: 2 ** 16, depth: 66 };

/** Splits with their types in OpenReward. A request may name a split by its type, too. */
export const splits = [
  { name: "train", type: "train" },
  { name: "eval", type: "validation" },
  { name: "bench", type: "test" },
] as const;

/** Environment and level for which a client asks. */
export interface Asked {
  /** Id of the environment, from the header X-Deployment. */
  readonly environment: string;
  /** Name of the level, which is the first part of the path. Undefined: the client names none. */
  readonly level: string | undefined;
}

/** Reads the body of a request. An empty body is an empty object. */
export function readBody(bytes: Uint8Array): JsonObject {
  if (bytes.length === 0) return {};
  const body = jsonWithin(bytes, LIMITS);
  if (isObject(body)) return body;
  throw new RpcError("INVALID_ARGUMENT", "the body must be a JSON object");
}

export function splitIn({ split }: JsonObject): string {
  const found = splits.find(({ name, type }) => split === name || split === type);
  if (found !== undefined) return found.name;
  throw invalid("split", `must be one of: ${splits.map(({ name }) => name).join(", ")}`);
}

export function indexIn({ index }: JsonObject): number {
  if (Number.isInteger(index) && Number(index) >= 0 && Number(index) < TASKS) return Number(index);
  throw invalid("index", `must be a whole number from 0 to ${TASKS - 1}`);
}

/** Returns the indices of a range as Python reads it: a negative number counts from the end. */
export function rangeIn({ start, stop }: JsonObject): readonly number[] {
  const at = (value: JsonValue | undefined, name: string, missing: number): number => {
    if (value === undefined || value === null) return missing;
    if (!Number.isInteger(value)) throw invalid(name, "must be a whole number, or be left out");
    return Math.min(Math.max(Number(value) < 0 ? Number(value) + TASKS : Number(value), 0), TASKS);
  };
  const first = at(start, "start", 0);
  const count = Math.max(at(stop, "stop", TASKS) - first, 0);
  if (count > RANGE_MAX) throw invalid("stop", `a range has at most ${RANGE_MAX} tasks; got ${count}`);
  return Array.from({ length: count }, (_, i) => first + i);
}

/** Returns the specification of a task, which a client sends back to /create. */
export function specOf({ environment, level }: Asked, split: string, seed: number): JsonObject {
  return { environment, ...(level !== undefined && { level }), split, seed };
}

/**
 * Reads which task a session plays, from the body of /create. Thoughts are not part of a tool's arguments, so the task
 * expects none unless the specification says otherwise.
 */
export function choiceIn(body: JsonObject, asked: Asked): Choice {
  const { task_spec: given, env_name: name, toolset_name: toolset = null } = body;
  if (toolset !== null) throw invalid("toolset_name", "leave it out: the tools are those of the environment");
  const level = asked.level ?? (typeof name === "string" && name !== asked.environment ? name : undefined);
  const place = { ...asked, level };
  const spec = isObject(given) ? given : specOf(place, splitIn(body), indexIn(body));
  const defaults = spec["run"] === undefined ? { environment: asked.environment, thinking: "stripped" } : {};
  const isOther = spec["environment"] !== undefined && spec["environment"] !== asked.environment;
  if (isOther)
    throw invalid("task_spec.environment", `must be ${asked.environment}, the environment in the header X-Deployment`);
  if (spec["sample_index"] !== undefined)
    throw invalid("task_spec.sample_index", "leave it out: a run gives each session an index of its own");
  const missing = (field: string) => (): never => {
    throw invalid(`task_spec.${field}`, "must be set, so that each server and each try gives the same task");
  };
  const levels = level !== undefined && spec["parameters"] === undefined && spec["run"] === undefined ? { level } : {};
  return choiceOf({ ...defaults, ...levels, ...spec }, { seed: missing("seed"), cursorOf: missing("cursor") });
}

/** Results of `readMessage`, by path; these are the paths whose requests may be long. */
export interface MessageOf {
  readonly call: ToolCall;
  readonly score_group: Candidates;
}

/** Reads a message that may be long. Throws RpcError if it is invalid. */
export function readMessage<Kind extends keyof MessageOf>(kind: Kind, bytes: Uint8Array): MessageOf[Kind] {
  const readers: { readonly [Each in keyof MessageOf]: (bytes: Uint8Array) => MessageOf[Each] } = {
    call: readCall,
    score_group: readCandidates,
  };
  return readers[kind](bytes);
}

/** Completions that are to be scored together. */
export interface Candidates {
  /** Text of the assistant's last message in each completion. */
  readonly texts: readonly string[];
}

function readCandidates(bytes: Uint8Array): Candidates {
  const { candidates } = readBody(bytes);
  if (!Array.isArray(candidates) || candidates.length === 0) throw invalid("candidates", "must have at least 1 entry");
  return { texts: candidates.map((candidate, i) => finalText(candidate, `candidates[${i}].messages`)) };
}

const listed = (value: JsonValue | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

function finalText(candidate: JsonValue, field: string): string {
  const message = isObject(candidate) ? listed(candidate["messages"]).at(-1) : undefined;
  if (message?.["role"] !== "assistant") throw invalid(field, "must end with a message of the assistant");
  return listed(message["blocks"])
    .flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []))
    .join("");
}

/** Call of a tool. */
export interface ToolCall {
  readonly name: string;
  /** Arguments as JSON, with each number as the client wrote it. */
  readonly inputJson: string;
  /** The argument `answer`, if it is a text. */
  readonly answer: string | undefined;
  /** Number of the call in its session, from a client that asks again for its result. Undefined: the call is new. */
  readonly number: number | undefined;
}

function readCall(bytes: Uint8Array): ToolCall {
  const { name, input, task_id: number } = readBody(bytes);
  if (typeof name !== "string" || name === "") throw invalid("name", "must be the name of a tool");
  if (!isObject(input)) throw invalid("input", "must be an object");
  const isNumbered = number !== undefined && number !== null;
  if (isNumbered && (typeof number !== "string" || !/^\d{1,9}$/.test(number)))
    throw invalid("task_id", "must be the one that the server sent");
  const exact = parseExact(Buffer.from(bytes).toString()) as { readonly input: unknown };
  const { answer } = input;
  return {
    name,
    inputJson: JSON.stringify(exact.input),
    answer: typeof answer === "string" ? answer : undefined,
    number: isNumbered ? Number(number) : undefined,
  };
}
