/**
 * Scores one group of completions. Feedback for its run is returned, or recorded by the scorer of asynchronous samples.
 */
import { reasonWords } from "../../../envs/facts.ts";
import { factsOf } from "../../../envs/score.ts";
import { hash } from "node:crypto";
import { advantagesOf } from "../../curriculum/advantages.ts";
import type { FeedbackItem, FeedbackStatus } from "../../curriculum/feedback.ts";
import type { AsyncScorer, Caller, RunSample } from "./async-scorer.ts";
import { type ContrastPair, contrastPairs, scanned, type ScoredCompletion } from "./contrast-pairs.ts";
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
import { mapInSlices } from "../../base/time-slices.ts";

/**
 * Returns a digest that distinguishes texts sent for one sample: 48 bits in hex. It guards against mistakes, not
 * against the caller, who could simply not send the second text.
 */
function completionDigest(text: string): string {
  return hash("sha256", text, "hex").slice(0, 12);
}

/** A completion to score. */
interface Completion {
  /** Index of the sample in its group. */
  readonly sampleIndex: number;
  /** Text of the completion. It is read once for each score, because a long text is decoded at each reading. */
  readonly text: string;
  /** Version of the policy that wrote it, if the trainer gives it. */
  readonly policyVersion?: number | undefined;
}

/** Completions of one task. The contract's messages have this type, so nothing is copied. */
export interface CompletionGroup {
  readonly groupId: string;
  /** Number of samples in the whole group. 0: as many as its run has, or as are in this request. */
  readonly numGenerations: number;
  readonly completions: readonly Completion[];
}

/** Feedback of a group's scores for the run that issued its task. */
export type RunFeedback =
  /** No run issued the task. */
  | { readonly kind: "none" }
  /** The scores are not recorded, for the reason in `detail`. */
  | { readonly kind: "refused"; readonly detail: string }
  /** Results to record. Other samples have no result yet. */
  | { readonly kind: "items"; readonly runId: string; readonly items: readonly FeedbackItem[] }
  /** Results were recorded one by one. Undefined: there was nothing to record. */
  | { readonly kind: "recorded"; readonly statuses: readonly (FeedbackStatus | undefined)[] };

export interface ScoredGroup {
  /** Results in the order of the group's completions. */
  readonly samples: readonly ScoredCompletion[];
  /** Figures of the complete group. Undefined: not requested, or some samples are not in this request. */
  readonly whole: WholeGroup | undefined;
  readonly feedback: RunFeedback;
}

/** Figures of a complete group. */
export interface WholeGroup {
  /** Statistics of the samples with a score. Undefined: none has a score. */
  readonly statistics: GroupStatistics | undefined;
  readonly contrastPairs: readonly ContrastPair[];
}

export interface GroupStatistics {
  readonly count: number;
  readonly mean: number;
  readonly std: number;
  /** Advantages in the order of the samples. Undefined for a sample without a score. */
  readonly rloo: readonly (number | undefined)[];
  readonly grpo: readonly (number | undefined)[];
}

export interface GroupOptions {
  /** Whether to return the statistics of a complete group. */
  readonly statistics: boolean;
  /** Returns whether the trainer says that the completion at this index reached its maximum length. */
  readonly isCut: (place: number) => boolean;
}

/**
 * Maximum number of UTF-16 units of a group that is scored in one stretch. The most expensive texts then take some
 * milliseconds.
 */
const UNITS_AT_ONCE_MAX = 256 * 1024;

/**
 * Returns whether a group is scored in stretches, so that other work can run in between. `length` is that of its texts
 * together; undefined: they are in memory, and counted here.
 */
export function isLarge({ completions }: CompletionGroup, length: number | undefined): boolean {
  if (completions.length === 1) return false;
  return (length ?? completions.reduce((units, { text }) => units + text.length, 0)) > UNITS_AT_ONCE_MAX;
}

/** Scores a group at once. Never throws because of the contents of completions or of the task_id. */
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

/** Scores a large group in stretches. */
export async function scoreLargeGroup(
  scorer: Scorer,
  task: SyncTask | NoReward,
  group: CompletionGroup,
  options: GroupOptions,
): Promise<ScoredGroup> {
  const run = task.kind === "none" ? NO_RUN : runOf(task, group);
  const scored = await mapInSlices(group.completions, (completion, i) =>
    scoreOne(scorer, task, completion, run, options.isCut(i)),
  );
  return toScoredGroup(task, group, options, run, scored);
}

interface SampleWithFeedback extends ScoredCompletion {
  /** Feedback for its run, if any. */
  readonly item: FeedbackItem | undefined;
}

function scoreOne(
  scorer: Scorer,
  task: SyncTask | NoReward,
  completion: Completion,
  run: GroupRun,
  cut: boolean,
): SampleWithFeedback {
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
  samples: readonly SampleWithFeedback[],
): ScoredGroup {
  const whole = options.statistics && task.kind !== "none" ? wholeGroup(group, samples, task) : undefined;
  if (run.kind !== "run") return { samples, whole, feedback: run };
  const items: FeedbackItem[] = [];
  for (const { item } of samples) if (item !== undefined) items.push(item);
  return { samples, whole, feedback: { kind: "items", runId: run.runId, items } };
}

/** Scores a group whose completions wait for a resource. */
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
  const begun = await mapInSlices(group.completions, (completion, i) => {
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

/** Returns the figures of a group. Undefined: some of its samples are not in this request. */
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
  // Samples are sorted by sampleIndex, so that sums are identical for every order of the request.
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

/** Run in which a group's results are recorded, or the reason why they are not. */
type GroupRun =
  | Extract<RunFeedback, { readonly kind: "none" | "refused" }>
  | {
      readonly kind: "run";
      readonly runId: string;
      /** Hash of the instance. */
      readonly hash: string;
      /** Returns the feedback for a result. Undefined: the sample has no final result yet. */
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

/** Returns the facts of a score that a run's policy may read. Most policies read none. */
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
