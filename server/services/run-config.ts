/** RunConfig and Policy, both ways. */
import { create, fromJson, toJson } from "@bufbuild/protobuf";
import { assertNever } from "../../envs/lib/assert-never.ts";
import type { Registry } from "../../envs/registry.ts";
import { resolveScheme } from "../../envs/reward/schemes.ts";
import type { Arm, Constraints, Lag, Policy, RunConfig } from "../curriculum/types.ts";
import * as wire from "../gen/gradus/v1/curriculum_pb.js";
import { AnswerFormat } from "../gen/gradus/v1/task_pb.js";
import { familyToJson } from "../tasks/run-source.ts";
import type { TaskFamily } from "../tasks/spec.ts";
import { checkCount, checkDuration, checkRange, invalid, required, toCount } from "./check.ts";
import type { ServiceDeps } from "./deps.ts";
import { lookUpEnvironment, resolveFamily } from "./task-spec.ts";

const ARMS_MAX = 256;
const DEFAULT_LAG = 1;
const DAY_MS = 24 * 60 * 60 * 1000;
const DEFAULT_TIME_TO_LIVE_MS = 30 * DAY_MS;
/** Choices of ours where the paper (ADSC) gives no number. */
const DEFAULT_EPSILON = 0.1;
const DEFAULT_WARMUP_BATCHES = 5;
/** ADSC section 4. */
const DEFAULT_ALPHA = 0.15;
const DEFAULT_TAU = 0.25;

export function runConfigFromWire(config: wire.RunConfig, deps: ServiceDeps): RunConfig {
  checkCount(config.arms.length, ARMS_MAX, "config.arms", 1);
  checkRange(config.numGenerations, 1, deps.limits.completionsMax, "config.num_generations");
  const feedbackSource = feedbackSourceFromWire(config.feedbackSource);
  return {
    arms: config.arms.map((arm, i) => armFromWire(arm, config, deps, `config.arms[${i}]`)),
    policy: policyFromWire(config.policy, "config.policy"),
    seed: config.seed,
    numGenerations: config.numGenerations,
    length: toCount(config.length, "config.length"),
    promptsPerUpdate: config.promptsPerUpdate,
    lag: lagFromWire(config.lag),
    feedbackSource,
    groupTimeoutMs: config.groupTimeout && checkDuration(config.groupTimeout, 1, Infinity, "config.group_timeout"),
    timeToLiveMs: config.timeToLive
      ? checkDuration(config.timeToLive, 1, Infinity, "config.time_to_live")
      : DEFAULT_TIME_TO_LIVE_MS,
    extra: toJson(wire.RunConfigSchema, config),
  };
}

/** As it was created: the contract's own form is kept beside ours. */
export function runConfigToWire(config: RunConfig): wire.RunConfig {
  return fromJson(wire.RunConfigSchema, config.extra as never);
}

function armFromWire(arm: wire.Arm, config: wire.RunConfig, deps: ServiceDeps, field: string): Arm {
  const spec = required(arm.spec, `${field}.spec`);
  if (spec.rewardScheme !== undefined)
    throw invalid(`${field}.spec.reward_scheme`, "the run's counts for all arms: set config.reward_scheme");
  if (spec.answerFormat !== AnswerFormat.UNSPECIFIED)
    throw invalid(`${field}.spec.answer_format`, "the run's counts for all arms: set config.answer_format");
  const family = resolveFamily(spec, deps, `${field}.spec`, config);
  if (family.split !== "train" && feedbackSourceFromWire(config.feedbackSource) === "step")
    throw invalid(
      `${field}.spec.split`,
      "scores feed the policy from SPLIT_TRAIN only: set it, or FEEDBACK_SOURCE_REPORTED",
    );
  return {
    id: arm.id,
    spec: familyToJson(family),
    source: family.source,
    weight: arm.weight ?? 1,
    hard: arm.hard,
    rewardRange: rangeOf(family, deps.registry, field),
  };
}

function rangeOf(
  family: TaskFamily,
  registry: Registry,
  field: string,
): { readonly min: number; readonly max: number } {
  const environment = lookUpEnvironment(registry, family.environment, family.version, field);
  const resolved = resolveScheme(environment, family.rewardScheme, family.rewardParameters);
  if (resolved.kind === "invalid") throw invalid(field, resolved.message);
  return resolved.scheme.scheme.range(resolved.scheme.parameters);
}

function lagFromWire(lag: wire.RunConfig["lag"]): Lag {
  switch (lag.case) {
    case "feedbackLag":
      return { kind: "batches", count: lag.value };
    case "feedbackUnbounded":
      return lag.value ? { kind: "unbounded" } : { kind: "batches", count: DEFAULT_LAG };
    case undefined:
      return { kind: "batches", count: DEFAULT_LAG };
    default:
      return assertNever(lag);
  }
}

function feedbackSourceFromWire(source: wire.FeedbackSource): "step" | "reported" {
  switch (source) {
    case wire.FeedbackSource.UNSPECIFIED:
    case wire.FeedbackSource.STEP:
      return "step";
    case wire.FeedbackSource.REPORTED:
      return "reported";
    default:
      throw invalid("config.feedback_source", `${source as number} is not one of the contract's`);
  }
}

export function policyFromWire(policy: wire.Policy | undefined, field: string): Policy {
  const given = required(policy, field);
  const constraints = constraintsFromWire(given.constraints);
  switch (given.kind.case) {
    case "mixture":
      return { kind: "mixture", constraints };
    case "bandit": {
      const { rule, signal, alpha, tau, epsilon } = given.kind.value;
      if (!(rule in wire.BanditRule)) throw invalid(`${field}.bandit.rule`, `${rule} is not one of the contract's`);
      if (!(signal in wire.BanditSignal))
        throw invalid(`${field}.bandit.signal`, `${signal} is not one of the contract's`);
      return {
        ...({ kind: "bandit", rule: "ema_softmax", signal: "absolute_advantage" } as const),
        alpha: alpha ?? DEFAULT_ALPHA,
        tau: tau ?? DEFAULT_TAU,
        epsilon: epsilon ?? DEFAULT_EPSILON,
        constraints,
      };
    }
    case undefined:
      throw invalid(`${field}.kind`, "it is required: set mixture or bandit");
    default:
      return assertNever(given.kind);
  }
}

/** Unset and with nothing set are the same, so that each may stand for the other when a run is created again. */
function constraintsFromWire(constraints: wire.BatchConstraints | undefined): Constraints {
  return {
    realShareMin: constraints?.realShareMin ?? 0,
    syntheticShareMax: constraints?.syntheticShareMax ?? 1,
    hardShareMin: constraints?.hardShareMin ?? 0,
    hardWarmupBatches: constraints?.hardWarmupBatches ?? DEFAULT_WARMUP_BATCHES,
  };
}

export function policyToWire(policy: Policy): wire.Policy {
  const { realShareMin, syntheticShareMax, hardShareMin, hardWarmupBatches } = policy.constraints;
  const wirePolicy = create(wire.PolicySchema, {
    constraints: { realShareMin, syntheticShareMax, hardShareMin, hardWarmupBatches },
  });
  switch (policy.kind) {
    case "mixture":
      wirePolicy.kind = { case: "mixture", value: create(wire.MixturePolicySchema) };
      return wirePolicy;
    case "bandit": {
      const { alpha, tau, epsilon } = policy;
      const rule = wire.BanditRule.EMA_SOFTMAX;
      const signal = wire.BanditSignal.ABSOLUTE_ADVANTAGE;
      const value = create(wire.BanditPolicySchema, { rule, signal, alpha, tau, epsilon });
      wirePolicy.kind = { case: "bandit", value };
      return wirePolicy;
    }
    default:
      return assertNever(policy);
  }
}
