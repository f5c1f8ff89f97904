/** Checks a run's configuration, policy and weights. Error messages use the field names of the gRPC contract. */
import { LIMITS } from "../../proto/limits.ts";
import { checkGrowth } from "./check-growth.ts";
import { checkConstraints } from "./constraints.ts";
import { first, inRange, WEIGHT_MAX, zeroOrMore } from "./policies/policy.ts";
import { checkFilter, looksBack } from "./policies/filter.ts";
import { checkPolicyConfig, definitionOf, rankUsesOf, withRankRanges, writePolicy } from "./policies/registry.ts";
import { checkRowArms } from "./row-arms.ts";
import { needsTwo } from "./signals.ts";
import { EVALUATION_SAMPLES_MAX, OPEN_SAMPLES_MAX } from "./state.ts";
import {
  invalid,
  PROMPT_MARK,
  slotsFor,
  type Arm,
  type Constraints,
  type Invalid,
  type Policy,
  type RunConfig,
} from "./types.ts";

/** Maximum absolute value of a reward or an advantage. It keeps sums and squares over all samples of a run finite. */
export const REWARD_MAX = 1e9;
const RUN = LIMITS.RunConfig;

function wholeInRange(field: string, value: number, min: number, max: number): Invalid | undefined {
  if (Number.isInteger(value) && value >= min && value <= max) return undefined;
  return invalid(field, `must be a whole number in [${min}, ${max}], not ${value}`);
}

export function checkRunId(runId: string): Invalid | undefined {
  const { max } = LIMITS.CreateRunRequest.run_id;
  if (/^[a-zA-Z0-9._-]+$/.test(runId) && runId.length <= max) return undefined;
  return invalid("run_id", `must be 1 to ${max} of the characters a-z A-Z 0-9 . _ -`);
}

function checkArmId(field: string, id: string): Invalid | undefined {
  const { max } = LIMITS.Arm.id;
  if (/^[a-zA-Z0-9._/-]+$/.test(id) && id.length <= max) return undefined;
  return invalid(field, `must be 1 to ${max} of the characters a-z A-Z 0-9 . _ / -`);
}

function checkArm(arm: Arm, i: number): Invalid | undefined {
  const { min, max } = arm.rewardRange;
  return first([
    () => checkArmId(`arms[${i}].id`, arm.id),
    () => zeroOrMore(`arms[${i}].weight`, arm.weight, WEIGHT_MAX),
    () => zeroOrMore(`arms[${i}].kl_coefficient`, arm.klCoefficient ?? 0, LIMITS.Arm.kl_coefficient.max),
    () =>
      min >= -REWARD_MAX && max <= REWARD_MAX && min <= max
        ? undefined
        : invalid(
            `arms[${i}].spec.reward_scheme`,
            `its rewards must be in [${-REWARD_MAX}, ${REWARD_MAX}], not [${min}, ${max}]`,
          ),
  ]);
}

function armProblems(arms: readonly Arm[]): readonly Invalid[] {
  if (arms.length < 1 || arms.length > RUN.arms.max)
    return [invalid("arms", `must have 1 to ${RUN.arms.max} entries, not ${arms.length}`)];
  const ids = new Set<string>();
  return arms.flatMap((arm, i) => {
    const isTaken = ids.has(arm.id);
    ids.add(arm.id);
    const found = checkArm(arm, i);
    if (found !== undefined) return [found];
    return isTaken ? [invalid(`arms[${i}].id`, `"${arm.id}" is the id of an earlier arm: give each arm its own`)] : [];
  });
}

function checkEvaluationArms({ arms, evaluationArms }: RunConfig): Invalid | undefined {
  const { max } = RUN.evaluation_arms;
  if (evaluationArms.length > max)
    return invalid("evaluation_arms", `must have at most ${max} entries, not ${evaluationArms.length}`);
  const ids = new Set(arms.map(({ id }) => id));
  for (const [i, { id, tasks }] of evaluationArms.entries()) {
    const field = `evaluation_arms[${i}]`;
    const found =
      checkArmId(`${field}.id`, id) ?? wholeInRange(`${field}.tasks`, tasks, 1, LIMITS.EvaluationArm.tasks.max);
    if (found !== undefined) return found;
    if (ids.has(id)) return invalid(`${field}.id`, `"${id}" is the id of another arm: give each arm its own`);
    ids.add(id);
  }
  const samples = evaluationArms.reduce((sum, { tasks, numGenerations }) => sum + tasks * numGenerations, 0);
  if (samples <= EVALUATION_SAMPLES_MAX) return undefined;
  const limit = `tasks × num_generations of all evaluation arms may be at most ${EVALUATION_SAMPLES_MAX} samples`;
  return invalid("evaluation_arms", `${limit}, not ${samples}: lower one of them`);
}

/**
 * Checks the maximum number of samples that can wait for results at the same time, over all update batches that the
 * feedback lag allows. It must not exceed OPEN_SAMPLES_MAX.
 */
function checkOpenSamples({ promptsPerUpdate, numGenerations, lag, dynamicSampling }: RunConfig): Invalid | undefined {
  const batches = lag.kind === "batches" ? lag.count + 1 : 1;
  const samples = slotsFor(promptsPerUpdate, dynamicSampling) * numGenerations * batches;
  if (samples <= OPEN_SAMPLES_MAX) return undefined;
  const oversample = dynamicSampling === undefined ? "" : " × dynamic_sampling.oversample_max";
  const product = `prompts_per_update${oversample} × num_generations × (feedback_lag + 1)`;
  return invalid(
    "prompts_per_update",
    `${product} may be at most ${OPEN_SAMPLES_MAX} samples, not ${samples}: lower one of them`,
  );
}

/**
 * Start of the error messages that refuse num_generations 1. With one completion per prompt, the server has nothing to
 * compare it with.
 */
const TOO_FEW = "must be at least 2";

function checkDynamicSampling({ dynamicSampling, feedbackSource, numGenerations }: RunConfig): Invalid | undefined {
  if (dynamicSampling === undefined) return undefined;
  const { oversampleMax, alike } = dynamicSampling;
  if (numGenerations === 1 && feedbackSource === "step")
    return invalid(
      "num_generations",
      `${TOO_FEW} with dynamic_sampling, not 1: a single completion equals itself, so every group would be useless`,
    );
  if (alike === "solved" && feedbackSource === "reported")
    return invalid(
      "dynamic_sampling.alike",
      "with reported advantages the server does not know what is solved: use ALIKE_OUTCOMES_REWARDS",
    );
  return inRange("dynamic_sampling.oversample_max", oversampleMax, 1, LIMITS.DynamicSampling.oversample_max.max);
}

function checkLateFeedback({ lateFeedback }: RunConfig): Invalid | undefined {
  if (lateFeedback === undefined) return undefined;
  const { batchesMax, weight } = lateFeedback;
  return (
    wholeInRange("late_feedback.batches_max", batchesMax, 0, LIMITS.LateFeedback.batches_max.max) ??
    zeroOrMore("late_feedback.weight", weight, 1)
  );
}

function checkTemplate({ promptTemplate }: RunConfig): Invalid | undefined {
  const count = (promptTemplate?.user ?? "").split(PROMPT_MARK).length - 1;
  if (promptTemplate === undefined || promptTemplate.user === "" || count === 1) return undefined;
  return invalid(
    "prompt_template.user",
    `must hold ${PROMPT_MARK} once, where the task's prompt goes, not ${count} times`,
  );
}

function checkShares(constraints: Constraints): Invalid | undefined {
  const name = "policy.constraints";
  return first([
    () => zeroOrMore(`${name}.real_share_min`, constraints.realShareMin, 1),
    () => zeroOrMore(`${name}.synthetic_share_max`, constraints.syntheticShareMax, 1),
    () => zeroOrMore(`${name}.hard_share_min`, constraints.hardShareMin, 1),
    () => wholeInRange(`${name}.hard_warmup_batches`, constraints.hardWarmupBatches, 0, 2 ** 32 - 1),
  ]);
}

/**
 * Returns the path of the policy's field that needs to know which samples are solved, e.g. "policy.filter". Undefined:
 * no field needs it.
 */
function needsSolved(policy: Policy): string | undefined {
  const field = definitionOf(policy).needsSolved?.(policy.config);
  if (field !== undefined) return `policy.${policy.kind}.${field}`;
  return looksBack(policy.filter) ? "policy.filter" : undefined;
}

/** Refuses a policy that needs to know which samples are solved, if the trainer reports only advantages. */
function checkSolvedKnown(policy: Policy, { feedbackSource }: RunConfig): Invalid | undefined {
  const field = feedbackSource === "reported" ? needsSolved(policy) : undefined;
  if (field === undefined) return undefined;
  return invalid(
    field,
    "needs to know which samples are solved, and reported advantages do not say it: set feedback_source STEP",
  );
}

/** Refuses a learning signal that compares a group's completions, if each group has only one completion. */
function checkSignalThere(policy: Policy, { feedbackSource, numGenerations, arms }: RunConfig): Invalid | undefined {
  if (numGenerations !== 1 || feedbackSource !== "step") return undefined;
  const signals = arms.map(({ id }) => definitionOf(policy).signal?.(policy.config, id));
  const signal = signals.find((name) => name !== undefined && needsTwo(name));
  if (signal === undefined) return undefined;
  const remedy = "give more, or signal LEARNING_PROGRESS, which takes one";
  return invalid(
    "num_generations",
    `${TOO_FEW} with the signal ${signal} of policy.${policy.kind}, not 1: no group would give a signal, and nothing would be learnt; ${remedy}`,
  );
}

/**
 * Refuses a policy with a part, such as a stage, that is shorter than an update batch. A batch belongs to the part of
 * its first task, so a short part might never be drawn. Runs that already have such a part continue.
 */
export function checkParts({ length, promptsPerUpdate }: RunConfig, policy: Policy): Invalid | undefined {
  const least = length === 0 ? promptsPerUpdate : Math.min(promptsPerUpdate, length);
  const parts = definitionOf(policy).lasts?.(policy.config, length) ?? [];
  const short = parts.find(({ tasks }) => Math.round(tasks) < least);
  if (short === undefined) return undefined;
  const words = `lasts ${Math.round(short.tasks)} tasks, less than an update batch of ${promptsPerUpdate}`;
  return invalid(`policy.${policy.kind}.${short.field}`, `${words}: make it longer, or lower prompts_per_update`);
}

interface PolicyInForce {
  readonly config: RunConfig;
  readonly policy: Policy;
  readonly weights: readonly number[];
}

/** Progress of a run. After a change, the configuration is checked only for the prompts that are still to be drawn. */
interface RunProgress {
  /** Number of prompts drawn so far, without the spare tasks of dynamic sampling. */
  readonly prompts: number;
}

function policyProblems({ config, policy }: PolicyInForce): readonly Invalid[] {
  return known([
    checkPolicyConfig(policy, { armIds: config.arms.map(({ id }) => id), length: config.length }),
    checkFilter(policy.filter),
    checkSolvedKnown(policy, config),
    checkRowArms({ ...config, policy }),
    checkGrowth({ ...config, policy }),
    checkSignalThere(policy, config),
    checkShares(policy.constraints),
  ]);
}

/** Checks that a run's arms, policy and weights fit together. */
export function checkPolicy(run: PolicyInForce & RunProgress): Invalid | undefined {
  const { config, policy, weights, prompts } = run;
  return policyProblems(run)[0] ?? checkConstraints({ ...config, policy, weights, prompts });
}

/** Checks new weights, given by arm id. Each arm must belong to the run, and each weight must be in range. */
export function checkWeights(config: RunConfig, weights: Readonly<Record<string, number>>): Invalid | undefined {
  const ids = new Set(config.arms.map((arm) => arm.id));
  const removed = new Set(config.arms.filter((arm) => arm.removed).map((arm) => arm.id));
  for (const [id, weight] of Object.entries(weights)) {
    if (!ids.has(id)) return invalid(`weights["${id}"]`, "is not an arm of the run");
    if (removed.has(id)) return invalid(`weights["${id}"]`, "the arm was removed from the run");
    const found = zeroOrMore(`weights["${id}"]`, weight, WEIGHT_MAX);
    if (found !== undefined) return found;
  }
  return undefined;
}

function known(found: readonly (Invalid | undefined)[]): readonly Invalid[] {
  return found.filter((one) => one !== undefined);
}

/**
 * Returns all problems of a configuration's fields. It does not check whether the arms can meet policy.constraints,
 * e.g. a minimum share of real tasks.
 */
export function configProblems(config: RunConfig, weights: readonly number[]): readonly Invalid[] {
  const { lag, policy } = config;
  return [
    ...armProblems(config.arms),
    ...known([
      wholeInRange("num_generations", config.numGenerations, 1, 2 ** 32 - 1),
      wholeInRange("length", config.length, 0, Number.MAX_SAFE_INTEGER),
      wholeInRange("prompts_per_update", config.promptsPerUpdate, 1, RUN.prompts_per_update.max),
      lag.kind === "batches" ? wholeInRange("feedback_lag", lag.count, 0, RUN.feedback_lag.max) : undefined,
      checkDynamicSampling(config),
      checkLateFeedback(config),
      checkTemplate(config),
      checkOpenSamples(config),
      checkEvaluationArms(config),
      inRange("group_timeout", config.groupTimeoutMs ?? 1, 1, Number.MAX_SAFE_INTEGER),
      inRange("time_to_live", config.timeToLiveMs, 1, Number.MAX_SAFE_INTEGER),
    ]),
    ...policyProblems({ config, policy, weights }),
  ];
}

/**
 * Checks whether a run can be created with this configuration. The caller checks the server's own limit of
 * num_generations.
 */
export function checkConfig(
  config: RunConfig,
  weights: readonly number[] = config.arms.map((arm) => arm.weight),
  { prompts }: RunProgress = { prompts: 0 },
): Invalid | undefined {
  const [found, ...others] = configProblems(config, weights);
  if (found === undefined) return checkConstraints({ ...config, weights, prompts });
  return others.length === 0 ? found : { ...found, others };
}

// Functions that compare the configurations of two CreateRun calls for the same run.

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** Returns the path of the first difference between two JSON-like values. Undefined: they are equal. */
function firstDifference(a: unknown, b: unknown, path: string): string | undefined {
  if (a === b) return undefined;
  if (!isPlain(a) || !isPlain(b) || Array.isArray(a) !== Array.isArray(b)) return path;
  if (Array.isArray(a) && Array.isArray(b) && a.length !== b.length) return path;
  for (const name of [...new Set([...Object.keys(a), ...Object.keys(b)])].sort()) {
    const step = Array.isArray(a) ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`;
    const found = firstDifference(a[name], b[name], step);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns a path of domain fields in the field names of the gRPC contract, e.g. "feedback_lag" for "lag.count". */
function contractName(path: string, policyKind: string): string {
  return (
    path
      .replace(/^lag.*/, "feedbackLag")
      .replace(/^policy\.parameters\b/, `policy.${policyKind}`)
      // A map's keys are chosen by the caller, so they are not translated.
      .replace(/(\.weights)\..*/, "$1")
      .replace(/rewardRange.*/, "spec.rewardScheme")
      .replace(/resource$/, "spec.environment")
      .replace(/Ms$/, "")
      .replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  );
}

/**
 * Returns the arm with 0 as its number of rows, so that comparisons ignore this number. Rows of a data pool may be
 * added or removed during a run.
 */
function uncountedArm(arm: Arm): Arm {
  return arm.rows === undefined || arm.source !== "real" ? arm : { ...arm, rows: { ...arm.rows, rows: 0 } };
}

function uncounted(policy: Policy): Policy {
  const ranges = rankUsesOf(policy).map(({ range: { rows: _rows, ...range } }) => range);
  return ranges.length === 0 ? policy : withRankRanges(policy, ranges);
}

/**
 * Returns the first field in which two configurations of a run differ, by its name in the gRPC contract. Undefined:
 * they are equal. The field `given`, the text that the client sent, is ignored, because one text may spell out a
 * default and the other not.
 */
export function differingField(a: RunConfig, b: RunConfig): string | undefined {
  if (a.policy.kind !== b.policy.kind) return "policy.kind";
  // `given` and `ignoresRounding` are not compared. The second depends on the server that created the run, not on the
  // caller.
  const ignored = { given: "", ignoresRounding: true };
  const [one, other] = [a, b].map((config) => ({
    ...config,
    ...ignored,
    arms: config.arms.map(uncountedArm),
    policy: writePolicy(uncounted(config.policy)),
  }));
  const path = firstDifference(one, other, "");
  return path === undefined ? undefined : contractName(path, a.policy.kind);
}
