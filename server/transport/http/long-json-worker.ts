/**
 * Entry point of the thread that parses long JSON: requests to Gradus's own services, and messages of other gyms'
 * clients.
 */
import { createRegistry, toBinary } from "@bufbuild/protobuf";
import { move, transferableSymbol, valueSymbol } from "piscina";
import { file_gradus_v1_curriculum } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { file_gradus_v1_environment } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { file_gradus_v1_evaluation } from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import { type CodeName, RpcError } from "../../base/rpc.ts";
import {
  type MessageKind as GymnasiumKind,
  type MessageOf as GymnasiumMessages,
  readMessage as readGymnasium,
} from "../compat/gymnasium/message.ts";
import { type MessageKind, type MessageOf, readMessage as readNemo } from "../compat/nemo-gym/message.ts";
import { type OpenEnvMessage, readMessage } from "../compat/openenv/message.ts";
import { type MessageOf as RewardMessages, readMessage as readReward } from "../compat/openreward/message.ts";
import { checkParts } from "../wire/pieces.ts";
import { jsonDecoderOf } from "./json-codec.ts";

/** JSON text that the thread is to parse. */
export type Job =
  /** Message of a Gradus service. `type` is its full protobuf name. */
  | { readonly kind: "contract"; readonly type: string; readonly bytes: Uint8Array }
  | {
      readonly kind: "nemo";
      readonly of: MessageKind;
      readonly bytes: Uint8Array;
    }
  | { readonly kind: "gymnasium"; readonly of: GymnasiumKind; readonly bytes: Uint8Array }
  | { readonly kind: "openreward"; readonly of: keyof RewardMessages; readonly bytes: Uint8Array }
  | { readonly kind: "openenv"; readonly bytes: Uint8Array };

export interface ValueOf {
  /** The decoded message in protobuf's binary form. */
  readonly contract: Uint8Array;
  readonly nemo: MessageOf[MessageKind];
  readonly gymnasium: GymnasiumMessages[GymnasiumKind];
  readonly openreward: RewardMessages[keyof RewardMessages];
  readonly openenv: OpenEnvMessage;
}

export type Outcome =
  | { readonly kind: "read"; readonly value: ValueOf[Job["kind"]] }
  /** Fields of an RpcError, because class instances cannot pass between threads. */
  | { readonly kind: "refused"; readonly code: CodeName; readonly message: string; readonly field: string | undefined };

const types = createRegistry(file_gradus_v1_curriculum, file_gradus_v1_environment, file_gradus_v1_evaluation);

function contractMessage(type: string, bytes: Uint8Array): Uint8Array {
  const schema = types.getMessage(type);
  if (schema === undefined) throw new Error(`bug: the contract has no message ${type}`);
  const message = toBinary(schema, jsonDecoderOf(schema)(bytes));
  checkParts(schema, message);
  return message;
}

function read(job: Job): ValueOf[Job["kind"]] {
  if (job.kind === "contract") return contractMessage(job.type, job.bytes);
  if (job.kind === "nemo") return readNemo(job.of, job.bytes);
  if (job.kind === "gymnasium") return readGymnasium(job.of, job.bytes);
  return job.kind === "openreward" ? readReward(job.of, job.bytes) : readMessage(job.bytes);
}

/**
 * Returns the bytes in a result, which are moved to the main thread instead of being copied. Undefined: there are none.
 */
function bytesOf(value: ValueOf[Job["kind"]]): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  return "echo" in value ? value.echo : undefined;
}

function outcomeOf(job: Job): Outcome {
  try {
    return { kind: "read", value: read(job) };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const { code, message, field } = error;
    return { kind: "refused", code, message, field };
  }
}

export default function run(job: Job): unknown {
  const outcome = outcomeOf(job);
  const bytes = outcome.kind === "read" ? bytesOf(outcome.value) : undefined;
  if (bytes === undefined) return outcome;
  return move({ [transferableSymbol]: [bytes.buffer], [valueSymbol]: outcome });
}
