/**
 * Gives scores to runs as feedback. Scoring always succeeds: if a run or its store cannot take a score, the feedback
 * says so.
 */
import { assertNever } from "../../envs/lib/assert-never.ts";
import type { FeedbackItem, FeedbackStatus } from "../curriculum/feedback.ts";
import type { Feedback } from "../../proto/gen/gradus/v1/outcome_pb.js";
import type { RunFeedback } from "../tasks/scoring/score-group.ts";
import { feedbackToWire } from "./write-outcome.ts";
import type { ServiceDeps } from "./deps.ts";

interface FeedbackDeps extends Pick<ServiceDeps, "onFailure"> {
  readonly runs: Pick<ServiceDeps["runs"], "recordFeedback">;
}

const noReward = notRecorded("it has no reward yet: send it again");

/** Returns the feedback of each sample of a group, in order. Undefined: no run issued its task. */
export async function giveFeedback(
  deps: FeedbackDeps,
  feedback: RunFeedback,
  sampleIndices: readonly number[],
): Promise<readonly Feedback[] | undefined> {
  switch (feedback.kind) {
    case "none":
      return undefined;
    case "refused": {
      const refused = feedbackToWire(notRecorded(feedback.detail));
      return sampleIndices.map(() => refused);
    }
    case "recorded":
      return feedback.statuses.map((status) => feedbackToWire(status ?? noReward));
    case "items": {
      const { runId, items } = feedback;
      const statuses = await recordItems(deps, runId, items);
      // Almost always every sample has a result.
      if (items.length === sampleIndices.length) return statuses.map(feedbackToWire);
      const bySample = new Map(items.map(({ sample }, i) => [sample, statuses[i]]));
      return sampleIndices.map((sample) => feedbackToWire(bySample.get(sample) ?? noReward));
    }
    default:
      return assertNever(feedback);
  }
}

/** Returns the status of each item, in order. */
async function recordItems(
  { runs, onFailure }: FeedbackDeps,
  runId: string,
  items: readonly FeedbackItem[],
): Promise<readonly FeedbackStatus[]> {
  if (items.length === 0) return [];
  const all = (detail: string) => items.map(() => notRecorded(detail));
  try {
    const recorded = await runs.recordFeedback(runId, items);
    return recorded.kind === "ok" ? recorded.value : all(recorded.message);
  } catch (error) {
    onFailure(error, "cannot record feedback: the caller is told to send it again");
    return all("the run's store failed: send it again");
  }
}

/** Records one item and returns its status. */
export async function recordItem(deps: FeedbackDeps, runId: string, item: FeedbackItem): Promise<FeedbackStatus> {
  const [status] = await recordItems(deps, runId, [item]);
  return status ?? noReward;
}

function notRecorded(detail: string): FeedbackStatus {
  return { kind: "not_recorded", detail };
}
