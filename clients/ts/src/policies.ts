/** Settings of a policy as plain objects, and their conversion to the protobuf messages of gradus.v1. */
import { create, isMessage, type DescMessage, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import { GradusError } from "./errors.ts";
import {
  BanditPolicySchema,
  BanditSignal,
  BatchConstraintsSchema,
  CompetencePolicySchema,
  CompetenceStep,
  DomainSchema,
  ForgettingPolicySchema,
  FrontierPolicySchema,
  LearningProgressSchema,
  MixturePolicySchema,
  NamedPolicySchema,
  PolicySchema,
  RankRangeSchema,
  ReplayInstances,
  ReplayPolicySchema,
  SignalRescaleSchema,
  StagedPolicySchema,
  StageSchema,
  SuccessMeasure,
  TaskFilterSchema,
} from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import type { Policy, Stage } from "../../../proto/gen/gradus/v1/curriculum_pb.js";

/**
 * Rules of the bandit policy. `case` is the protobuf field that holds a rule. `numbers` maps the names of the rule's
 * parameters in this client to protobuf fields.
 */
const rules = {
  ema_softmax: { case: "emaSoftmax", numbers: { alpha: "alpha", tau: "tau" } },
  exp3_s: { case: "exp3S", numbers: { exp3Rate: "rate", exp3Share: "share" } },
  thompson: { case: "thompson", numbers: { discount: "discount", exploration: "exploration" } },
  ucb: { case: "ucb", numbers: { discount: "discount", exploration: "exploration" } },
} as const;
const progressNumbers = { progressFastRate: "fastRate", progressSlowRate: "slowRate" } as const;
const signals = {
  absolute_advantage: BanditSignal.ABSOLUTE_ADVANTAGE,
  solved_variance: BanditSignal.SOLVED_VARIANCE,
  learning_progress: BanditSignal.LEARNING_PROGRESS,
  mixed_outcomes: BanditSignal.MIXED_OUTCOMES,
} as const;
const instances = { fresh: ReplayInstances.FRESH, same: ReplayInstances.SAME } as const;
const measures = {
  quality: SuccessMeasure.QUALITY,
  solved: SuccessMeasure.SOLVED,
  reward: SuccessMeasure.REWARD,
  improvement: SuccessMeasure.IMPROVEMENT,
} as const;
const steps = { widen: CompetenceStep.WIDEN, move_on: CompetenceStep.MOVE_ON } as const;

/** Weights by arm id. */
export type ArmWeights = Readonly<Record<string, number>>;

/**
 * Range of rows by their rank in the run, from 0 (easiest) to 1 (hardest). It goes from `min` (default 0) to below
 * `max`. The default 1 of `max` includes rank 1.
 */
export interface RankChoice {
  readonly min?: number;
  readonly max?: number;
  /**
   * Value by which the rows must be ranked, e.g. "solutions" or "pass_rate". Defaults to that of the pools of the arms.
   */
  readonly by?: string;
}

/**
 * Stage of a run, with its own arms. A stage lasts for a share of the run's length or for a number of tasks. Without
 * both, it lasts until advance() is called.
 */
export interface StageChoice {
  /** Weights of the arms. Defaults to every arm with its own weight. */
  readonly weights?: ArmWeights;
  readonly share?: number;
  readonly tasks?: number;
  /** Range of the run's rows by difficulty (Curriculum RLOO). Defaults to all rows. */
  readonly ranks?: RankChoice;
}

/** Stages in succession (FORGE's linear curriculum, Curriculum RLOO). The last one lasts until the run's end. */
export interface StagedChoice {
  readonly kind: "staged";
  readonly stages: readonly StageChoice[];
}

/**
 * Cycle of stages that repeats (FORGE 3.3). Give `cycles`, the number of cycles in the run, or `cycleTasks`, the tasks
 * of each.
 */
export interface ReplayChoice {
  readonly kind: "replay";
  /**
   * Stages of a cycle. Shares are shares of a cycle. Stages without share and tasks divide the rest of the cycle
   * evenly.
   */
  readonly stages: readonly StageChoice[];
  readonly cycles?: number;
  readonly cycleTasks?: number;
  /**
   * Tasks of later cycles. "fresh" (FORGE, the default) gives new tasks in each cycle. "same" gives the same tasks in
   * each cycle (NP-ENGINE 3.3).
   */
  readonly instances?: keyof typeof instances;
}

/** Tiers of arms from easy to hard. When the newest tier is mastered, the next one opens ("adaptive" and "hybrid"). */
export interface CompetenceChoice {
  readonly kind: "competence";
  /** Arms of each tier, with their weights within the tier. Weights must be above 0. */
  readonly tiers: readonly ArmWeights[];
  /** "widen" (the default) adds the next tier to the earlier ones; "move_on" replaces them. */
  readonly step?: keyof typeof steps;
  /** Share of solved samples at which a tier is mastered, in (0, 1]. Defaults to 0.7. */
  readonly threshold?: number;
  /** Number of the newest tier's last groups over which the share is taken, 1 to 256. Defaults to 32. */
  readonly window?: number;
  /**
   * Share of draws that is spread evenly over all tiers, in [0, 1). 0 (the default) is the paper's "adaptive", and more
   * is "hybrid".
   */
  readonly floor?: number;
  /**
   * Newest tier's share, in (0, 1], of the draws that `floor` leaves. Defaults to an equal share with the other tiers.
   */
  readonly newestShare?: number;
}

/** Domains (sets of arms) trained one after the other, the least forgotten first (Omni-Thinker 4.3). */
export interface ForgettingChoice {
  readonly kind: "forgetting";
  readonly domains: readonly {
    readonly name: string;
    readonly weights: ArmWeights;
    /** Share of the run's length. Domains without a share divide the rest of the length evenly. */
    readonly share?: number;
  }[];
  /** Changes of the scores of other domains, by the domain that was trained on. A negative change means forgetting. */
  readonly transfers?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Whether the most forgotten domain comes first, which is the paper's ablation. Defaults to false. */
  readonly reversed?: boolean;
}

/**
 * Bandit over the arms. The probability of each of the n arms is (1 − ε) times the share that the rule gives it, plus
 * ε/n. Parameters that the rule and the signal do not use are refused. Parameters that are left out default to the
 * papers' values, or to ours if a paper gives none.
 */
export interface BanditChoice {
  readonly kind: "bandit";
  /**
   * Rule that turns signals into shares of the arms. "ema_softmax" (ADSC 3.3) is the default. Others are "exp3_s" (Auer
   * et al. 2002, section 8), "thompson" (Gaussian posteriors of discounted means) and "ucb" (D-UCB, Garivier and
   * Moulines 2011).
   */
  readonly rule?: keyof typeof rules;
  /**
   * Signal that the bandit maximizes. "absolute_advantage" (ADSC 3.3) is the default. Others are "solved_variance" (p
   * (1 − p) of the solved share), "learning_progress" (how fast the solved share changes) and "mixed_outcomes" (1 if
   * some samples are solved and some not).
   */
  readonly signal?: keyof typeof signals;
  /** Share of draws that is spread evenly over the arms, in [0, 1]. Defaults to 0.1. */
  readonly epsilon?: number;
  /** Rule "ema_softmax": α in Q ← (1 − α) Q + α · mean signal, in (0, 1]. Defaults to 0.15. */
  readonly alpha?: number;
  /** Rule "ema_softmax": temperature τ of softmax(Q/τ), above 0. Defaults to 0.25. */
  readonly tau?: number;
  /** Rule "exp3_s": learning rate, in (0, 1]. Defaults to 0.1. */
  readonly exp3Rate?: number;
  /** Rule "exp3_s": share of all weights that is spread evenly after each update batch, in [0, 1]. Defaults to 0.01. */
  readonly exp3Share?: number;
  /**
   * Rules "thompson" and "ucb": factor by which past signals are discounted after each update batch, in (0, 1].
   * Defaults to 0.95.
   */
  readonly discount?: number;
  /** Rule "ucb": factor of the bonus. Rule "thompson": standard deviation of the prior. At least 0. Defaults to 0.5. */
  readonly exploration?: number;
  /** Signal "learning_progress": rate of the fast average, in (0, 1]. Defaults to 0.3. */
  readonly progressFastRate?: number;
  /** Signal "learning_progress": rate of the slow average, below that of the fast one. Defaults to 0.05. */
  readonly progressSlowRate?: number;
  /**
   * Scales signals to [-1, 1] by quantiles of the last `window` signals (Graves et al. 2017). Defaults:
   * 0.2, 0.8 and 512.
   */
  readonly rescale?: { readonly lowQuantile?: number; readonly highQuantile?: number; readonly window?: number };
}

/**
 * Policy by its name: one that the server's operator added, or one of the contract's, e.g. "staged". Parameters are in
 * protobuf's JSON form.
 */
export interface NamedChoice {
  readonly kind: "named";
  readonly name: string;
  /** Parameters as plain JSON. Defaults to the policy's own defaults. */
  readonly parameters?: JsonObject;
}

/** Filter of tasks that a run does not draw, e.g. because its policy solved them before. */
export interface FilterChoice {
  /** Whether a task is not drawn again if all samples of its latest group were solved. Defaults to false. */
  readonly skipSolved?: boolean;
  /**
   * Number of groups of a task in succession without a solved sample after which the run draws the task no more.
   * Defaults to never.
   */
  readonly skipFailedAfter?: number;
  /** Range of the rows of data pools, by their rank from easy to hard. Rows outside the range are not drawn. */
  readonly ranks?: RankChoice;
}

/**
 * Policy that prefers arms with something left to learn (our own policy). It is the default and needs no order of
 * levels.
 */
export interface FrontierChoice {
  readonly kind: "frontier";
  /**
   * Measure of success. "quality" (the default) depends on each arm's goal: the ratio to an optimum, the grade, or
   * whether the answer is right. "solved" is whether the sample is solved. "reward" is the reward within the range of
   * its scheme. "improvement" is 0 for the trivial answer and 1 for the optimum.
   */
  readonly measure?: keyof typeof measures;
  /** Measure of success of single arms, by id. Overrides `measure`. */
  readonly armMeasures?: Readonly<Record<string, keyof typeof measures>>;
  /** Share of each update batch that is spread evenly over all arms, in (0, 1]. Defaults to 0.1. */
  readonly exploration?: number;
  /**
   * Amount of practice without progress that halves an arm's share, in groups. Defaults to "auto": the server measures
   * how much practice progress takes in the run, and begins with promptsPerUpdate, at least 8.
   */
  readonly practiceScale?: number | "auto";
}

/** Policy of a run. `constraints` apply to each update batch and `filter` to each task, under any kind of policy. */
export type PolicyChoice = {
  readonly constraints?: MessageInitShape<typeof BatchConstraintsSchema>;
  readonly filter?: FilterChoice;
} & (
  | { readonly kind: "mixture" }
  | FrontierChoice
  | BanditChoice
  | StagedChoice
  | ReplayChoice
  | CompetenceChoice
  | ForgettingChoice
  | NamedChoice
);

function refuse(message: string): never {
  throw new GradusError("INVALID_ARGUMENT", message);
}

/**
 * Throws INVALID_ARGUMENT for an unknown option. TypeScript does not find one in plain JavaScript or behind a spread.
 */
function checkNames(what: string, options: object, names: readonly string[]): void {
  const wrong = Object.keys(options).find((name) => !names.includes(name));
  if (wrong !== undefined) refuse(`${what}: there is no "${wrong}"; there are ${names.join(", ")}`);
}

function fieldsOf(schema: DescMessage): readonly string[] {
  return schema.fields.map((field) => field.localName);
}

/** Returns the table's value for a name. Throws INVALID_ARGUMENT if the table does not have the name. */
function chosen<Name extends string, T>(what: string, table: Readonly<Record<Name, T>>, name: Name): T {
  return Object.hasOwn(table, name)
    ? table[name]
    : refuse(`${what}: "${name}" is none of ${Object.keys(table).join(", ")}`);
}

/** Returns the enum number of a name. Without a name, returns 0, which means the server's default. */
function valueOf<Name extends string>(
  what: string,
  table: Readonly<Record<Name, number>>,
  name: Name | undefined,
): number {
  return name === undefined ? 0 : chosen(what, table, name);
}

/** Returns the object without undefined fields, because protobuf's `create` would take undefined for a value. */
function given<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}

function ranksOf(ranks: RankChoice | undefined): Pick<Stage, "ranks"> {
  if (ranks === undefined) return {};
  checkNames("ranks", ranks, ["min", "max", "by"]);
  return { ranks: create(RankRangeSchema, given(ranks)) };
}

function stageOf(choice: StageChoice): Stage {
  checkNames("stage", choice, ["weights", "share", "tasks", "ranks"]);
  const { weights, share, tasks, ranks } = choice;
  if (share !== undefined && tasks !== undefined) refuse("share, tasks: give one of them");
  const stage = create(StageSchema, { weights: { ...weights }, ...ranksOf(ranks) });
  if (share !== undefined) stage.extent = { case: "share", value: share };
  if (tasks !== undefined) stage.extent = { case: "tasks", value: BigInt(tasks) };
  return stage;
}

type Numbers = Readonly<Record<string, number | undefined>>;

/** Returns the defined numbers that have a key in `names`, renamed to the protobuf field that `names` gives. */
function renamed(numbers: Numbers, names: Readonly<Record<string, string>>): Readonly<Record<string, number>> {
  const entries = Object.entries(names).map(([name, contracts]) => [contracts, numbers[name]] as const);
  return given(Object.fromEntries(entries)) as Readonly<Record<string, number>>;
}

const banditNames = [
  ...Object.values(rules).flatMap(({ numbers }) => Object.keys(numbers)),
  ...Object.keys(progressNumbers),
];

function banditOf({ kind: _, rule: name, signal, rescale, epsilon, ...numbers }: BanditChoice): Policy["kind"] {
  checkNames("bandit", numbers, [...new Set(["rule", "signal", "epsilon", "rescale", ...banditNames])]);
  const rule = chosen("rule", rules, name ?? "ema_softmax");
  const progress = signal === "learning_progress" ? progressNumbers : {};
  const unread = Object.keys(given(numbers)).find((each) => !(each in rule.numbers) && !(each in progress));
  if (unread !== undefined)
    refuse(`${unread}: a bandit of ${name ?? "ema_softmax"} and ${signal ?? "absolute_advantage"} does not use it`);
  const value = create(BanditPolicySchema, {
    signal: valueOf("signal", signals, signal),
    rule: { case: rule.case, value: renamed(numbers, rule.numbers) },
    ...given({ epsilon }),
  });
  const rates = renamed(numbers, progress);
  if (Object.keys(rates).length > 0) value.learningProgress = create(LearningProgressSchema, rates);
  if (rescale !== undefined) {
    checkNames("rescale", rescale, fieldsOf(SignalRescaleSchema));
    value.rescale = create(SignalRescaleSchema, given(rescale));
  }
  return { case: "bandit", value };
}

function namedOf({ kind: _, name, parameters, ...rest }: NamedChoice): Policy["kind"] {
  checkNames("named", rest, fieldsOf(NamedPolicySchema));
  return { case: "named", value: create(NamedPolicySchema, { name, ...(parameters && { parameters }) }) };
}

function replayOf({ kind: _, stages, cycles, cycleTasks, instances: which, ...rest }: ReplayChoice): Policy["kind"] {
  checkNames("replay", rest, ["stages", "cycles", "cycleTasks", "instances"]);
  if ((cycles === undefined) === (cycleTasks === undefined)) refuse("cycles, cycleTasks: give one of them");
  const value = create(ReplayPolicySchema, {
    stages: stages.map(stageOf),
    instances: valueOf("instances", instances, which),
  });
  if (cycles !== undefined) value.cycle = { case: "cycles", value: cycles };
  if (cycleTasks !== undefined) value.cycle = { case: "cycleTasks", value: BigInt(cycleTasks) };
  return { case: "replay", value };
}

function frontierOf({
  kind: _,
  measure,
  armMeasures = {},
  practiceScale = "auto",
  ...numbers
}: FrontierChoice): Policy["kind"] {
  checkNames("frontier", numbers, fieldsOf(FrontierPolicySchema));
  const byArm = Object.entries(armMeasures).map(
    ([id, of]) => [id, chosen(`armMeasures["${id}"]`, measures, of)] as const,
  );
  const value = create(FrontierPolicySchema, {
    measure: valueOf("measure", measures, measure),
    armMeasures: Object.fromEntries(byArm),
    ...(practiceScale !== "auto" && { practiceScale }),
    ...given(numbers),
  });
  return { case: "frontier", value };
}

function competenceOf({ kind: _, tiers, step, ...numbers }: CompetenceChoice): Policy["kind"] {
  checkNames("competence", numbers, fieldsOf(CompetencePolicySchema));
  const value = create(CompetencePolicySchema, {
    tiers: tiers.map((weights) => ({ weights: { ...weights } })),
    step: valueOf("step", steps, step),
    ...given(numbers),
  });
  return { case: "competence", value };
}

function forgettingOf({
  kind: _,
  domains,
  transfers = {},
  reversed = false,
  ...rest
}: ForgettingChoice): Policy["kind"] {
  checkNames("forgetting", rest, fieldsOf(ForgettingPolicySchema));
  for (const domain of domains) checkNames("domain", domain, fieldsOf(DomainSchema));
  const value = create(ForgettingPolicySchema, {
    domains: domains.map((domain) => given({ ...domain, weights: { ...domain.weights } })),
    transfers: Object.entries(transfers).map(([trained, changes]) => ({ trained, changes: { ...changes } })),
    reversed,
  });
  return { case: "forgetting", value };
}

function kindOf(choice: PolicyChoice): Policy["kind"] {
  switch (choice.kind) {
    case "mixture":
      checkNames("mixture", choice, ["kind"]);
      return { case: "mixture", value: create(MixturePolicySchema) };
    case "staged":
      checkNames("staged", choice, ["kind", "stages"]);
      return { case: "staged", value: create(StagedPolicySchema, { stages: choice.stages.map(stageOf) }) };
    case "bandit":
      return banditOf(choice);
    case "replay":
      return replayOf(choice);
    case "frontier":
      return frontierOf(choice);
    case "competence":
      return competenceOf(choice);
    case "forgetting":
      return forgettingOf(choice);
    case "named":
      return namedOf(choice);
    default:
      return refuse(`kind: "${(choice as { kind: string }).kind}" is no policy`);
  }
}

/** Converts a policy to the protobuf message Policy. Returns a message unchanged. */
export function policyOf(from: PolicyChoice | Policy): Policy {
  if (isMessage(from, PolicySchema)) return from;
  const { constraints, filter, ...choice } = from;
  const policy = create(PolicySchema, { kind: kindOf(choice) });
  if (constraints !== undefined) {
    checkNames("constraints", constraints, [...fieldsOf(BatchConstraintsSchema), "$typeName", "$unknown"]);
    policy.constraints = create(BatchConstraintsSchema, constraints);
  }
  if (filter !== undefined) {
    checkNames("filter", filter, fieldsOf(TaskFilterSchema));
    const { ranks, ...rest } = filter;
    policy.filter = create(TaskFilterSchema, { ...given(rest), ...ranksOf(ranks) });
  }
  return policy;
}
