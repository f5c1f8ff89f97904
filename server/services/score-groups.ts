/** Groups of completions in, outcomes out; feedback goes to the run on the way. */
import { instanceHash } from "../../envs/splits.ts";
import { type FeedbackItem, type FeedbackStatus, grpo, meanAndStd, rloo } from "../curriculum/index.ts";
import type { CompletionGroup } from "../gen/gradus/v1/environment_pb.js";
import type { GroupOutcome, Outcome } from "../gen/gradus/v1/outcome_pb.js";
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
  const { groupId } = group;
  const outcome: GroupOutcome = { $typeName: "gradus.v1.GroupOutcome", groupId, outcomes, contrastPairs: [] };
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
  const byRloo = rloo(rewards);
  const byGrpo = grpo(rewards);
  for (const [i, { outcome }] of scored.entries()) {
    outcome.rlooAdvantage = byRloo[i];
    outcome.grpoAdvantage = byGrpo[i];
  }
  const { mean, std } = meanAndStd(rewards);
  group.statistics = { $typeName: "gradus.v1.GroupStatistics", count: rewards.length, mean, std };
}

/** What each sample does to the task's run; undefined: no run issued the task. */
async function feedBack(
  deps: ServiceDeps,
  task: OpenTask,
  group: CompletionGroup,
  results: readonly SampleResult[],
): Promise<readonly FeedbackStatus[] | undefined> {
  const { run } = task.ticket;
  if (run === undefined) return undefined;
  if (!run.feedback) return same(group, "the run takes reported advantages, or the task is not of its train split");
  if (group.groupId !== task.groupId) return same(group, `group_id: the task's group is '${task.groupId}'`);
  const { epoch, cursor } = run;
  // Tells a task of a run that was deleted from one of a new run by the same id.
  const hash = instanceHash(task.scoring.environment, task.scoring.instance);
  const items: FeedbackItem[] = [];
  for (const [i, { sampleIndex, text }] of group.completions.entries()) {
    const result = resultOf(results[i] as SampleResult);
    if (result !== undefined)
      items.push({ epoch, cursor, sample: sampleIndex, digest: completionDigest(text), result, hash });
  }
  const recorded = await record(deps, run.runId, items);
  return group.completions.map(
    ({ sampleIndex }) => recorded.get(sampleIndex) ?? notRecorded("it has no reward yet: send it again"),
  );
}

function resultOf(result: SampleResult): FeedbackItem["result"] | undefined {
  if (result.kind === "score") return { kind: "reward", reward: result.score.reward, solved: result.score.solved };
  return TERMINAL.has(result.reason) ? { kind: "terminal", reason: result.reason } : undefined;
}

/** Scoring always answers: what the run or its store cannot take is said in the feedback. */
async function record(
  deps: ServiceDeps,
  runId: string,
  items: readonly FeedbackItem[],
): Promise<ReadonlyMap<number, FeedbackStatus>> {
  const all = (status: FeedbackStatus) => new Map(items.map(({ sample }) => [sample, status]));
  if (items.length === 0) return new Map();
  try {
    const recorded = await deps.runs.recordFeedback(runId, items);
    if (recorded.kind !== "ok") return all(notRecorded(recorded.message));
    return new Map(items.map(({ sample }, i) => [sample, recorded.value[i] as FeedbackStatus]));
  } catch (error) {
    deps.onFailure(error, "feedback was not recorded");
    return all(notRecorded("the run's store failed: send it again"));
  }
}

function notRecorded(detail: string): FeedbackStatus {
  return { kind: "not_recorded", detail };
}

function same(group: CompletionGroup, detail: string): readonly FeedbackStatus[] {
  return group.completions.map(() => notRecorded(detail));
}
