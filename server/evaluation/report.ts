/**
 * Makes the report of an evaluation from its samples so far. Only `makeReport` reads the store; all other functions are
 * pure.
 */
import type { Goal } from "../../envs/environment.ts";
import type { Score, Verdict } from "../../envs/score.ts";
import { formatWarning } from "../curriculum/malformed-samples.ts";
import { violationKind } from "../../envs/lib/violation-kind.ts";
import type { NoReward } from "../tasks/scoring/results.ts";
import type { Context, OpenEvaluation } from "./evaluation.ts";
import { partOf, type Suite } from "./open-suite.ts";
import type { SuiteTask } from "./suite-tasks.ts";

// Functions that compute statistics of one task from its samples, and means over tasks.

/** Statistics by name. The contract's ReportRow defines each of them. */
type Figures = Readonly<Record<string, number>>;

/**
 * Returns pass@k, the probability that at least one of k samples drawn from n is right, if c of the n are right. That
 * is 1 − C(n−c, k) / C(n, k). It is computed as a product, because the binomials exceed the range of doubles (Chen et
 * al. 2021).
 */
export function passAtK(n: number, c: number, k: number): number {
  if (n - c < k) return 1;
  let allWrong = 1;
  for (let i = n - c + 1; i <= n; i++) allWrong *= 1 - k / i;
  return 1 - allWrong;
}

/** Returns the values of k for pass@k with n samples: 1, 2, 4, … and n. */
export function passKs(n: number): readonly number[] {
  const powers = Array.from({ length: Math.floor(Math.log2(n)) + 1 }, (_, i) => 2 ** i);
  return [...new Set([...powers, n])];
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function share(samples: readonly SampleFacts[], holds: (facts: SampleFacts) => boolean): number {
  return samples.filter(holds).length / samples.length;
}

function common(samples: readonly SampleFacts[]): Figures {
  const calls = samples.flatMap((sample) => sample.calls ?? []);
  return {
    ...(calls.length > 0 && { calls_per_episode: mean(calls) }),
    mean_reward: mean(samples.map(({ reward }) => reward)),
    malformed_rate: share(samples, ({ verdict }) => verdict === "malformed"),
    infeasible_rate: share(samples, ({ verdict }) => verdict === "infeasible"),
    unread_rate: share(samples, ({ unread }) => unread === true),
    undecided_rate: share(samples, ({ undecided }) => undecided === true),
    truncated_rate: share(samples, ({ truncated }) => truncated),
  };
}

/**
 * Returns success rate, quality ratio (FORGE 2.3) and other statistics of optimisation tasks. If the objective value of
 * a heuristic's answer is known, adds the quality ratio against it, as the papers' code does.
 */
function qualityFigures(goal: Goal, samples: readonly SampleFacts[], heuristic: number | undefined): Figures {
  const ratios = samples.flatMap((facts) => heuristicRatio(goal, facts, heuristic) ?? []);
  return {
    success_rate: share(samples, ({ verdict }) => verdict === "feasible"),
    quality_ratio: mean(samples.map(({ ratio }) => ratio)),
    ...(ratios.length > 0 && { heuristic_ratio: mean(ratios) }),
    optimal_rate: share(samples, ({ solved }) => solved),
    ...common(samples),
  };
}

/**
 * Returns the ratio of an answer's objective to a heuristic's. It is above 1 if the answer is better, and 0 if it is
 * not feasible. Undefined: one of the objectives is unknown, or the divisor would be 0.
 */
function heuristicRatio(goal: Goal, facts: SampleFacts, heuristic: number | undefined): number | undefined {
  if (heuristic === undefined) return undefined;
  if (facts.verdict !== "feasible") return 0;
  const { objective } = facts;
  if (objective === heuristic) return 1;
  const [above, below] = goal === "maximize" ? [objective, heuristic] : [heuristic, objective];
  return above === undefined || below === undefined || below === 0 ? undefined : above / below;
}

/**
 * Returns the statistics of tasks whose answers are only right or wrong (Curriculum RLOO 4, ADSC 4). Statistics that
 * need all samples of a task are left out until all have a reward.
 */
function exactFigures(samples: readonly SampleFacts[], expected: number): Figures {
  const n = samples.length;
  const right = samples.filter(({ solved }) => solved).length;
  const ks = passKs(expected).filter((k) => k <= n);
  const all = Array.from({ length: n }, (_, i) => passAtK(n, right, i + 1));
  return {
    exact_rate: right / n,
    mean_score: mean(samples.map(({ reward }) => reward)),
    ...Object.fromEntries(ks.map((k) => [`pass@${k}`, passAtK(n, right, k)])),
    ...(n === expected && {
      "pass@avg": mean(all),
      "nonzero_pass@n": Number(samples.some(({ reward }) => reward > 0)),
    }),
    ...abandonment(samples, right, ks),
    ...common(samples),
  };
}

/**
 * Returns how often a completion has a right answer anywhere, even if its last answer is wrong (Curriculum RLOO 5.3).
 * If whole completions are searched for answers, adds the mean number of answers.
 */
function abandonment(samples: readonly SampleFacts[], right: number, ks: readonly number[]): Figures {
  const n = samples.length;
  const verified = samples.filter((sample) => sample.verified).length;
  const answers = samples.flatMap((sample) => sample.answers ?? []);
  return {
    ...Object.fromEntries(ks.map((k) => [`first_verifying_pass@${k}`, passAtK(n, verified, k)])),
    "first_verifying_pass@1": verified / n,
    abandonment_gap: (verified - right) / n,
    ...(answers.length > 0 && { answers_per_rollout: mean(answers) }),
  };
}

const hasReward = ({ verdict }: SampleFacts): boolean => verdict !== "none";

/**
 * Returns the statistics of one task. Samples without a reward say nothing about the model, so only no_reward_rate
 * counts them. `all` has at least one sample, and `expected` is the number that the task will have.
 */
export function taskFigures(goal: Goal, all: readonly SampleFacts[], expected: number, heuristic?: number): Figures {
  const samples = all.filter(hasReward);
  const missing = { no_reward_rate: share(all, (sample) => !hasReward(sample)) };
  if (samples.length === 0) return missing;
  const figures = goal === "satisfy" ? exactFigures(samples, expected) : qualityFigures(goal, samples, heuristic);
  return { ...figures, ...missing };
}

/**
 * Returns, by name, how many tasks the statistics mean_reward and pass@k leave out because too few of a task's samples
 * have a reward. Statistics that leave out no task are not listed.
 */
function leftOut(tasks: readonly Counted[], expected: number): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { goal, figures } of tasks) {
    const passes = goal === "satisfy" ? passKs(expected).map((k) => `pass@${k}`) : [];
    for (const name of ["mean_reward", ...passes]) if (!(name in figures)) counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/**
 * Computes a statistic for each name that occurs in a list of statistics. Names for which `of` returns undefined are
 * left out.
 */
function forEachName(all: readonly Figures[], of: (name: string) => number | undefined): Figures {
  const names = new Set(all.flatMap((figures) => Object.keys(figures)));
  return Object.fromEntries(
    [...names].flatMap((name) => {
      const number = of(name);
      return number === undefined ? [] : [[name, number] as const];
    }),
  );
}

/** Returns the unweighted mean of each statistic over the tasks, or over the rows of a report, that have it. */
export function meanFigures(all: readonly Figures[]): Figures {
  return forEachName(all, (name) => mean(all.flatMap((figures) => figures[name] ?? [])));
}

/**
 * Returns the standard error of each mean: the standard deviation divided by the square root of the number of values.
 * Means of fewer than two values are left out.
 */
function standardErrors(all: readonly Figures[]): Figures {
  return forEachName(all, (name) => {
    const values = all.flatMap((figures) => figures[name] ?? []);
    if (values.length < 2) return undefined;
    const centre = mean(values);
    const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0);
    return Math.sqrt(squares / (values.length - 1) / values.length);
  });
}

/**
 * Returns the standard error of the unweighted mean over independent rows of a report. A statistic is left out if a row
 * has the statistic without its standard error.
 */
function errorsOfMean(rows: readonly ReportRow[]): Figures {
  const ofRows = rows.map((row) => row.standardErrors);
  return forEachName(ofRows, (name) => {
    const having = rows.filter(({ figures }) => name in figures);
    const all = having.flatMap((row) => row.standardErrors[name] ?? []);
    return all.length < having.length
      ? undefined
      : Math.sqrt(all.reduce((sum, error) => sum + error ** 2, 0)) / having.length;
  });
}

export type ReportRow = ReturnType<typeof rowOf>;

export type Report = ReturnType<typeof reportOf>;

/** Task of the evaluated suite, with its samples. */
export interface ScoredTask {
  readonly ordinal: number;
  readonly category: string;
  /**
   * Whether the task belongs to every split, also to the training split, because there are too few different instances.
   */
  readonly inEverySplit: boolean;
  /**
   * Objective value of the answer that the environment's heuristic finds. Unset: the suite does not compare with
   * heuristics, or there is none.
   */
  readonly heuristic?: number | undefined;
  readonly samples: readonly SampleFacts[];
}

interface Counted extends ScoredTask {
  readonly part: string;
  readonly environment: string;
  readonly goal: Goal;
  readonly figures: Figures;
}

/** Returns a row of the report. `of` gives its statistics. If `of` is left out, they are means over the tasks. */
function rowOf(
  name: string,
  /** Tasks of the row that have at least one sample. */
  tasks: readonly Counted[],
  samplesPerTask: number,
  tasksExpected: number,
  of?: { readonly figures: Figures; readonly standardErrors: Figures },
) {
  const byTask = tasks.map(({ figures }) => figures);
  return {
    name,
    samplesExpected: tasksExpected * samplesPerTask,
    tasks: tasks.length,
    /** Number of tasks that belong to every split, so that a model may have been trained on them. */
    tasksInEverySplit: tasks.filter(({ inEverySplit }) => inEverySplit).length,
    samples: tasks.reduce((sum, { samples }) => sum + samples.length, 0),
    /** Number of samples without a reward. They count only in no_reward_rate. */
    samplesWithoutReward: tasks.reduce((sum, { samples }) => sum + samples.filter((one) => !hasReward(one)).length, 0),
    /**
     * Number of tasks that each statistic leaves out, by the statistic's name. Statistics that leave out no task are
     * not listed.
     */
    tasksLeftOut: leftOut(tasks, samplesPerTask),
    ...(of ?? { figures: meanFigures(byTask), standardErrors: standardErrors(byTask) }),
  };
}

/**
 * Returns the report. Each of `tasks` has at least one sample. `categories` has the number of tasks in each category,
 * without tasks whose category is not known yet.
 */
export function reportOf(
  suite: Suite,
  samplesPerTask: number,
  tasks: readonly ScoredTask[],
  categories: ReadonlyMap<string, number>,
) {
  const counted = tasks.map((task): Counted => {
    const { name, environment, definition } = partOf(suite, task.ordinal);
    const { goal } = definition;
    const figures = taskFigures(goal, task.samples, samplesPerTask, task.heuristic);
    return { ...task, part: name, environment, goal, figures };
  });
  const rows = (keyOf: (task: Counted) => string, expected: ReadonlyMap<string, number>): readonly ReportRow[] => {
    const groups = Map.groupBy(counted, keyOf);
    return [...expected].map(([name, count]) => rowOf(name, groups.get(name) ?? [], samplesPerTask, count));
  };
  const categoryRows = rows(({ category }) => category, categories);
  const sampled = categoryRows.filter(({ samples }) => samples > 0);
  const byCategory = {
    figures: meanFigures(sampled.map(({ figures }) => figures)),
    /**
     * Standard errors of the means over categories. A statistic is left out if a category has it without a standard
     * error.
     */
    standardErrors: errorsOfMean(sampled),
  };
  const byTasks = suite.definition.overall === "tasks";
  const overall = rowOf("overall", counted, samplesPerTask, suite.tasks, byTasks ? undefined : byCategory);
  return {
    parts: rows(({ part }) => part, new Map(suite.parts.map((part) => [part.name, part.tasks]))),
    environments: rows(({ environment }) => environment, tasksByEnvironment(suite)),
    categories: categoryRows,
    overall,
    /** Warnings in English that the reader should see before any number. */
    warnings: [...unrewardedWarnings(overall), ...formatWarnings(tasks.flatMap(({ samples }) => samples))],
    baseline: baselineText(counted, suite.definition.heuristic === true),
  };
}

/**
 * Maximum share of samples without a reward. If the share is higher, the report warns that the statistics describe only
 * part of the samples.
 */
const NO_REWARD_SHARE_MAX = 0.01;

function unrewardedWarnings({ samples, samplesWithoutReward: missing }: ReportRow): readonly string[] {
  if (missing <= NO_REWARD_SHARE_MAX * samples) return [];
  const share = ((100 * missing) / samples).toFixed(1);
  const reasons = "the filter no_reward of ListSamples shows them with their reasons";
  return [
    `${missing} of ${samples} samples (${share}%) have no reward and are left out of every statistic: ${reasons}.`,
  ];
}

/**
 * Returns a warning if nearly all samples are malformed. The evaluation then measures the answer format rather than the
 * task.
 */
function formatWarnings(all: readonly SampleFacts[]): readonly string[] {
  const judged = all.filter(({ verdict }) => verdict !== "none");
  const missed = judged.filter(({ verdict }) => verdict === "malformed");
  // Samples that an older server stored have no violation (format error).
  const kinds = Map.groupBy(missed, ({ violation = "(not noted)" }) => violationKind(violation));
  const [violation = ""] = [...kinds].toSorted(([, a], [, b]) => b.length - a.length)[0] ?? [];
  const warning = formatWarning({ samples: judged.length, malformed: missed.length, violation });
  if (warning === undefined) return [];
  return [`${missed.length} of ${judged.length} samples are malformed, most of them so: ${violation}.`];
}

function tasksByEnvironment(suite: Suite): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { environment, tasks } of suite.parts) counts.set(environment, (counts.get(environment) ?? 0) + tasks);
  return counts;
}

/**
 * Returns a sentence that says against which values the ratios are measured. The papers divide by values that a
 * heuristic found or that were planted in the task, which are often not the optimum.
 */
function baselineText(tasks: readonly Counted[], heuristic: boolean): string {
  if (tasks.length === 0) return "There are no samples yet.";
  const proofs = tasks.flatMap(({ samples }) => samples.find(({ proven }) => proven !== undefined)?.proven ?? []);
  const proven = proofs.filter(Boolean).length;
  const bounded = proofs.length - proven;
  if (proofs.length === 0) return "No baseline: an answer is right or wrong, or has a score of its own.";
  const against =
    bounded === 0
      ? `Ratios are against proven optima of all ${proven} tasks`
      : `Ratios are against proven optima of ${proven} tasks, and best known values with certified bounds of ${bounded}`;
  if (heuristic)
    return `${against}; heuristic_ratio is against a heuristic's answer, as in the papers' tables, and may exceed 1.`;
  return `${against}: not comparable with the papers' tables, which divide by heuristic or planted values.`;
}

// Reads an evaluation's samples and tasks, and returns its report.

export async function makeReport({ store, tasks }: Context, open: OpenEvaluation): Promise<Report> {
  // Samples are read before tasks, because each sample's task was made before the sample. More samples may arrive while
  // the tasks are read.
  const byTask = Map.groupBy(await store.facts(open.key), ({ ordinal }) => ordinal);
  const made = await tasks.made(open.of, 0, open.of.tasks);
  const madeOf = new Map(made.map((task) => [task.ordinal, task]));
  const scored = [...byTask].map(([ordinal, samples]): ScoredTask => {
    const task = madeOf.get(ordinal);
    if (task === undefined) throw new Error(`bug: task ${ordinal} has samples, but was never made`);
    const { category, inEverySplit, heuristic } = task;
    return {
      ordinal,
      category,
      inEverySplit,
      heuristic,
      samples: samples.map(({ facts }) => JSON.parse(facts) as SampleFacts),
    };
  });
  return reportOf(open.of, open.samplesPerTask, scored, categoryCounts(open.of, made));
}

/**
 * Returns the number of tasks in each category. A task that is not made yet counts only if its part gives the
 * category's name.
 */
function categoryCounts(suite: Suite, made: readonly SuiteTask[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const add = (name: string, count: number): void => void counts.set(name, (counts.get(name) ?? 0) + count);
  const named = new Set<string>();
  for (const { category, tasks } of suite.parts) {
    if (typeof category !== "string") continue;
    named.add(category);
    add(category, tasks);
  }
  for (const category of made.map((task) => task.category).sort()) if (!named.has(category)) add(category, 1);
  return counts;
}

// Functions that reduce a sample to the few values that a report needs, so that reports of many samples are fast.

export interface SampleFacts {
  /** Verdict on the answer. "none" means that the sample has no reward and will not get one. */
  readonly verdict: Verdict | "none";
  /** Whether the answer is right, or is a proven optimum. */
  readonly solved: boolean;
  /** Whether any answer in the completion is right, even if the last answer is wrong. */
  readonly verified: boolean;
  /** Quality of the answer relative to the best known one, in [0, 1]. 0 unless the answer is feasible. */
  readonly ratio: number;
  readonly reward: number;
  /** Objective of the answer. Undefined: it has none, or an older server stored the sample. */
  readonly objective?: number;
  readonly truncated: boolean;
  /**
   * Format error of a malformed answer. Undefined: the answer is not malformed, or an older server stored the sample.
   */
  readonly violation?: string;
  /** True if the completion has a marked answer that could not be parsed. Undefined: it has no such answer. */
  readonly unread?: boolean;
  /** True if the verifier could not decide whether the answer is right. Undefined: it could. */
  readonly undecided?: boolean;
  /** Number of marked answers in the completion. Undefined: the reward scheme does not search whole completions. */
  readonly answers?: number;
  /** Whether the baseline is a proven optimum. Undefined: there is no baseline. */
  readonly proven?: boolean;
  /** Number of calls of the episode. Undefined: the task has no turns. */
  readonly calls?: number;
}

export function factsOf(result: Score | NoReward): SampleFacts {
  if ("reason" in result)
    return { verdict: "none", solved: false, verified: false, ratio: 0, reward: 0, truncated: false };
  const { verdict, solved, ratio = 0, reward, objective, truncated, spans, baseline, scan, info, violation } = result;
  const { episode } = result;
  const verified = solved || spans.some((span) => span.solved);
  const isUnread = info["unread"] !== undefined || (verdict === "malformed" && spans.at(-1)?.verdict === "malformed");
  const doubts = {
    ...(isUnread && { unread: true }),
    ...(info["undecided"] !== undefined && { undecided: true }),
  } as const;
  const said = verdict === "malformed" ? { violation: violationKind(violation) } : {};
  const measure = objective === undefined ? {} : { objective };
  const facts = { verdict, solved, verified, ratio, reward, ...measure, ...said, truncated, ...doubts };
  const known = { ...(baseline && { proven: baseline.proven }), ...(episode && { calls: episode.calls }) };
  return { ...facts, ...(scan && { answers: scan.answers }), ...known };
}
