/** How a run chooses its tasks, in plain values, and how that becomes messages of the contract. */
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

/** Each rule's place in the message, and its numbers: what the contract calls them, by what they are called here. */
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

/** By arm id. */
export type ArmWeights = Readonly<Record<string, number>>;

/** A run's rows from rank `min` (left out: 0, the easiest) to below `max` (left out: 1, which takes in all). */
export interface RankChoice {
  readonly min?: number;
  readonly max?: number;
  /** What they must be ranked by, e.g. "solutions", "pass_rate"; left out: what the pools of the arms are ranked by. */
  readonly by?: string;
}

/** A part of a run with arms of its own. Lasts for a share of the length or for some tasks; left out: until advance(). */
export interface StageChoice {
  /** Left out: every arm, by its own weight. */
  readonly weights?: ArmWeights;
  readonly share?: number;
  readonly tasks?: number;
  /** A slice of the run's rows (Curriculum RLOO); left out: all of them. */
  readonly ranks?: RankChoice;
}

/** Stages one after the other (FORGE's linear curriculum, Curriculum RLOO); the last lasts to the run's end. */
export interface StagedChoice {
  readonly kind: "staged";
  readonly stages: readonly StageChoice[];
}

/** A cycle of stages, several times (FORGE 3.3). Give `cycles` over the run's length, or `cycleTasks` for each. */
export interface ReplayChoice {
  readonly kind: "replay";
  /** Shares are of a cycle; stages without share and tasks divide what is left of it evenly. */
  readonly stages: readonly StageChoice[];
  readonly cycles?: number;
  readonly cycleTasks?: number;
  /** "fresh" (FORGE, the default), or in each cycle the "same" again (NP-ENGINE 3.3). */
  readonly instances?: keyof typeof instances;
}

/** Tiers from easy to hard, the next of which is opened once the newest is mastered ("adaptive" and "hybrid"). */
export interface CompetenceChoice {
  readonly kind: "competence";
  /** The arms of each tier with their weights within it, above 0. */
  readonly tiers: readonly ArmWeights[];
  /** "widen" (the default): the next tier beside those before; "move_on": in their place. */
  readonly step?: keyof typeof steps;
  /** The share of solved samples that passes a tier, in (0, 1]; left out: 0.7. */
  readonly threshold?: number;
  /** Over so many groups of the newest tier, 1 to 256; left out: 32. */
  readonly window?: number;
  /** The share drawn from all tiers alike, in [0, 1): 0 (the default) is "adaptive", above it "hybrid". */
  readonly floor?: number;
  /** Of the rest the newest tier's share, in (0, 1]; left out: as much as each of the others. */
  readonly newestShare?: number;
}

/** Domains one after the other, the least forgotten first (Omni-Thinker 4.3). */
export interface ForgettingChoice {
  readonly kind: "forgetting";
  readonly domains: readonly {
    readonly name: string;
    readonly weights: ArmWeights;
    /** Of the run's length; left out: an equal share of what is left. */
    readonly share?: number;
  }[];
  /** By the domain that was trained on: the change of each other's score, negative where it is forgotten. */
  readonly transfers?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** The most forgotten first: the paper's ablation. */
  readonly reversed?: boolean;
}

/**
 * A bandit over the arms. An arm's probability is (1 − ε) of its rule's share plus ε/n. Numbers that the rule and the
 * signal do not read are refused. Those left out take the papers' values, or ours where they give none.
 */
export interface BanditChoice {
  readonly kind: "bandit";
  /**
   * "ema_softmax" (ADSC 3.3, the default), "exp3_s" (Auer et al. 2002, section 8), "thompson" (Gaussian posteriors of
   * discounted means) or "ucb" (D-UCB, Garivier and Moulines 2011).
   */
  readonly rule?: keyof typeof rules;
  /**
   * "absolute_advantage" (ADSC 3.3, the default), "solved_variance" (p (1 − p) of the solved share), "learning_progress"
   * (how fast the solved share changes) or "mixed_outcomes" (1 where some samples are solved and some not).
   */
  readonly signal?: keyof typeof signals;
  /** The share spread evenly over the arms, in [0, 1]; left out: 0.1. */
  readonly epsilon?: number;
  /** Rule "ema_softmax": Q ← (1 − α) Q + α · mean signal, in (0, 1]; left out: 0.15. */
  readonly alpha?: number;
  /** Rule "ema_softmax": the temperature of softmax(Q/τ), above 0; left out: 0.25. */
  readonly tau?: number;
  /** Rule "exp3_s": the learning rate, in (0, 1]; left out: 0.1. */
  readonly exp3Rate?: number;
  /** Rule "exp3_s": the share of all weights that is spread evenly after each update batch, in [0, 1]; left out: 0.01. */
  readonly exp3Share?: number;
  /** Rules "thompson" and "ucb": by what the past counts less after each update batch, in (0, 1]; left out: 0.95. */
  readonly discount?: number;
  /** Rule "ucb": the bonus' factor; rule "thompson": the prior's standard deviation. At least 0; left out: 0.5. */
  readonly exploration?: number;
  /** Signal "learning_progress": the fast average's rate, in (0, 1]; left out: 0.3. */
  readonly progressFastRate?: number;
  /** Signal "learning_progress": the slow average's rate, below the fast one's; left out: 0.05. */
  readonly progressSlowRate?: number;
  /** Brings signals to [-1, 1] by quantiles of the last `window` of them (Graves et al. 2017); {}: 0.2, 0.8 and 512. */
  readonly rescale?: { readonly lowQuantile?: number; readonly highQuantile?: number; readonly window?: number };
}

/** A policy by its name: one of the server's own, or one of those above in the words of the contract's JSON. */
export interface NamedChoice {
  readonly kind: "named";
  readonly name: string;
  /** Plain JSON; left out: the defaults. */
  readonly parameters?: JsonObject;
}

/** Which instances are passed over, for what this run's own groups of them came to. */
export interface FilterChoice {
  /** Those of which every sample was solved the last time. */
  readonly skipSolved?: boolean;
  /** Those of which no sample was solved so many times in a row; left out: never. */
  readonly skipFailedAfter?: number;
  /** Rows of real pools outside of these ranks. */
  readonly ranks?: RankChoice;
}

/** Draws where there is something to learn (ours): the default, which needs no order of levels. */
export interface FrontierChoice {
  readonly kind: "frontier";
  /**
   * What success is: how good the answer is ("quality", the default, which goes by each arm's goal: its ratio to an
   * optimum, its grade, or whether it is right), whether it is "solved", its "reward" within the range of its scheme, or
   * its "improvement" from the trivial answer (0) to the optimum (1).
   */
  readonly measure?: keyof typeof measures;
  /** The same for some arms by themselves, by their id. */
  readonly armMeasures?: Readonly<Record<string, keyof typeof measures>>;
  /** The share of each update batch that all arms have alike, in (0, 1]; left out: 0.1. */
  readonly exploration?: number;
  /** How many groups of practice without progress halve an arm's share; left out: promptsPerUpdate, at least 8. */
  readonly practiceScale?: number;
}

/** How a run chooses. `constraints` hold for each update batch, and `filter` for each instance, under any kind. */
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

/** Options of no such name, which types do not see in plain JavaScript or behind a spread. */
function checkNames(what: string, options: object, names: readonly string[]): void {
  const wrong = Object.keys(options).find((name) => !names.includes(name));
  if (wrong !== undefined) refuse(`${what}: there is no "${wrong}"; there are ${names.join(", ")}`);
}

function fieldsOf(schema: DescMessage): readonly string[] {
  return schema.fields.map((field) => field.localName);
}

/** What a name stands for. */
function chosen<Name extends string, T>(what: string, table: Readonly<Record<Name, T>>, name: Name): T {
  return Object.hasOwn(table, name)
    ? table[name]
    : refuse(`${what}: "${name}" is none of ${Object.keys(table).join(", ")}`);
}

/** The number of a name; left out: 0, the server's default. */
function valueOf<Name extends string>(
  what: string,
  table: Readonly<Record<Name, number>>,
  name: Name | undefined,
): number {
  return name === undefined ? 0 : chosen(what, table, name);
}

/** Without those that are undefined, which a message would take for a value. */
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

/** Those of `numbers` that `names` has, under the contract's names; left out: those that are undefined. */
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
    refuse(`${unread}: a bandit of ${name ?? "ema_softmax"} and ${signal ?? "absolute_advantage"} does not read it`);
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

function frontierOf({ kind: _, measure, armMeasures = {}, ...numbers }: FrontierChoice): Policy["kind"] {
  checkNames("frontier", numbers, fieldsOf(FrontierPolicySchema));
  const byArm = Object.entries(armMeasures).map(
    ([id, of]) => [id, chosen(`armMeasures["${id}"]`, measures, of)] as const,
  );
  const value = create(FrontierPolicySchema, {
    measure: valueOf("measure", measures, measure),
    armMeasures: Object.fromEntries(byArm),
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

/** The message for a policy. */
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
