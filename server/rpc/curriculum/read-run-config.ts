/** Converts RunConfig between its protobuf message and the form that runs use. */
import { fromJsonString, toJsonString } from "@bufbuild/protobuf";
import type { Duration } from "@bufbuild/protobuf/wkt";
import { LIMITS } from "../../../proto/limits.ts";
import type { Environment } from "../../../envs/environment.ts";
import { assertNever } from "../../../envs/lib/assert-never.ts";
import { rowCount } from "../../../envs/pool.ts";
import { neededResource } from "../../../envs/resource.ts";
import { resolveScheme } from "../../../envs/reward/schemes.ts";
import { configProblems } from "../../curriculum/check-config.ts";
import {
  type Arm,
  type DynamicSampling,
  type EvaluationArm,
  type Lag,
  type PromptTemplate,
  type RunConfig,
} from "../../curriculum/types.ts";
import * as wire from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { Split, type TaskSpec as WireSpec } from "../../../proto/gen/gradus/v1/task_pb.js";
import type { TaskSpec } from "../../tasks/spec.ts";
import { teacherResource } from "../../outside/teacher/teacher.ts";
import {
  checkBytes,
  checkCount,
  checkDuration,
  checkId,
  checkRange,
  createProblemCollector,
  invalid,
  required,
  toCount,
} from "../request-checks.ts";
import { type Served, withFamilies } from "./expand-families.ts";
import type { ServiceDeps } from "../deps.ts";
import { growingSpec } from "./read-growth.ts";
import { invalidAt } from "../to-rpc-error.ts";
import { rowRuleFromWire } from "./row-handlers.ts";
import { lookUpEnvironment, readSpec } from "../read-task-spec.ts";
import { checkTrainer } from "./trainer-settings.ts";
import { policyFromWire } from "./read-policy.ts";

const RUN = LIMITS.RunConfig;

/** Parts of the server against which a run's configuration is checked. */
type RunDeps = Pick<ServiceDeps, "registry" | "pools" | "limits" | "teacher" | "missingPorts"> & {
  readonly isServed?: Served;
  /**
   * Configuration of the run that has this id already, if any. Its evaluation arms are accepted even if their pools
   * have fewer rows by now.
   */
  readonly existing?: RunConfig<TaskSpec> | undefined;
};

/** Reads a configuration. On failure it throws one error with all problems that it can find: see RpcError.others. */
export function runConfigFromWire(asked: wire.RunConfig, deps: RunDeps): RunConfig<TaskSpec> {
  checkCount(asked.arms.length, RUN.arms.max, "config.arms", 1);
  const config = { ...asked, arms: withFamilies(asked.arms, deps, "config.arms") };
  checkCount(config.evaluationArms.length, RUN.evaluation_arms.max, "config.evaluation_arms");
  const { each, add, problem } = createProblemCollector();
  const timeOf = (time: Duration | undefined, field: "group_timeout" | "time_to_live"): number | undefined =>
    each(() => time && checkDuration(time, 1, RUN[field].max, `config.${field}`), undefined);
  each(() => checkRange(config.numGenerations, 1, deps.limits.maxCompletions, "config.num_generations"), 0);
  const arms = config.arms.map((arm, i) =>
    each(() => armFromWire(arm, config, deps, `config.arms[${i}]`), unreadArm(arm)),
  );
  const evaluationArms = config.evaluationArms.map((arm, i) =>
    each(() => evaluationArmFromWire(arm, config, deps, `config.evaluation_arms[${i}]`), unreadEvaluationArm(arm)),
  );
  const armIds = arms.map(({ id }) => id);
  const policy = each(() => policyFromWire(config.policy, "config.", armIds, deps.existing?.policy), undefined);
  each(() => config.trainer && checkTrainer(config.trainer, "config.trainer"), undefined);
  const rest = {
    arms,
    seed: config.seed,
    numGenerations: config.numGenerations,
    length: each(() => toCount(config.length, "config.length"), 0),
    promptsPerUpdate: config.promptsPerUpdate,
    lag: lagFromWire(config.lag),
    dynamicSampling: each(() => config.dynamicSampling && dynamicSamplingFromWire(config.dynamicSampling), undefined),
    lateFeedback: config.lateFeedback && {
      batchesMax: config.lateFeedback.batchesMax,
      weight: config.lateFeedback.weight ?? 0,
    },
    promptTemplate: each(() => config.promptTemplate && templateFromWire(config.promptTemplate), undefined),
    evaluationArms,
    feedbackSource: each(() => feedbackSourceFromWire(config.feedbackSource), "step" as const),
    ignoresRounding: true,
    groupTimeoutMs: timeOf(config.groupTimeout, "group_timeout") ?? defaultTimeoutMs(arms),
    timeToLiveMs: timeOf(config.timeToLive, "time_to_live") ?? RUN.time_to_live.default,
    given: "",
  };
  // If no field was refused, the configuration contains no placeholder for an unreadable field.
  const refused = problem();
  // The JSON is written only here, because a message with an invalid duration cannot be written as JSON.
  if (refused === undefined)
    return { ...rest, policy, given: toJsonString(wire.RunConfigSchema, config) } as RunConfig<TaskSpec>;
  const weights = arms.map(({ weight }) => weight);
  // If the policy could be read, the run's own checks of the configuration add their problems.
  if (policy !== undefined) add(configProblems({ ...rest, policy }, weights).map((each) => invalidAt("config.", each)));
  throw problem() ?? refused;
}

/** Returns a placeholder for an arm that could not be read, so that the rest of the configuration can be checked. */
function unreadArm({ id, weight = 1, hard, klCoefficient }: wire.Arm): Arm {
  return {
    id,
    weight,
    hard,
    removed: false,
    source: "synthetic",
    resource: undefined,
    spec: undefined,
    rewardRange: { min: 0, max: 1 },
    ...(klCoefficient !== undefined && { klCoefficient }),
  };
}

function unreadEvaluationArm({ id, tasks, numGenerations }: wire.EvaluationArm): EvaluationArm {
  return { id, tasks, numGenerations, source: "synthetic", spec: undefined };
}

/** Returns the configuration as the message that was given when the run was created. */
export function runConfigToWire(config: Pick<RunConfig, "given">): wire.RunConfig {
  return fromJsonString(wire.RunConfigSchema, config.given);
}

/** Time that each further call of an episode adds to the default group timeout. */
const CALL_TIMEOUT_MS = 60_000;

/**
 * Returns the default group timeout in milliseconds. Without a timeout, a judge that is down, or an episode that its
 * trainer lost, would block a run for ever. Undefined: no arm needs a resource to score, and none has tasks with turns.
 */
export function defaultTimeoutMs(arms: readonly Arm[]): number | undefined {
  const calls = Math.max(0, ...arms.map(({ spec }) => (spec as Partial<TaskSpec> | undefined)?.calls ?? 0));
  // A teacher model proposes tasks before they are drawn, so no group waits for it.
  const isAsking = arms.some(({ source, resource }) => source !== "teacher" && resource !== undefined);
  if (!isAsking && calls === 0) return undefined;
  return RUN.group_timeout.default + Math.max(0, calls - 1) * CALL_TIMEOUT_MS;
}

function dynamicSamplingFromWire({ oversampleMax, alike }: wire.DynamicSampling): DynamicSampling {
  switch (alike) {
    case wire.AlikeOutcomes.UNSPECIFIED:
    case wire.AlikeOutcomes.REWARDS:
      return { oversampleMax, alike: "rewards" };
    case wire.AlikeOutcomes.SOLVED:
      return { oversampleMax, alike: "solved" };
    default:
      throw invalid("config.dynamic_sampling.alike", `${alike as number} is not a value of this enum`);
  }
}

function templateFromWire({ system, user }: wire.PromptTemplate): PromptTemplate {
  checkBytes(system ?? "", LIMITS.PromptTemplate.system.max, "config.prompt_template.system");
  checkBytes(user, LIMITS.PromptTemplate.user.max, "config.prompt_template.user");
  return { system, user };
}

/** Reads arms that are added to a run. Their unset fields get the values of the run's configuration at creation. */
export function addedArms(
  arms: readonly wire.Arm[],
  created: Pick<RunConfig, "given">,
  deps: RunDeps,
): readonly Arm<TaskSpec>[] {
  const config = runConfigToWire(created);
  const all = withFamilies(arms, deps, "add_arms");
  return all.map((arm, i) => armFromWire(arm, config, deps, `add_arms[${i}]`));
}

function armFromWire(arm: wire.Arm, config: wire.RunConfig, deps: RunDeps, field: string): Arm<TaskSpec> {
  const asked = withRunDefaults(required(arm.spec, `${field}.spec`), config);
  const { spec, grow } = arm.grow
    ? growingSpec(
        asked,
        arm.grow,
        deps,
        field,
        deps.existing?.arms.find(({ id }) => id === arm.id),
      )
    : { spec: readSpec(asked, deps, `${field}.spec`), grow: undefined };
  if (spec.split !== "train" && feedbackSourceFromWire(config.feedbackSource) === "step")
    throw invalid(
      `${field}.spec.split`,
      "scores feed the policy from SPLIT_TRAIN only: set it, or FEEDBACK_SOURCE_REPORTED",
    );
  const environment = lookUpEnvironment(deps.registry, spec.environment, spec.version, field);
  return {
    id: arm.id,
    spec,
    source: spec.source,
    weight: arm.weight ?? 1,
    hard: arm.hard,
    rewardRange: rangeOf(environment, spec, field),
    resource: spec.source === "teacher" ? teacherResource(spec) : neededResource(environment, spec)?.name,
    removed: false,
    ...(grow && { grow }),
    ...(arm.klCoefficient !== undefined && { klCoefficient: arm.klCoefficient }),
    ...(arm.rows && { rows: rowRuleFromWire(arm.rows, spec, deps, `${field}.rows`) }),
    ...(arm.rankGroup !== "" && {
      rankGroup: checkId(arm.rankGroup, LIMITS.Arm.rank_group.max, `${field}.rank_group`, "/"),
    }),
  };
}

/** Fills unset fields of an arm's specification from the run's configuration. */
function withRunDefaults(given: WireSpec, config: wire.RunConfig): WireSpec {
  return {
    ...given,
    answerFormat: given.answerFormat || config.answerFormat,
    ...(given.rewardScheme === undefined && config.rewardScheme && { rewardScheme: config.rewardScheme }),
  };
}

function evaluationArmFromWire(
  { id, spec: given, tasks, numGenerations }: wire.EvaluationArm,
  config: wire.RunConfig,
  deps: RunDeps,
  field: string,
): EvaluationArm<TaskSpec> {
  const asked = withRunDefaults(required(given, `${field}.spec`), config);
  const split = asked.split === Split.UNSPECIFIED ? Split.EVAL : asked.split;
  if (split === Split.TRAIN)
    throw invalid(
      `${field}.spec.split`,
      "a run must not be evaluated on tasks of its train split: leave the split out, or set SPLIT_BENCH",
    );
  const spec = readSpec({ ...asked, split }, deps, `${field}.spec`);
  const pool = deps.pools.get(spec.pool);
  const rows = pool === undefined ? Infinity : rowCount(pool, spec.level, spec.split);
  const isExisting = deps.existing?.evaluationArms.some((arm) => arm.id === id && arm.tasks === tasks) ?? false;
  if (tasks > rows && !isExisting)
    throw invalid(
      `${field}.tasks`,
      `must be at most ${rows}, the number of rows of pool '${spec.pool}' in that level and split; got ${tasks}`,
    );
  checkRange(numGenerations, 0, deps.limits.maxCompletions, `${field}.num_generations`);
  return { id, spec, source: spec.source, tasks, numGenerations: numGenerations || config.numGenerations };
}

function rangeOf(environment: Environment, spec: TaskSpec, field: string): Arm["rewardRange"] {
  const resolved = resolveScheme(environment, spec.rewardScheme, spec.rewardParameters, spec.calls !== undefined);
  if (resolved.kind === "invalid") throw invalid(field, resolved.message);
  return resolved.scheme.scheme.range(resolved.scheme.parameters);
}

function lagFromWire(lag: wire.RunConfig["lag"]): Lag {
  switch (lag.case) {
    case "feedbackLag":
      return { kind: "batches", count: lag.value };
    case "feedbackUnbounded":
      return lag.value ? { kind: "unbounded" } : { kind: "batches", count: RUN.feedback_lag.default };
    case undefined:
      return { kind: "batches", count: RUN.feedback_lag.default };
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
      throw invalid("config.feedback_source", `${source as number} is not a value of this enum`);
  }
}

/**
 * Replaces environment versions by those of an existing run, if the newer version still has the tasks of the older one.
 * CreateRun can then be repeated after an upgrade.
 */
export function keepVersions(
  { registry }: Pick<ServiceDeps, "registry">,
  config: RunConfig<TaskSpec>,
  existing: RunConfig<TaskSpec> | undefined,
): RunConfig<TaskSpec> {
  const kept = <Of extends Pick<Arm<TaskSpec>, "id" | "spec">>(arm: Of, before: readonly Of[] = []): Of => {
    const version = before.find(({ id }) => id === arm.id)?.spec.version;
    const found = registry.find(arm.spec.environment, arm.spec.version);
    if (version === undefined || found.kind !== "found" || !found.environment.earlier?.includes(version)) return arm;
    return { ...arm, spec: { ...arm.spec, version } };
  };
  return {
    ...config,
    arms: config.arms.map((arm) => kept(arm, existing?.arms)),
    evaluationArms: config.evaluationArms.map((arm) => kept(arm, existing?.evaluationArms)),
  };
}
