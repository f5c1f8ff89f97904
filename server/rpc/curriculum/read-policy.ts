/**
 * Converts a policy between its protobuf message and the form that runs use: a name with parameters. This form also
 * fits policies that have no protobuf message, such as the operator's own.
 */
import { fromJson, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import { didYouMean } from "../../../envs/lib/text.ts";
import type { Json } from "../../curriculum/json.ts";
import { isInvalid, type Policy } from "../../curriculum/types.ts";
import { definitionOf, isFormer, ownKinds, readPolicy, writePolicy } from "../../curriculum/policies/registry.ts";
import { type Policy as Message, PolicySchema } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { invalid, required } from "../request-checks.ts";
import { matchesPattern } from "./expand-families.ts";

/** JSON form of the message NamedPolicy. */
interface Named {
  readonly name?: string;
  readonly parameters?: Json;
}

/**
 * Reads a policy. `prefix` is the path to the policy in errors, e.g. "config.". `armIds` are the ids that patterns in
 * weights can match. `existing` is the policy of an existing run that a caller creates again: if it has defaults of an
 * earlier server version, they apply here too.
 */
export function policyFromWire(
  message: Message | undefined,
  prefix = "",
  armIds: readonly string[] = [],
  existing?: Policy,
): Policy {
  const { constraints = {}, filter = {}, ...kind } = jsonOf(required(message, `${prefix}policy`), prefix);
  const [field, own] = Object.entries(kind)[0] ?? [];
  if (field === undefined)
    throw invalid(
      `${prefix}policy.kind`,
      `must be set: give one of ${ownKinds.join(", ")}, or \`named\` with the name of a policy`,
    );
  const { name = "", parameters = {} } =
    field === "named"
      ? (own as Named)
      : { name: field, parameters: expandWeightPatterns(own as JsonObject, armIds, `${prefix}policy.${field}`) };
  const former = existing?.kind === name && isFormer(existing);
  const policy = readPolicy({ name, parameters, constraints, filter }, former);
  if (isInvalid(policy)) throw invalid(prefix + policy.field, policy.message);
  return policy;
}

/** Returns a policy as JSON. Refuses parameters that JSON cannot express, e.g. NaN. */
function jsonOf(message: Message, prefix: string): JsonObject {
  try {
    return toJson(PolicySchema, message, { useProtoFieldName: true }) as JsonObject;
  } catch (error) {
    throw invalid(`${prefix}policy.named.parameters`, `are not JSON: ${(error as Error).message}`);
  }
}

/**
 * Converts a policy to its protobuf message. `promptsPerUpdate` is that of the policy's run, for parameters that depend
 * on it. Undefined: it is not known.
 */
export function policyToWire(policy: Policy, promptsPerUpdate?: number): Message {
  const { name, parameters: written, ...around } = writePolicy(policy);
  const parameters = definitionOf(policy).tell?.(policy.config, promptsPerUpdate) ?? written;
  const hasMessage = PolicySchema.fields.some((field) => field.name === name);
  const kind = hasMessage ? { [name]: parameters } : { named: { name, parameters } };
  return fromJson(PolicySchema, { ...kind, ...around } as JsonObject);
}

// The next functions expand patterns in the weights of a policy. A pattern such as np/* gives its weight to each arm
// whose id matches.

/**
 * Expands the patterns (e.g. "np/*") in the weights of one stage, tier or domain. An arm that is also named without a
 * pattern keeps its own weight. An arm that matches two patterns is refused.
 */
function expandPatterns(weights: JsonObject, armIds: readonly string[], field: string): JsonObject {
  const own = Object.entries(weights).filter(([name]) => !name.includes("*"));
  const matched = new Map<string, string>();
  const spelled: [string, JsonValue][] = [];
  for (const pattern of Object.keys(weights).filter((name) => name.includes("*"))) {
    const ids = armIds.filter((id) => matchesPattern(pattern, id));
    const at = `${field}["${pattern}"]`;
    if (ids.length === 0)
      throw invalid(at, `matches no arm${didYouMean(pattern, armIds) || `; there are ${armIds.join(", ")}`}`);
    for (const id of ids.filter((each) => !Object.hasOwn(weights, each))) {
      const other = matched.get(id);
      if (other !== undefined)
        throw invalid(at, `arm '${id}' also matches '${other}': give this arm a weight by its own id`);
      matched.set(id, pattern);
      spelled.push([id, weights[pattern] ?? 0]);
    }
  }
  return Object.fromEntries([...own, ...spelled]);
}

const PARTS: readonly string[] = ["stages", "tiers", "domains"];

/** Returns the policy's parameters after expanding patterns in the weights of its stages, tiers and domains. */
function expandWeightPatterns(parameters: JsonObject, armIds: readonly string[], field: string): JsonObject {
  const entries = Object.entries(parameters).map(([name, parts]) => {
    if (!PARTS.includes(name) || !Array.isArray(parts)) return [name, parts] as const;
    const spelled = (parts as readonly JsonObject[]).map(({ weights, ...part }, i) =>
      weights === undefined
        ? part
        : { ...part, weights: expandPatterns(weights as JsonObject, armIds, `${field}.${name}[${i}].weights`) },
    );
    return [name, spelled] as const;
  });
  return Object.fromEntries(entries);
}
