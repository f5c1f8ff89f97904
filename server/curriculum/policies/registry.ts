/** The one place where policies are registered, and from which all others reach them. */
import { create, fromJsonString, toJson } from "@bufbuild/protobuf";
import { type BatchConstraints, type Policy as Message, PolicySchema } from "../../gen/gradus/v1/curriculum_pb.js";
import { type Codec, FormatError } from "../core/json.ts";
import { type Constraints, invalid, type Invalid, isInvalid, type Policy } from "../core/types.ts";
import { bandit } from "./bandit/bandit.ts";
import { competence } from "./competence.ts";
import { filterFromWire, filterToWire } from "./filter.ts";
import { forgetting } from "./forgetting.ts";
import { mixture } from "./mixture.ts";
import type { PolicyDefinition, RankUse, RunShape } from "./policy.ts";
import { replay } from "./replay.ts";
import { staged } from "./staged.ts";

const policies: readonly PolicyDefinition[] = [mixture, staged, replay, competence, bandit, forgetting];

const byKind: ReadonlyMap<string, PolicyDefinition> = new Map(policies.map((policy) => [policy.kind, policy]));

export const policyKinds: readonly string[] = [...byKind.keys()];

export function definitionOf({ kind }: Policy): PolicyDefinition {
  const found = byKind.get(kind);
  if (found === undefined) throw new FormatError(`there is no policy "${kind}"`);
  return found;
}

/** A choice of ours where the paper (ADSC 3.3) gives no number. */
const DEFAULT_WARMUP_BATCHES = 5;

/** Unset and with nothing set are the same, so that each may stand for the other when a run is created again. */
function constraintsFromWire(constraints: BatchConstraints | undefined): Constraints {
  return {
    realShareMin: constraints?.realShareMin ?? 0,
    syntheticShareMax: constraints?.syntheticShareMax ?? 1,
    hardShareMin: constraints?.hardShareMin ?? 0,
    hardWarmupBatches: constraints?.hardWarmupBatches ?? DEFAULT_WARMUP_BATCHES,
  };
}

/** The policy of a message; fields are named from "policy" down. */
export function policyFromWire(message: Message | undefined): Policy | Invalid {
  if (message === undefined) return invalid("policy", "it is required");
  const { case: kind, value } = message.kind;
  const definition = kind === undefined ? undefined : byKind.get(kind);
  if (definition === undefined) return invalid("policy.kind", `it is required: set one of ${policyKinds.join(", ")}`);
  const config = definition.fromWire(value);
  if (isInvalid(config)) return underPolicy(definition.kind, config);
  const constraints = constraintsFromWire(message.constraints);
  const filter = filterFromWire(message.filter);
  return { kind: definition.kind, config, constraints, ...(filter && { filter }) };
}

export function policyToWire(policy: Policy): Message {
  const kind = definitionOf(policy).toWire(policy.config);
  const filter = filterToWire(policy.filter);
  return create(PolicySchema, { kind, constraints: { ...policy.constraints }, ...(filter && { filter }) });
}

function underPolicy(kind: string, found: Invalid): Invalid {
  return { ...found, field: `policy.${kind}.${found.field}` };
}

/** Every range of ranks that a policy draws in, named from "policy" down. */
export function rankUsesOf(policy: Policy): readonly RankUse[] {
  const own = definitionOf(policy).ranked?.(policy.config) ?? [];
  const ranges = own.map(({ field, draws }) => ({ field: `policy.${policy.kind}.${field}`, draws }));
  return policy.filter?.ranks === undefined ? ranges : [...ranges, { field: "policy.filter.ranks", draws: () => true }];
}

/** Whether the policy's own configuration goes with a run. */
export function checkPolicyConfig(policy: Policy, run: RunShape): Invalid | undefined {
  const found = definitionOf(policy).check(policy.config, run);
  return found && underPolicy(policy.kind, found);
}

/** A policy in the journal is its message in the contract's JSON. */
export const policyCodec: Codec<Policy> = {
  encode: (policy) => toJson(PolicySchema, policyToWire(policy)),
  decode(json) {
    const policy = policyFromWire(fromJsonString(PolicySchema, JSON.stringify(json)));
    if (isInvalid(policy)) throw new FormatError(`${policy.field}: ${policy.message}`);
    return policy;
  },
};
