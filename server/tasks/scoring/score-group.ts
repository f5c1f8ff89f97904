/** Scores one group of completions. What a run must be told is handed back, or told by the scorer of slow samples. */
import { reasonWords } from "../../../envs/facts.ts";
import { factsOf } from "../../../envs/score.ts";
import { hash } from "node:crypto";
import { advantagesOf } from "../../curriculum/signals.ts";
import type { FeedbackItem, FeedbackStatus } from "../../curriculum/feedback.ts";
import type { AsyncScorer, Caller, RunSample } from "./async-scorer.ts";
import { type ContrastPair, contrastPairs, scanned, type ScoredCompletion } from "./contrast.ts";
import {
  asCut,
  type AsyncTask,
  isFinal,
  type NoReward,
  type OpenTask,
  type SampleResult,
  type Scorer,
  type SyncTask,
} from "./scorer.ts";
import { inStretches } from "../../base/stretches.ts";

/**
 * Tells texts that a caller sends for one sample apart, by 48 bits in hex. It guards against a mistake, not against the
 * caller, who could leave the second text unsent.
 */
function completionDigest(text: string): string {
  return hash("sha256", text, "hex").slice(0, 12);
}

/** A completion as it is asked about. */
interface Completion {
  /** Its place among the group's samples. */
  readonly sampleIndex: number;
  /** Read once for each score: a long one is made of its bytes each time. */
  readonly text: string;
  /** The policy that wrote it, where the trainer says so. */
  readonly policyVersion?: number | undefined;
}

/** Completions of one task. The contract's messages are such groups as they are, so that none is copied. */
export interface CompletionGroup {
  readonly groupId: string;
  /** Samples of the whole group; 0: as many as its run has, or as are here. */
  readonly numGenerations: number;
  readonly completions: readonly Completion[];
}

/** What a group's scores mean to the run that issued its task. */
export type RunFeedback =
  /** No run issued it. */
  | { readonly kind: "none" }
  /** They are not to be recorded, and why. */
  | { readonly kind: "refused"; readonly detail: string }
  /** Results to record; samples that are not among them have none yet. */
  | { readonly kind: "items"; readonly runId: string; readonly items: readonly FeedbackItem[] }
  /** They were recorded one by one; undefined: there was nothing to record. */
  | { readonly kind: "recorded"; readonly statuses: readonly (FeedbackStatus | undefined)[] };

export interface ScoredGroup {
  /** In the order of the group's completions. */
  readonly samples: readonly ScoredCompletion[];
  /** Undefined: not asked for, or the group is not here as a whole. */
  readonly whole: WholeGroup | undefined;
  readonly feedback: RunFeedback;
}

/** What is known of a group that is here as a whole. */
export interface WholeGroup {
  /** Of the samples with a score; undefined: there is none. */
  readonly statistics: GroupStatistics | undefined;
  readonly contrastPairs: readonly ContrastPair[];
}

export interface GroupStatistics {
  readonly count: number;
  readonly mean: number;
  readonly std: number;
  /** In the order of the samples; undefined for one without a score. */
  readonly rloo: readonly (number | undefined)[];
  readonly grpo: readonly (number | undefined)[];
}

export interface GroupOptions {
  /** The group's statistics come with it where it is here as a whole. */
  readonly statistics: boolean;
  /** Whether the trainer says of the completion at this place that it reached its greatest length. */
  readonly isCut: (place: number) => boolean;
}

/** UTF-16 units of a group's completions that are scored at a stretch; what is dearest to read takes some milliseconds. */
const UNITS_AT_ONCE_MAX = 256 * 1024;

/** Whether it is to be scored in stretches: the event loop is others' too. */
export function isLarge({ completions }: CompletionGroup): boolean {
  if (completions.length === 1) return false;
  let units = 0;
  for (const { text } of completions) {
    units += text.length;
    // No further: long texts are made of their bytes when they are looked at.
    if (units > UNITS_AT_ONCE_MAX) return true;
  }
  return false;
}

/** At once. Never throws for what the completions or the task_id hold. */
export function scoreGroup(
  scorer: Scorer,
  task: SyncTask | NoReward,
  group: CompletionGroup,
  options: GroupOptions,
): ScoredGroup {
  const run = task.kind === "none" ? NO_RUN : runOf(task, group);
  const scored = group.completions.map((completion, i) => scoreOne(scorer, task, completion, run, options.isCut(i)));
  return toScoredGroup(task, group, options, run, scored);
}

/** The same in stretches. */
export async function scoreLargeGroup(
  scorer: Scorer,
  task: SyncTask | NoReward,
  group: CompletionGroup,
  options: GroupOptions,
): Promise<ScoredGroup> {
  const run = task.kind === "none" ? NO_RUN : runOf(task, group);
  const scored = await inStretches(group.completions, (completion, i) =>
    scoreOne(scorer, task, completion, run, options.isCut(i)),
  );
  return toScoredGroup(task, group, options, run, scored);
}

interface ToldSample extends ScoredCompletion {
  /** What its run is told, if anything. */
  readonly item: FeedbackItem | undefined;
}

function scoreOne(
  scorer: Scorer,
  task: SyncTask | NoReward,
  completion: Completion,
  run: GroupRun,
  cut: boolean,
): ToldSample {
  const { sampleIndex } = completion;
  if (task.kind === "none") return { sampleIndex, result: task, item: undefined };
  const { text } = completion;
  const result = scorer.score(cut ? asCut(task) : task, text);
  const item = run.kind === "run" ? run.itemOf(completion, completionDigest(text), result) : undefined;
  return { sampleIndex, result, item };
}

function toScoredGroup(
  task: SyncTask | NoReward,
  group: CompletionGroup,
  options: GroupOptions,
  run: GroupRun,
  samples: readonly ToldSample[],
): ScoredGroup {
  const whole = options.statistics && task.kind !== "none" ? wholeGroup(group, samples, task) : undefined;
  if (run.kind !== "run") return { samples, whole, feedback: run };
  const items: FeedbackItem[] = [];
  for (const { item } of samples) if (item !== undefined) items.push(item);
  return { samples, whole, feedback: { kind: "items", runId: run.runId, items } };
}

/** The same for a task whose completions wait for a resource. */
export async function scoreGroupAsync(
  scorer: AsyncScorer,
  task: AsyncTask,
  group: CompletionGroup,
  options: GroupOptions,
  caller: Caller,
): Promise<ScoredGroup> {
  const run = runOf(task, group);
  const sampleOf = (completion: Completion, text: string): RunSample | undefined => {
    if (run.kind !== "run") return undefined;
    const digest = completionDigest(text);
    const key = `${task.groupId} ${run.hash} ${completion.sampleIndex} ${digest}`;
    return { runId: run.runId, key, itemOf: (result) => run.itemOf(completion, digest, result) };
  };
  const begun = await inStretches(group.completions, (completion, i) => {
    const { text } = completion;
    return scorer.score(options.isCut(i) ? asCut(task) : task, text, caller, sampleOf(completion, text));
  });
  const scored = await Promise.all(begun);
  const samples = scored.map(({ result }, i) => ({
    sampleIndex: (group.completions[i] as Completion).sampleIndex,
    result,
  }));
  const whole = options.statistics ? wholeGroup(group, samples, task) : undefined;
  if (run.kind !== "run") return { samples, whole, feedback: run };
  return { samples, whole, feedback: { kind: "recorded", statuses: scored.map(({ status }) => status) } };
}

/** Undefined: some of its samples are not here. */
function wholeGroup(
  group: CompletionGroup,
  samples: readonly ScoredCompletion[],
  task: OpenTask,
): WholeGroup | undefined {
  if (samples.length !== sizeOf(group, task)) return undefined;
  return { statistics: statisticsOf(samples, task), contrastPairs: contrastPairs(samples) };
}

function sizeOf(group: CompletionGroup, task: OpenTask): number {
  return group.numGenerations || (task.token.run?.numGenerations ?? group.completions.length);
}

function statisticsOf(
  samples: readonly ScoredCompletion[],
  { scoring: { scheme } }: OpenTask,
): GroupStatistics | undefined {
  const scored = samples.flatMap(({ sampleIndex, result }, place) =>
    result.kind === "score" ? [{ sampleIndex, place, reward: result.score.reward }] : [],
  );
  if (scored.length === 0) return undefined;
  // By sampleIndex, so that sums are the same to the bit however the samples were ordered.
  scored.sort((a, b) => a.sampleIndex - b.sampleIndex);
  const rewards = scored.map(({ reward }) => reward);
  const { rloo, grpo, mean, std } = advantagesOf(rewards, scheme.scheme.range(scheme.parameters));
  const inPlace = (values: readonly number[]): readonly (number | undefined)[] => {
    const placed = new Array<number | undefined>(samples.length).fill(undefined);
    for (const [i, { place }] of scored.entries()) placed[place] = values[i];
    return placed;
  };
  return { count: rewards.length, mean, std, rloo: inPlace(rloo), grpo: inPlace(grpo) };
}

/** The run that a group's results are to be recorded in, or why they are not. */
type GroupRun =
  | Extract<RunFeedback, { readonly kind: "none" | "refused" }>
  | {
      readonly kind: "run";
      readonly runId: string;
      /** Of the instance. */
      readonly hash: string;
      /** Undefined: the sample has no result yet. */
      itemOf(completion: Completion, digest: string, result: SampleResult): FeedbackItem | undefined;
    };

const NO_RUN: GroupRun = Object.freeze({ kind: "none" });

function runOf(task: OpenTask, group: CompletionGroup): GroupRun {
  const { run, key } = task.token;
  if (run === undefined) return { kind: "none" };
  if (!run.feedback)
    return { kind: "refused", detail: "the run takes reported advantages, or the task is not of its train split" };
  if (group.groupId !== task.groupId)
    return { kind: "refused", detail: `group_id: the task's group is '${task.groupId}'` };
  const { incarnation, cursor, runId, arm, evaluationRound } = run;
  const { hash } = key;
  const evaluation = evaluationRound === undefined ? undefined : { arm, round: evaluationRound };
  const itemOf = (completion: Completion, digest: string, result: SampleResult): FeedbackItem | undefined => {
    const put = resultOf(result, completion);
    if (put === undefined) return undefined;
    const item = {
      incarnation,
      cursor,
      sample: completion.sampleIndex,
      digest,
      result: put,
      hash,
      ...factsIn(task, result),
    };
    return evaluation === undefined ? item : { ...item, evaluation };
  };
  return { kind: "run", runId, hash, itemOf };
}

/** What of a score a policy of the run may read beside; most read none. */
function factsIn({ scoring }: OpenTask, result: SampleResult): Pick<FeedbackItem, "facts"> {
  return result.kind === "score" ? { facts: () => factsOf(scoring, result.score) } : {};
}

function resultOf(result: SampleResult, { policyVersion }: Completion): FeedbackItem["result"] | undefined {
  if (result.kind === "score") {
    const { reward, solved, quality, scan, verdict, violation } = result.score;
    const found = scan && scanned(scan);
    const isGraded = quality !== Number(solved);
    const isRead = verdict !== "malformed";
    return {
      kind: "reward",
      reward,
      solved,
      ...(isGraded && { quality }),
      ...(policyVersion !== undefined && { policyVersion }),
      ...(found !== undefined && { scan: found }),
      ...(!isRead && { malformed: violation }),
    };
  }
  return isFinal(result) ? { kind: "terminal", reason: reasonWords(result) } : undefined;
}
