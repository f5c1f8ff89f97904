/** Registry of policies. An operator's own policies must be registered before any run is read. */
import { isDeepStrictEqual } from "node:util";
import { didYouMean } from "../../../envs/lib/text.ts";
import { type Codec, FormatError, type Json, readObject, readText } from "../json.ts";
import { type Constraints, invalid, type Invalid, isInvalid, type Policy, type RankRange } from "../types.ts";
import { bandit } from "./bandit/bandit.ts";
import { competence } from "./competence.ts";
import { fieldsOf, UnreadField } from "./fields.ts";
import { readFilter, writeFilter } from "./filter.ts";
import { forgetting } from "./forgetting.ts";
import { frontier } from "./frontier.ts";
import { mixture } from "./mixture.ts";
import type { PolicyDefinition, RankUse, RunShape } from "./policy.ts";
import { replay } from "./replay.ts";
import { staged } from "./staged.ts";

const policies: readonly PolicyDefinition[] = [frontier, mixture, staged, replay, competence, bandit, forgetting];

const byKind = new Map(policies.map((policy) => [policy.kind, policy]));

/** Names of the policies that come with Gradus. */
export const ownKinds: readonly string[] = [...byKind.keys()];

export function policyKinds(): readonly string[] {
  return [...byKind.keys()];
}

/** Adds a policy of the operator. Throws if Gradus has a policy of the same name. */
export function registerPolicy(definition: PolicyDefinition): void {
  if (ownKinds.includes(definition.kind))
    throw new Error(`"${definition.kind}" is a policy of Gradus itself: choose another name`);
  byKind.set(definition.kind, guarded(definition));
}

const ROUNDING = 1e-6;

/** Wraps a policy so that invalid probabilities throw an error instead of drawing arbitrary arms. */
function guarded(definition: PolicyDefinition): PolicyDefinition {
  return {
    ...definition,
    probabilities(config, state, view) {
      const p = definition.probabilities(config, state, view);
      const sum = p.reduce((total, share) => total + share, 0);
      if (p.length === view.arms.length && p.every((share) => share >= 0) && Math.abs(sum - 1) <= ROUNDING) return p;
      const got = JSON.stringify(p).slice(0, 200);
      throw new Error(
        `policy "${definition.kind}" must give ${view.arms.length} shares from 0 that sum to 1, not ${got}`,
      );
    },
  };
}

export function definitionOf({ kind }: Policy): PolicyDefinition {
  const found = byKind.get(kind);
  if (found === undefined)
    throw new FormatError(`there is no policy "${kind}": give --policies with the module that defines it`);
  return found;
}

/** Policy as a client gives it: its name and unchecked parameters. */
export interface GivenPolicy {
  readonly name: string;
  readonly parameters: Json;
  /** JSON of the contract's BatchConstraints. */
  readonly constraints: Json;
  /** JSON of the contract's TaskFilter. */
  readonly filter: Json;
}

/** Default number of update batches before hard_share_min applies. The paper (ADSC 3.3) gives no number. */
const DEFAULT_WARMUP_BATCHES = 5;

/**
 * Reads constraints and fills in defaults. So a repeated CreateRun that spells out a default is recognized as the same
 * run.
 */
function readConstraints(json: Json): Constraints {
  const shares = ["real_share_min", "synthetic_share_max", "hard_share_min"] as const;
  const fields = fieldsOf(json, [...shares, "hard_warmup_batches"]);
  return {
    realShareMin: fields.number("real_share_min") ?? 0,
    syntheticShareMax: fields.number("synthetic_share_max") ?? 1,
    hardShareMin: fields.number("hard_share_min") ?? 0,
    hardWarmupBatches: fields.count("hard_warmup_batches") ?? DEFAULT_WARMUP_BATCHES,
  };
}

function writeConstraints({ hardWarmupBatches, ...shares }: Constraints): Json {
  return {
    real_share_min: shares.realShareMin,
    synthetic_share_max: shares.syntheticShareMax,
    hard_share_min: shares.hardShareMin,
    hard_warmup_batches: hardWarmupBatches,
  };
}

/**
 * Returns the result of `read`. If `read` refuses a field, returns that field instead, with a path that begins with
 * "policy".
 */
function under<T>(name: string, read: () => T): T | Invalid {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UnreadField)) throw error;
    return underPolicy(name, error.invalid);
  }
}

/**
 * Reads a policy and fills in its defaults. If `former`, unset fields get the defaults of earlier servers. An invalid
 * field is returned as a value.
 */
export function readPolicy(given: GivenPolicy, former = false): Policy | Invalid {
  const { name } = given;
  const definition = byKind.get(name);
  if (definition === undefined) {
    const near = didYouMean(name, policyKinds()) || `; there are ${policyKinds().join(", ")}`;
    return invalid("policy.named.name", name === "" ? `must be set${near}` : `there is no policy '${name}'${near}`);
  }
  const config = under(name, () => {
    const { parameters } = given;
    return former && definition.readFormer ? definition.readFormer(parameters) : definition.read(parameters);
  });
  if (isInvalid(config)) return config;
  const constraints = under("constraints", () => readConstraints(given.constraints));
  if (isInvalid(constraints)) return constraints;
  const filter = under("filter", () => readFilter(given.filter));
  if (isInvalid(filter)) return filter;
  return { kind: name, config, constraints, ...(filter && { filter }) };
}

/** Returns whether the policy came from a journal of an earlier server and holds a default that has changed since. */
export function isFormer(policy: Policy): boolean {
  const { config } = policy;
  const definition = definitionOf(policy);
  return definition.readFormer !== undefined && !isDeepStrictEqual(definition.read(definition.write(config)), config);
}

export function writePolicy(policy: Policy): GivenPolicy {
  const { kind, config, constraints, filter } = policy;
  return {
    name: kind,
    parameters: definitionOf(policy).write(config),
    constraints: writeConstraints(constraints),
    filter: filter === undefined ? {} : writeFilter(filter),
  };
}

function underPolicy(kind: string, found: Invalid): Invalid {
  return { ...found, field: `policy.${kind}.${found.field}` };
}

/**
 * Returns every rank range from which a policy draws, with its field's path from "policy" on. The filter's range comes
 * last.
 */
export function rankUsesOf(policy: Policy): readonly RankUse[] {
  const own = definitionOf(policy).ranked?.(policy.config) ?? [];
  const uses = own.map(({ field, ...use }) => ({ ...use, field: `policy.${policy.kind}.${field}` }));
  const range = policy.filter?.ranks;
  return range === undefined ? uses : [...uses, { field: FILTER_RANKS, range, draws: () => true }];
}

/** Path of the filter's rank range. The filter works under any policy and does not change the arms' shares. */
export const FILTER_RANKS = "policy.filter.ranks";

/**
 * Returns the policy with its rank ranges replaced by `ranges`. They are the same ranges in the order of rankUsesOf,
 * but say how many rows each has.
 */
export function withRankRanges(policy: Policy, ranges: readonly RankRange[]): Policy {
  const { filter } = policy;
  const config = definitionOf(policy).counted?.(policy.config, ranges) ?? policy.config;
  return { ...policy, config, ...(filter?.ranks && { filter: { ...filter, ranks: ranges.at(-1) } }) };
}

/** Returns the names of the extra score values that the policy needs from each sample. */
export function readsOf(policy: Policy): readonly string[] {
  return definitionOf(policy).reads?.(policy.config) ?? [];
}

/** Checks that the policy's own configuration is valid for the run. */
export function checkPolicyConfig(policy: Policy, run: RunShape): Invalid | undefined {
  const found = definitionOf(policy).check(policy.config, run);
  return found && underPolicy(policy.kind, found);
}

export const policyCodec: Codec<Policy> = {
  encode: (policy) => ({ ...writePolicy(policy) }),
  decode(json) {
    const { name, parameters = {}, constraints = {}, filter = {} } = readObject(json);
    const policy = readPolicy({ name: readText(name), parameters, constraints, filter }, true);
    if (isInvalid(policy)) throw new FormatError(`${policy.field}: ${policy.message}`);
    return policy;
  },
};
