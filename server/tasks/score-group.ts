/** Scores one group of completions. Keeps nothing and asks nobody: what a run must be told is handed back. */
import { hash } from "node:crypto";
import { instanceHash } from "../../envs/splits.ts";
import { grpo, meanAndStd, rloo } from "../curriculum/advantages.ts";
import type { FeedbackItem } from "../curriculum/feedback.ts";
import type { CompletionGroup } from "../gen/gradus/v1/environment_pb.js";
import type { GroupOutcome, Outcome } from "../gen/gradus/v1/outcome_pb.js";
import type { NoRewardReason, OpenTask, SampleResult, Scorer } from "./scorer.ts";
import { outcomeToWire } from "./wire-outcome.ts";

// Tells completions of one sample apart: 48 bits of SHA-256, in hex.

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
  | { readonly kind: "items"; readonly runId: string; readonly items: readonly FeedbackItem[] };

export interface ScoredGroup {
  /** Complete but for the outcomes' feedback. */
  readonly outcome: GroupOutcome;
  readonly feedback: RunFeedback;
}

/** Reasons that are final: a sample with one of them will never have a reward, and its group need not wait for it. */
const TERMINAL: ReadonlySet<NoRewardReason> = new Set(["too_large", "timeout"]);

/** The group's statistics come with it where the message holds it whole, and it is asked for as a group. */
export interface GroupOptions {
  readonly statistics: boolean;
}

/** Never throws for what the completions or the task_id hold. */
export function scoreGroup(
  scorer: Scorer,
  group: CompletionGroup,
  options: GroupOptions = { statistics: true },
): ScoredGroup {
  const task = scorer.open(group.taskId);
  const results = group.completions.map(({ text }): SampleResult =>
    task.kind === "none" ? task : scorer.score(task, text),
  );
  const outcomes = group.completions.map(({ sampleIndex }, i) =>
    outcomeToWire(sampleIndex, results[i] as SampleResult),
  );
  const { groupId } = group;
  const outcome: GroupOutcome = { $typeName: "gradus.v1.GroupOutcome", groupId, outcomes, contrastPairs: [] };
  if (task.kind === "none") return { outcome, feedback: { kind: "none" } };
  if (options.statistics && outcomes.length === sizeOf(group, task)) addStatistics(outcome, outcomes);
  return { outcome, feedback: feedbackOf(task, group, results) };
}

function sizeOf(group: CompletionGroup, task: OpenTask): number {
  return group.numGenerations || (task.ticket.run?.numGenerations ?? group.completions.length);
}

function addStatistics(group: GroupOutcome, outcomes: readonly Outcome[]): void {
  // By sample_index, so that sums are the same to the bit however the samples were ordered.
  const scored = outcomes.filter(({ result }) => result.case === "score").sort((a, b) => a.sampleIndex - b.sampleIndex);
  if (scored.length === 0) return;
  const rewards = scored.map(({ result }) => (result.case === "score" ? result.value.reward : NaN));
  const byRloo = rloo(rewards);
  const byGrpo = grpo(rewards);
  for (let i = 0; i < scored.length; i++) {
    const outcome = scored[i] as Outcome;
    outcome.rlooAdvantage = byRloo[i];
    outcome.grpoAdvantage = byGrpo[i];
  }
  const { mean, std } = meanAndStd(rewards);
  group.statistics = { $typeName: "gradus.v1.GroupStatistics", count: rewards.length, mean, std };
}

function feedbackOf(task: OpenTask, group: CompletionGroup, results: readonly SampleResult[]): RunFeedback {
  const { run } = task.ticket;
  if (run === undefined) return { kind: "none" };
  if (!run.feedback)
    return { kind: "refused", detail: "the run takes reported advantages, or the task is not of its train split" };
  if (group.groupId !== task.groupId)
    return { kind: "refused", detail: `group_id: the task's group is '${task.groupId}'` };
  const { epoch, cursor, runId } = run;
  // Tells a task of a run that was deleted from one of a new run by the same id.
  const hash = instanceHash(task.scoring.environment, task.scoring.instance);
  const items = group.completions.flatMap(({ sampleIndex: sample, text }, i): readonly FeedbackItem[] => {
    const result = resultOf(results[i] as SampleResult);
    return result === undefined ? [] : [{ epoch, cursor, sample, digest: completionDigest(text), result, hash }];
  });
  return { kind: "items", runId, items };
}

function resultOf(result: SampleResult): FeedbackItem["result"] | undefined {
  if (result.kind === "score") return { kind: "reward", reward: result.score.reward, solved: result.score.solved };
  return TERMINAL.has(result.reason) ? { kind: "terminal", reason: result.reason } : undefined;
}
