/** Groups of completions in, outcomes out; feedback goes to the run on the way. */
import { create } from "@bufbuild/protobuf";
import { type Feedback, type FeedbackItem, grpoAdvantages, meanAndStd, rlooAdvantages } from "../curriculum/index.ts";
import type { CompletionGroup } from "../gen/gradus/v1/environment_pb.js";
import { type GroupOutcome, GroupOutcomeSchema, type Outcome } from "../gen/gradus/v1/outcome_pb.js";
import type { NoRewardReason, OpenTask, SampleResult } from "../tasks/scorer.ts";
import { checkBytes, checkCount, invalid } from "./check.ts";
import type { ServiceDeps } from "./deps.ts";
import { completionDigest } from "./digest.ts";
import { outcomeToWire } from "./wire-outcome.ts";

const GROUP_ID_BYTES_MAX = 256;

/** Reasons that are final: a sample with one of them will never have a reward, and its group need not wait for it. */
const TERMINAL: ReadonlySet<NoRewardReason> = new Set(["too_large", "timeout"]);

/** INVALID_ARGUMENT for what only a client's mistake explains; the rest is answered for each completion. */
export function checkGroups(groups: readonly CompletionGroup[], limits: ServiceDeps["limits"]): void {
  checkCount(groups.length, limits.groupsMax, "groups", 1);
  for (const [i, group] of groups.entries()) {
    checkBytes(group.groupId, GROUP_ID_BYTES_MAX, `groups[${i}].group_id`);
    checkCount(group.completions.length, limits.completionsMax, `groups[${i}].completions`, 1);
    const seen = new Set<number>();
    for (const [j, { sampleIndex }] of group.completions.entries()) {
      if (seen.has(sampleIndex))
        throw invalid(`groups[${i}].completions[${j}].sample_index`, `${sampleIndex} stands there twice`);
      seen.add(sampleIndex);
    }
  }
}

/** Scores one group. Never throws for what its completions or its task_id hold. */
export async function scoreGroup(deps: ServiceDeps, group: CompletionGroup): Promise<GroupOutcome> {
  const { scorer } = deps;
  const task = scorer.open(group.taskId);
  const results = group.completions.map(({ text }): SampleResult =>
    task.kind === "none" ? task : scorer.score(task, text),
  );
  const feedback = task.kind === "open" ? await feedBack(deps, task, group, results) : undefined;
  const outcomes = group.completions.map(({ sampleIndex }, i) =>
    outcomeToWire(sampleIndex, results[i] as SampleResult, feedback?.[i]),
  );
  const outcome = create(GroupOutcomeSchema, { groupId: group.groupId });
  outcome.outcomes = outcomes;
  if (task.kind === "open" && outcomes.length === sizeOf(group, task)) addStatistics(outcome, outcomes);
  return outcome;
}

function sizeOf(group: CompletionGroup, task: OpenTask): number {
  return group.numGenerations || (task.ticket.run?.numGenerations ?? group.completions.length);
}

function addStatistics(group: GroupOutcome, outcomes: readonly Outcome[]): void {
  // By sample_index, so that sums are the same to the bit however the samples were ordered.
  const scored = outcomes
    .flatMap((outcome) => (outcome.result.case === "score" ? [{ outcome, reward: outcome.result.value.reward }] : []))
    .sort((a, b) => a.outcome.sampleIndex - b.outcome.sampleIndex);
  if (scored.length === 0) return;
  const rewards = scored.map(({ reward }) => reward);
  const rloo = rlooAdvantages(rewards);
  const grpo = grpoAdvantages(rewards);
  for (const [i, { outcome }] of scored.entries()) {
    outcome.rlooAdvantage = rloo[i] as number;
    outcome.grpoAdvantage = grpo[i] as number;
  }
  const { mean, std } = meanAndStd(rewards);
  group.statistics = { $typeName: "gradus.v1.GroupStatistics", count: rewards.length, mean, std };
}

async function feedBack(
  deps: ServiceDeps,
  task: OpenTask,
  group: CompletionGroup,
  results: readonly SampleResult[],
): Promise<readonly Feedback[] | undefined> {
  const { run } = task.ticket;
  if (run === undefined) return undefined;
  if (!run.feedback) return same(group, "the run takes reported advantages, or the task is not of its train split");
  if (group.groupId !== task.groupId) return same(group, `group_id: the task's group is '${task.groupId}'`);
  const entries = group.completions.map(({ sampleIndex, text }, i): FeedbackItem | Feedback => {
    const result = results[i] as SampleResult;
    if (sampleIndex >= run.numGenerations)
      return notRecorded(
        `sample_index: the run has ${run.numGenerations} completions of each prompt, and this is ${sampleIndex}`,
      );
    if (result.kind === "none" && !TERMINAL.has(result.reason))
      return notRecorded("it has no reward yet: send it again");
    return {
      epoch: run.epoch,
      cursor: run.cursor,
      sample: sampleIndex,
      digest: completionDigest(text),
      result:
        result.kind === "score"
          ? { kind: "reward", reward: result.score.reward, solved: result.score.solved }
          : { kind: "terminal", reason: result.reason },
    };
  });
  const items = entries.filter((entry) => "digest" in entry);
  const recorded = items.length === 0 ? [] : await deps.runs.recordFeedback(run.runId, items);
  let next = 0;
  return entries.map((entry) => ("digest" in entry ? (recorded[next++] as Feedback) : entry));
}

function notRecorded(detail: string): Feedback {
  return { status: "not_recorded", detail };
}

function same(group: CompletionGroup, detail: string): readonly Feedback[] {
  return group.completions.map(() => notRecorded(detail));
}
