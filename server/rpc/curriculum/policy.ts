/**
 * Converts the contract's Policy. A policy is a name with parameters, whether or not the contract has a message for it.
 */
import { fromJson, type JsonObject, toJson } from "@bufbuild/protobuf";
import type { Json } from "../../curriculum/json.ts";
import { isInvalid, type Policy } from "../../curriculum/types.ts";
import { ownKinds, readPolicy, writePolicy } from "../../curriculum/policies/registry.ts";
import { type Policy as Message, PolicySchema } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { invalid, required } from "../request-checks.ts";
import { expandWeightPatterns } from "./weight-patterns.ts";

/** NamedPolicy in JSON. */
interface Named {
  readonly name?: string;
  readonly parameters?: Json;
}

/**
 * Reads a policy. `prefix` is the path from the request to the policy, e.g. "config.". `armIds` are the arms that
 * patterns in weights can match.
 */
export function policyFromWire(message: Message | undefined, prefix = "", armIds: readonly string[] = []): Policy {
  const { constraints = {}, filter = {}, ...kind } = jsonOf(required(message, `${prefix}policy`), prefix);
  const [field, own] = Object.entries(kind)[0] ?? [];
  if (field === undefined)
    throw invalid(`${prefix}policy.kind`, `it is required: set one of ${ownKinds.join(", ")}, or named`);
  const { name = "", parameters = {} } =
    field === "named"
      ? (own as Named)
      : { name: field, parameters: expandWeightPatterns(own as JsonObject, armIds, `${prefix}policy.${field}`) };
  const policy = readPolicy({ name, parameters, constraints, filter });
  if (isInvalid(policy)) throw invalid(prefix + policy.field, policy.message);
  return policy;
}

/** Returns a policy as JSON. Refuses named parameters that JSON cannot express: a value without a kind, or NaN. */
function jsonOf(message: Message, prefix: string): JsonObject {
  try {
    return toJson(PolicySchema, message, { useProtoFieldName: true }) as JsonObject;
  } catch (error) {
    throw invalid(`${prefix}policy.named.parameters`, `are no JSON: ${(error as Error).message}`);
  }
}

export function policyToWire(policy: Policy): Message {
  const { name, parameters, ...around } = writePolicy(policy);
  const hasMessage = PolicySchema.fields.some((field) => field.name === name);
  const kind = hasMessage ? { [name]: parameters } : { named: { name, parameters } };
  return fromJson(PolicySchema, { ...kind, ...around } as JsonObject);
}
