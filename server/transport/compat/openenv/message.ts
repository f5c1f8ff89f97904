/** Reads the messages of OpenEnv's WebSocket protocol, and the JSON-RPC requests of its path /mcp. */
import type { JsonObject } from "@bufbuild/protobuf";
import type { RawData } from "ws";
import { parseExact, repeatedKey } from "../../../../envs/lib/exact-json.ts";
import { type JsonLimits, jsonWithin } from "../../http/json-codec.ts";
import { invalid, isObject } from "../read-task-choice.ts";

/**
 * Limits of the JSON of a message. A message chooses a task or has a completion, so a few thousand keys and values are
 * enough.
 */
const MESSAGE_LIMITS: JsonLimits = { parts: 4096, depth: 32 };

const TYPES = ["reset", "step", "state"] as const;
/** Kinds of messages. The last two are steps whose action lists or calls tools. */
export const KINDS = [...TYPES, "list_tools", "call_tool"] as const;
export type Kind = (typeof KINDS)[number];

export type OpenEnvMessage =
  | { readonly kind: Kind; readonly data: JsonObject }
  /** Message that breaks the protocol, with OpenEnv's error code. */
  | { readonly kind: "wrong"; readonly code: string; readonly problem: string };

/**
 * Returns whether a message ends the session. Such a message has no fields besides its type. The cast is safe, because
 * the WebSocketServer delivers each message as one Buffer.
 */
export const isClose = (raw: RawData): boolean =>
  (raw as Buffer).length < 100 && /^\s*\{\s*"type"\s*:\s*"close"\s*\}\s*$/.test((raw as Buffer).toString());

/** Reads a message. Throws RpcError if it exceeds a limit. */
export function readMessage(bytes: Uint8Array): OpenEnvMessage {
  const message = jsonWithin(bytes, MESSAGE_LIMITS);
  if (message === undefined) return { kind: "wrong", code: "INVALID_JSON", problem: "the message is not JSON" };
  const { type, data } = isObject(message) ? message : {};
  const kind = TYPES.find((each) => each === type);
  if (kind === undefined) {
    const problem = 'the type of a message is "reset", "step", "state" or "close"';
    return { kind: "wrong", code: "UNKNOWN_TYPE", problem };
  }
  if (data !== undefined && !isObject(data))
    return { kind: "wrong", code: "VALIDATION_ERROR", problem: "data: it must be an object" };
  if (kind === "step" && data?.["type"] === "list_tools") return { kind: "list_tools", data: {} };
  if (kind !== "step" || data?.["type"] !== "call_tool") return { kind, data: data ?? {} };
  return { kind: "call_tool", data: callIn(data["tool_name"], bytes, "data") };
}

/** Request of JSON-RPC. */
export interface RpcRequest {
  readonly id: JsonObject[string];
  readonly method: string;
  readonly params: JsonObject;
}

/** Codes of JSON-RPC for requests that cannot be read. */
export const [PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS] = [-32700, -32600, -32602] as const;

/** Reads a request of JSON-RPC. Returns an error code of JSON-RPC if the bytes are no such request. */
export function readRequest(bytes: Uint8Array): RpcRequest | typeof PARSE_ERROR | typeof INVALID_REQUEST {
  const request = jsonWithin(bytes, MESSAGE_LIMITS);
  if (request === undefined) return PARSE_ERROR;
  if (!isObject(request)) return INVALID_REQUEST;
  const { jsonrpc, id = null, method, params = {} } = request;
  if (jsonrpc !== "2.0" || typeof method !== "string") return INVALID_REQUEST;
  if (!isObject(params)) throw invalid("params", "it must be an object");
  return { id, method, params: method === "tools/call" ? readCall(params, bytes) : params };
}

function readCall({ name, session_id: session = null }: JsonObject, bytes: Uint8Array): JsonObject {
  return { ...callIn(name, bytes, "params"), session_id: session };
}

/**
 * Reads the call of a tool. The arguments, in the field `within` of the message, are returned as JSON text with each
 * number as the client wrote it, because JSON.parse would round long numbers.
 */
function callIn(name: JsonObject[string] | undefined, bytes: Uint8Array, within: "data" | "params"): JsonObject {
  if (typeof name !== "string") throw invalid("name", "it must be the tool's name");
  const text = new TextDecoder().decode(bytes);
  const twice = repeatedKey(text);
  if (twice !== undefined) throw invalid(twice.slice(0, 100), "an object has this key twice");
  const { [within]: call } = parseExact(text) as Readonly<Record<string, { readonly arguments?: unknown }>>;
  return { tool_name: name, arguments_json: JSON.stringify(call?.arguments ?? {}) };
}
