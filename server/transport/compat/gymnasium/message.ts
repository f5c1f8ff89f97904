/**
 * Reads the bodies of POST /reset and /step, which two gyms have: NeMo Gym's servers of its class GymnasiumServer, and
 * OpenEnv's. Only bodies of NeMo Gym have `responses_create_params`.
 */
import { randomBytes } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { RpcError } from "../../../base/rpc.ts";
import { jsonWithin } from "../../http/json-codec.ts";
import type { Written } from "../episode.ts";
import { BODY_LIMITS, choiceIn, steppedIn } from "../nemo-gym/message.ts";
import { writtenIn } from "../openenv/play.ts";
import { taskOfSplit } from "../openenv/tasks.ts";
import { type Choice, choiceOf, invalid, isObject } from "../read-task-choice.ts";

export type GymName = "nemo-gym" | "openenv";

/** Results of `readMessage` for the body of a request, by path. */
export interface MessageOf {
  readonly reset: { readonly gym: GymName; readonly choice: Choice };
  readonly step: { readonly gym: GymName; readonly written: Written };
}

export type MessageKind = keyof MessageOf;

/** Reads the body of a request. Throws RpcError if it is invalid. */
export function readMessage<Kind extends MessageKind>(kind: Kind, bytes: Uint8Array): MessageOf[Kind] {
  const body = bytes.length === 0 ? {} : jsonWithin(bytes, BODY_LIMITS);
  if (!isObject(body)) throw new RpcError("INVALID_ARGUMENT", "the body must be a JSON object");
  const gym: GymName = body["responses_create_params"] === undefined ? "openenv" : "nemo-gym";
  const readers: { readonly [Each in MessageKind]: () => MessageOf[Each] } = {
    reset: () => ({ gym, choice: gym === "nemo-gym" ? choiceIn(body) : choiceOfOpenEnv(body) }),
    step: () => ({ gym, written: gym === "nemo-gym" ? steppedIn(body) : writtenOfOpenEnv(body) }),
  };
  return readers[kind]();
}

function choiceOfOpenEnv(body: JsonObject): Choice {
  const seed = (): bigint => randomBytes(8).readBigUInt64BE();
  return choiceOf(taskOfSplit(body), { seed, cursorOf: () => undefined });
}

function writtenOfOpenEnv({ action }: JsonObject): Written {
  if (!isObject(action)) throw invalid("action", "must be an object with the completion");
  return writtenIn(action);
}
