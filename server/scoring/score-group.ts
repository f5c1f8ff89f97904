/** Scores one group of completions. What a run must be told is handed back, or told by the scorer of slow samples. */
import { reasonWords } from "../../envs/facts.ts";
import { hash } from "node:crypto";
import { advantagesOf } from "../curriculum/core/signals.ts";
import type { FeedbackItem, FeedbackStatus } from "../curriculum/core/feedback.ts";
import { type Completion, type CompletionGroup, FinishReason } from "../gen/gradus/v1/environment_pb.js";
import type { GroupOutcome, Outcome } from "../gen/gradus/v1/outcome_pb.js";
import type { AsyncScorer, Caller, RunSample } from "./async-scorer.ts";
import { contrastPairs, scanned } from "./contrast.ts";
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
import { inStretches } from "../sharing/stretches.ts";
import { outcomeToWire } from "./wire-outcome.ts";

/**
 * Tells texts that a caller sends for one sample apart, by 48 bits in hex. It guards against a mistake, not against the
 * caller, who could leave the second text unsent.
 */
function completionDigest(text: string): string {
  return hash("sha256", text, "hex").slice(0, 12);
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
  /** Complete but for the outcomes' feedback. */
  readonly outcome: GroupOutcome;
  readonly feedback: RunFeedback;
}

/** The group's statistics come with it where the message holds it whole, and it is asked for as a group. */
export interface GroupOptions {
  readonly statistics: boolean;
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
  const scored = group.completions.map((completion) => scoreOne(scorer, task, completion, run));
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
  const scored = await inStretches(group.completions, (completion) => scoreOne(scorer, task, completion, run));
  return toScoredGroup(task, group, options, run, scored);
}

interface ScoredCompletion {
  readonly result: SampleResult;
  /** What its run is told, if anything. */
  readonly item: FeedbackItem | undefined;
}

function scoreOne(scorer: Scorer, task: SyncTask | NoReward, completion: Completion, run: GroupRun): ScoredCompletion {
  if (task.kind === "none") return { result: task, item: undefined };
  const { text } = completion;
  const result = scorer.score(asWritten(task, completion), text);
  return { result, item: run.kind === "run" ? run.itemOf(completion, completionDigest(text), result) : undefined };
}

function toScoredGroup(
  task: SyncTask | NoReward,
  group: CompletionGroup,
  options: GroupOptions,
  run: GroupRun,
  scored: readonly ScoredCompletion[],
): ScoredGroup {
  const results = scored.map(({ result }) => result);
  const outcome = toOutcome(group, results, options.statistics && task.kind !== "none" ? task : undefined);
  if (run.kind !== "run") return { outcome, feedback: run };
  const items: FeedbackItem[] = [];
  for (const { item } of scored) if (item !== undefined) items.push(item);
  return { outcome, feedback: { kind: "items", runId: run.runId, items } };
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
  const begun = await inStretches(group.completions, (completion) => {
    // Once: a long one is made of its bytes each time.
    const { text } = completion;
    return scorer.score(asWritten(task, completion), text, caller, sampleOf(completion, text));
  });
  const scored = await Promise.all(begun);
  const results = scored.map(({ result }) => result);
  const outcome = toOutcome(group, results, options.statistics ? task : undefined);
  if (run.kind !== "run") return { outcome, feedback: run };
  return { outcome, feedback: { kind: "recorded", statuses: scored.map(({ status }) => status) } };
}

/** A task as it is scored for a completion, of which the trainer may say that it reached its greatest length. */
function asWritten<Task extends OpenTask>(task: Task, { finishReason }: Completion): Task {
  return finishReason === FinishReason.LENGTH ? asCut(task) : task;
}

/** With statistics where a task is given. */
function toOutcome(group: CompletionGroup, results: readonly SampleResult[], task?: OpenTask): GroupOutcome {
  const { groupId, completions } = group;
  const outcomes = completions.map(({ sampleIndex }, i) => outcomeToWire(sampleIndex, results[i] as SampleResult));
  const outcome: GroupOutcome = { $typeName: "gradus.v1.GroupOutcome", groupId, outcomes, contrastPairs: [] };
  if (task !== undefined && outcomes.length === sizeOf(group, task)) {
    addStatistics(outcome, outcomes);
    outcome.contrastPairs = contrastPairs(completions, results);
  }
  return outcome;
}

function sizeOf(group: CompletionGroup, task: OpenTask): number {
  return group.numGenerations || (task.token.run?.numGenerations ?? group.completions.length);
}

function addStatistics(group: GroupOutcome, outcomes: readonly Outcome[]): void {
  const scored = scoredInOrder(outcomes);
  if (scored.length === 0) return;
  const rewards = scored.map(({ result }) => (result.case === "score" ? result.value.reward : NaN));
  const { rloo, grpo, mean, std } = advantagesOf(rewards);
  for (let i = 0; i < scored.length; i++) {
    const outcome = scored[i] as Outcome;
    outcome.rlooAdvantage = rloo[i];
    outcome.grpoAdvantage = grpo[i];
  }
  group.statistics = { $typeName: "gradus.v1.GroupStatistics", count: rewards.length, mean, std };
}

/** By sample_index, so that sums are the same to the bit however the samples were ordered. As nearly always: as they are. */
function scoredInOrder(outcomes: readonly Outcome[]): readonly Outcome[] {
  let inOrder = true;
  for (let i = 0; i < outcomes.length && inOrder; i++) {
    const { result, sampleIndex } = outcomes[i] as Outcome;
    inOrder = result.case === "score" && (i === 0 || (outcomes[i - 1] as Outcome).sampleIndex < sampleIndex);
  }
  if (inOrder) return outcomes;
  return outcomes.filter(({ result }) => result.case === "score").sort((a, b) => a.sampleIndex - b.sampleIndex);
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
    const item = { incarnation, cursor, sample: completion.sampleIndex, digest, result: put, hash };
    return evaluation === undefined ? item : { ...item, evaluation };
  };
  return { kind: "run", runId, hash, itemOf };
}

function resultOf(result: SampleResult, { policyVersion }: Completion): FeedbackItem["result"] | undefined {
  if (result.kind === "score") {
    const { reward, solved, scan } = result.score;
    const found = scan && scanned(scan);
    // As nearly always: with neither.
    if (policyVersion === undefined && found === undefined) return { kind: "reward", reward, solved };
    return {
      kind: "reward",
      reward,
      solved,
      ...(policyVersion !== undefined && { policyVersion }),
      ...(found !== undefined && { scan: found }),
    };
  }
  return isFinal(result) ? { kind: "terminal", reason: reasonWords(result) } : undefined;
}
