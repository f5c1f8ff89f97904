/** Reads the messages of OpenEnv's WebSocket protocol. */
import type { JsonObject } from "@bufbuild/protobuf";
import type { RawData } from "ws";
import { type JsonLimits, jsonWithin } from "../http/json-codec.ts";
import { isObject } from "./read-task-choice.ts";

/**
 * Limits of the JSON of a message. A message chooses a task or has a completion, so a few thousand keys and values are
 * enough.
 */
const MESSAGE_LIMITS: JsonLimits = { parts: 4096, depth: 32 };

export const KINDS = ["reset", "step", "state"] as const;
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
  const kind = KINDS.find((each) => each === type);
  if (kind === undefined) {
    const problem = 'the type of a message is "reset", "step", "state" or "close"';
    return { kind: "wrong", code: "UNKNOWN_TYPE", problem };
  }
  if (data === undefined || isObject(data)) return { kind, data: data ?? {} };
  return { kind: "wrong", code: "VALIDATION_ERROR", problem: "data: it must be an object" };
}
