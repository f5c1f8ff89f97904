/**
 * Scores one group of completions. If the group belongs to a run, returns feedback for the run; if scoring waits for a
 * resource, each result has already been recorded in the run.
 */
import { reasonWords } from "../../../envs/facts.ts";
import { factsOf } from "../../../envs/score.ts";
import { hash } from "node:crypto";
import { advantagesOf } from "../../curriculum/advantages.ts";
import type { FeedbackItem, FeedbackStatus } from "../../curriculum/feedback.ts";
import { lengthOfSample } from "../../curriculum/lengths.ts";
import type { Caller, RunSample, ScoredSample } from "./async-scorer.ts";
import type { CompletionForm, PlayedCompletion } from "./play-turn.ts";
import { type ContrastPair, contrastPairs, scanned, type ScoredCompletion } from "./contrast-pairs.ts";
import { invalidTask, isFinal, type NoReward, type StepResult } from "./results.ts";
import { asCut, type AskingTask, type AsyncTask, type OpenTask, type Scorer, type SyncTask } from "./scorer.ts";
import type { Scorers } from "./score-alone.ts";
import { mapInSlices } from "../../base/time-slices.ts";

/**
 * Returns a short digest of a completion's text: 48 bits in hex. It shows when a client sends another text for the same
 * sample by mistake. It is no protection against a dishonest client.
 */
function completionDigest(text: string): string {
  return hash("sha256", text, "hex").slice(0, 12);
}

/** Returns a digest of a sample's key. It is as long as the digest of a completion. */
function keyDigest(key: string): string {
  return completionDigest(`sample_key ${key}`);
}

/**
 * Completion that is to be scored, with its index in its group. Read its text only once for each score, because each
 * access decodes it again.
 */
interface Completion extends PlayedCompletion {
  /** Version of the trained model that wrote the completion. Unset: the trainer did not report it. */
  readonly policyVersion?: number | undefined;
  /** Number of tokens of the completion. Unset: the trainer did not report it. */
  readonly tokens?: number | undefined;
  /** Earlier messages of the episode. */
  readonly transcript?: readonly { readonly role: string; readonly content: string }[];
  /** Id of the completion's own task, e.g. of a later turn. Empty: the task of the group. */
  readonly taskId?: string;
}

/** Completions of one task. The contract's messages fit this type, so nothing is copied. */
export interface CompletionGroup {
  readonly groupId: string;
  /**
   * Number of samples in the complete group. 0: the run's number of completions, or without a run as many as are in the
   * request.
   */
  readonly numGenerations: number;
  readonly completions: readonly Completion[];
}

/** Feedback from a group's scores, for the run that gave out the group's task. */
export type RunFeedback =
  /** The task belongs to no run. */
  | { readonly kind: "none" }
  /** The run must not record the scores. `detail` says why. */
  | { readonly kind: "refused"; readonly detail: string }
  /**
   * Results that the caller must record, and their positions in the group. Samples that are not listed have no final
   * result yet.
   */
  | {
      readonly kind: "items";
      readonly runId: string;
      readonly items: readonly FeedbackItem[];
      readonly places: readonly number[];
    }
  /** Results were recorded one by one. An undefined status means that there was nothing to record. */
  | { readonly kind: "recorded"; readonly statuses: readonly (FeedbackStatus | undefined)[] };

export interface ScoredGroup {
  /** Results in the order of the group's completions. */
  readonly samples: readonly ScoredCompletion[];
  /**
   * Statistics and pairs of the complete group. Undefined: they were not requested, or the request has only part of the
   * group.
   */
  readonly whole: WholeGroup | undefined;
  readonly feedback: RunFeedback;
}

/** Statistics and contrast pairs of a complete group. */
export interface WholeGroup {
  /** Statistics of the samples that have a score. Undefined: none has. */
  readonly statistics: GroupStatistics | undefined;
  readonly contrastPairs: readonly ContrastPair[];
}

export interface GroupStatistics {
  readonly count: number;
  readonly mean: number;
  readonly std: number;
  /** RLOO advantages, in the order of the samples. Undefined: the sample has no score. */
  readonly rloo: readonly (number | undefined)[];
  /** GRPO advantages, in the order of the samples. Undefined: the sample has no score. */
  readonly grpo: readonly (number | undefined)[];
}

export interface GroupOptions {
  /** Whether to compute the statistics of a complete group. */
  readonly statistics: boolean;
  /** Returns whether the trainer says that the completion at this position was cut off at its maximum length. */
  readonly isCut: (place: number) => boolean;
  /** Returns whether the text of the completion at this position may contain tool calls in Hermes format. */
  readonly isHermes: (place: number) => boolean;
}

/**
 * Maximum number of UTF-16 units of a group that is scored without other work in between. Even the most expensive texts
 * then take only some milliseconds.
 */
const UNITS_AT_ONCE_MAX = 256 * 1024;

/**
 * Returns whether a group is so large that other work must run between its completions. `length` is the length of all
 * its texts. Undefined: this function counts it.
 */
export function isLarge({ completions }: CompletionGroup, length: number | undefined): boolean {
  if (completions.length === 1) return false;
  const units = length ?? completions.reduce((sum, { text }) => sum + text.length, 0);
  return completions.reduce((sum, completion) => sum + unitsOfTurn(completion), units) > UNITS_AT_ONCE_MAX;
}

/** Returns the length of those parts of a completion that only tasks with turns have, in UTF-16 units. */
function unitsOfTurn({ taskId = "", toolCalls = [] }: Completion): number {
  return toolCalls.reduce((sum, { argumentsJson }) => sum + argumentsJson.length, taskId.length);
}

/** Scores a group without pause. It never throws, whatever the completions and the task_id contain. */
export function scoreGroup(
  scorer: Scorer,
  task: SyncTask | NoReward,
  group: CompletionGroup,
  options: GroupOptions,
): ScoredGroup {
  const run = task.kind === "none" ? NO_RUN : runOf(task, group);
  const scored = group.completions.map((completion, i) => scoreOne(scorer, task, completion, run, howOf(options, i)));
  return toScoredGroup(task, group, options, run, scored);
}

/** Scores a large group, with other work in between. */
export async function scoreLargeGroup(
  scorer: Scorer,
  task: SyncTask | NoReward,
  group: CompletionGroup,
  options: GroupOptions,
): Promise<ScoredGroup> {
  const run = task.kind === "none" ? NO_RUN : runOf(task, group);
  const scored = await mapInSlices(group.completions, (completion, i) =>
    scoreOne(scorer, task, completion, run, howOf(options, i)),
  );
  return toScoredGroup(task, group, options, run, scored);
}

interface SampleWithFeedback extends ScoredCompletion {
  /** Feedback for the sample's run. Undefined: there is none. */
  readonly item: FeedbackItem | undefined;
}

function scoreOne(
  scorer: Scorer,
  task: SyncTask | NoReward,
  completion: Completion,
  run: GroupRun,
  how: CompletionForm,
): SampleWithFeedback {
  const { sampleIndex } = completion;
  const own = taskOf(scorer, task, completion);
  if (own.kind === "none") return { sampleIndex, result: own, item: undefined };
  const { text } = completion;
  const hasTurns = own.token.calls !== undefined;
  const result = hasTurns ? scorer.play(own, completion, how) : scorer.score(how.isCut ? asCut(own) : own, text);
  const itemOf = (): FeedbackItem | undefined =>
    run.kind === "run"
      ? run.itemOf(completion, digestOf(result) ?? completionDigest(text), result, text.length)
      : undefined;
  return { sampleIndex, result, item: isOfSample(result) ? itemOf() : undefined };
}

function howOf({ isCut, isHermes }: GroupOptions, place: number): CompletionForm {
  return { isCut: isCut(place), isHermes: isHermes(place) };
}

/** Returns the task of a completion: its own, or the group's. */
function taskOf(scorer: Scorer, task: SyncTask | NoReward, { taskId = "" }: Completion): SyncTask | NoReward {
  if (taskId === "") return task;
  const own = scorer.open(taskId);
  if (own.kind === "none" || task.kind === "none") return own.kind === "none" ? own : task;
  return own.kind === "sync" && isSameTask(own, task) ? own : OF_ANOTHER_GROUP;
}

const OF_ANOTHER_GROUP = Object.freeze(
  invalidTask("task_id: its task or the task's settings differ from those of the group's task_id"),
);

type TurnTask = SyncTask | AskingTask;

/** Returns whether two task ids belong to the same task with the same settings. Their episodes may differ. */
function isSameTask(one: TurnTask, other: TurnTask): boolean {
  if (one.token.run !== undefined || other.token.run !== undefined) return one.groupId === other.groupId;
  const { key, environment, version, rewardScheme } = one.token;
  const isSame = key.hash === other.token.key.hash && environment === other.token.environment;
  const isAlike = version === other.token.version && rewardScheme === other.token.rewardScheme;
  // The settings hold everything else that must be equal, e.g. tools and discount. Those of tasks without turns are
  // empty.
  return isSame && isAlike && Buffer.compare(one.settings, other.settings) === 0;
}

/**
 * Returns whether a run may record a result for the sample. If the task_id is invalid, the result says nothing about
 * the sample.
 */
function isOfSample(result: StepResult): boolean {
  return result.kind !== "none" || result.reason !== "invalid_task_id";
}

function digestOf(result: StepResult): string | undefined {
  return result.kind === "score" ? result.digest : undefined;
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
  const places: number[] = [];
  for (const [place, { item }] of samples.entries()) {
    if (item === undefined) continue;
    items.push(item);
    places.push(place);
  }
  return { samples, whole, feedback: { kind: "items", runId: run.runId, items, places } };
}

/** Scores a group whose completions, or their calls, wait for an external resource. */
export async function scoreGroupAsync(
  scorers: Scorers,
  task: AsyncTask | AskingTask,
  group: CompletionGroup,
  options: GroupOptions,
  caller: Caller,
): Promise<ScoredGroup> {
  const { scorer, asyncScorer } = scorers;
  const run = runOf(task, group);
  /**
   * Returns the sample if the task belongs to a run. `more` is added to the sample's key, so that samples with other
   * earlier calls have other keys.
   */
  const sampleOf = (completion: Completion, text: string, more = ""): RunSample | undefined => {
    if (run.kind !== "run") return undefined;
    const digest = completionDigest(text);
    const { sampleKey = "", sampleIndex } = completion;
    // The prefix distinguishes the key "3" from the index 3.
    const sample = sampleKey === "" ? sampleIndex : `key ${sampleKey}`;
    const key = `${task.groupId} ${run.hash} ${sample} ${digest}${more}`;
    const itemOf = (result: StepResult): FeedbackItem | undefined =>
      isOfSample(result) ? run.itemOf(completion, digestOf(result) ?? digest, result, text.length) : undefined;
    return { runId: run.runId, key, itemOf };
  };
  const begun = await mapInSlices(group.completions, (completion, i): ScoredSample | Promise<ScoredSample> => {
    const { text, taskId = "" } = completion;
    if (task.kind === "asking") {
      const own = taskId === "" ? task : scorer.open(taskId);
      if (own.kind === "none") return { result: own };
      if (own.kind !== "asking" || !isSameTask(own, task)) return { result: OF_ANOTHER_GROUP };
      const form = howOf(options, i);
      const sample = sampleOf(completion, text, ` ${episodeKey(own, completion, form)}`);
      return asyncScorer.play(own, completion, form, caller, sample);
    }
    if (taskId !== "")
      return { result: invalidTask(`task_id: tasks of ${task.token.environment} have no turns: leave it empty`) };
    return asyncScorer.score(options.isCut(i) ? asCut(task) : task, text, caller, sampleOf(completion, text));
  });
  const scored = await Promise.all(begun.map((each) => Promise.resolve(each)));
  const samples = scored.map(({ result }, i) => ({
    sampleIndex: (group.completions[i] as Completion).sampleIndex,
    result,
  }));
  const whole = options.statistics ? wholeGroup(group, samples, task) : undefined;
  if (run.kind !== "run") return { samples, whole, feedback: run };
  return { samples, whole, feedback: { kind: "recorded", statuses: scored.map(({ status }) => status) } };
}

/**
 * Returns a text that distinguishes completions with equal text: it differs if their calls of tools, or the earlier
 * calls of their episodes, differ.
 */
function episodeKey(
  { token: { episode } }: AskingTask,
  { toolCalls = [], end = false }: Completion,
  form: CompletionForm,
): string {
  const calls = toolCalls.map(({ id, name, argumentsJson }) => [id, name, argumentsJson]);
  const state = Buffer.from(episode?.state ?? []).toString("base64");
  return completionDigest(JSON.stringify([episode?.digest, state, calls, end, form]));
}

/** Returns the statistics and pairs of a group. Undefined: the request has only part of the group. */
function wholeGroup(
  group: CompletionGroup,
  samples: readonly ScoredCompletion[],
  task: OpenTask,
): WholeGroup | undefined {
  const isWhole = samples.length === sizeOf(group, task) && samples.every(({ result }) => result.kind !== "turn");
  if (!isWhole) return undefined;
  return { statistics: statisticsOf(samples, task), contrastPairs: contrastPairs(samples) };
}

function sizeOf(group: CompletionGroup, task: OpenTask): number {
  return group.numGenerations || (task.token.run?.numGenerations ?? group.completions.length);
}

function statisticsOf(
  samples: readonly ScoredCompletion[],
  { scoring: { scheme } }: OpenTask,
): GroupStatistics | undefined {
  const scored = scoredInOrder(samples);
  if (scored.length === 0) return undefined;
  const rewards = scored.map(({ result }) => rewardOf(result));
  const { rloo, grpo, mean, std } = advantagesOf(rewards, scheme.scheme.range(scheme.parameters));
  const statistics = { count: rewards.length, mean, std, rloo, grpo };
  if (scored === samples) return statistics;
  const places = new Map(scored.map((sample, i) => [sample, i]));
  const inPlace = (values: readonly number[]) => samples.map((sample) => values[places.get(sample) ?? -1]);
  return { ...statistics, rloo: inPlace(rloo), grpo: inPlace(grpo) };
}

/**
 * Returns the samples that have a score, sorted by sampleIndex, so that sums are identical for every order of the
 * request. Samples with a sample_key have no index, so their rewards are sorted. Returns the list itself if it is
 * already sorted.
 */
function scoredInOrder(samples: readonly ScoredCompletion[]): readonly ScoredCompletion[] {
  const isSorted = samples.every(
    ({ result, sampleIndex }, i) =>
      result.kind === "score" && (i === 0 || (samples[i - 1] as ScoredCompletion).sampleIndex < sampleIndex),
  );
  if (isSorted) return samples;
  const scored = samples.filter(({ result }) => result.kind === "score");
  return scored.sort((a, b) => a.sampleIndex - b.sampleIndex || rewardOf(a.result) - rewardOf(b.result));
}

function rewardOf(result: StepResult): number {
  return result.kind === "score" ? result.score.reward : Number.NaN;
}

/** Run that records a group's results, or the reason why none does. */
type GroupRun =
  | Extract<RunFeedback, { readonly kind: "none" | "refused" }>
  | {
      readonly kind: "run";
      readonly runId: string;
      /** Hash of the task's instance. */
      readonly hash: string;
      /**
       * Returns the feedback for a result. `units` is the length of the completion's text. Undefined: the sample has no
       * final result yet.
       */
      itemOf(completion: Completion, digest: string, result: StepResult, units: number): FeedbackItem | undefined;
    };

const NO_RUN: GroupRun = Object.freeze({ kind: "none" });

function runOf(task: OpenTask, group: CompletionGroup): GroupRun {
  const { run, key } = task.token;
  if (run === undefined) return { kind: "none" };
  if (!run.feedback)
    return {
      kind: "refused",
      detail:
        "scores of this task are no feedback: the run takes reported advantages, or the task is not of the split train",
    };
  if (group.groupId !== task.groupId)
    return { kind: "refused", detail: `group_id: the task's group is '${task.groupId}'` };
  const { incarnation, cursor, runId, arm, evaluationRound } = run;
  const { hash } = key;
  const evaluation = evaluationRound === undefined ? undefined : { arm, round: evaluationRound };
  const itemOf = (
    completion: Completion,
    digest: string,
    result: StepResult,
    units: number,
  ): FeedbackItem | undefined => {
    const put = resultOf(result, completion);
    if (put === undefined) return undefined;
    const { sampleIndex: sample, sampleKey = "" } = completion;
    const item = {
      incarnation,
      cursor,
      sample,
      ...(sampleKey !== "" && { sampleKey: keyDigest(sampleKey) }),
      digest,
      result: put,
      lengths: lengthOfSample(completion.tokens, units + unitsBefore(completion)),
      hash,
      ...factsIn(task, result),
    };
    return evaluation === undefined ? item : { ...item, evaluation };
  };
  return { kind: "run", runId, hash, itemOf };
}

/**
 * Returns the length in UTF-16 units of the policy's earlier messages in the episode, or 0 if the trainer did not send
 * them.
 */
function unitsBefore({ transcript = [] }: Completion): number {
  return transcript.reduce((sum, { role, content }) => (role === "assistant" ? sum + content.length : sum), 0);
}

/**
 * Returns the feedback's `facts`: a function that computes additional values of a score, which some policies of runs
 * read. The function is called only if the run's policy needs them.
 */
function factsIn({ scoring }: OpenTask, result: StepResult): Pick<FeedbackItem, "facts"> {
  return result.kind === "score" ? { facts: () => factsOf(scoring, result.score) } : {};
}

function resultOf(result: StepResult, { policyVersion }: Completion): FeedbackItem["result"] | undefined {
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
  return result.kind === "none" && isFinal(result) ? { kind: "terminal", reason: reasonWords(result) } : undefined;
}
