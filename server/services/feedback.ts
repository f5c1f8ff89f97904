/** Tells runs what was scored. Scoring always answers: what a run or its store cannot take is said in the feedback. */
import type { FeedbackItem, FeedbackStatus } from "../curriculum/feedback.ts";
import type { Feedback } from "../gen/gradus/v1/outcome_pb.js";
import type { RunFeedback } from "../tasks/score-group.ts";
import { feedbackToWire } from "../tasks/wire-outcome.ts";
import type { ServiceDeps } from "./deps.ts";

/** What each sample of a group did to its run, in order; undefined: no run issued its task. */
export async function giveFeedback(
  deps: Pick<ServiceDeps, "runs" | "onFailure">,
  feedback: RunFeedback,
  sampleIndices: readonly number[],
): Promise<readonly Feedback[] | undefined> {
  if (feedback.kind === "none") return undefined;
  if (feedback.kind === "refused") {
    const refused = feedbackToWire(notRecorded(feedback.detail));
    return sampleIndices.map(() => refused);
  }
  const recorded = await record(deps, feedback.runId, feedback.items);
  return sampleIndices.map((sample) =>
    feedbackToWire(recorded.get(sample) ?? notRecorded("it has no reward yet: send it again")),
  );
}

async function record(
  { runs, onFailure }: Pick<ServiceDeps, "runs" | "onFailure">,
  runId: string,
  items: readonly FeedbackItem[],
): Promise<ReadonlyMap<number, FeedbackStatus>> {
  const all = (status: FeedbackStatus) => new Map(items.map(({ sample }) => [sample, status]));
  if (items.length === 0) return new Map();
  try {
    const recorded = await runs.recordFeedback(runId, items);
    if (recorded.kind !== "ok") return all(notRecorded(recorded.message));
    return new Map(items.map(({ sample }, i) => [sample, recorded.value[i] as FeedbackStatus]));
  } catch (error) {
    onFailure(error, "feedback was not recorded");
    return all(notRecorded("the run's store failed: send it again"));
  }
}

function notRecorded(detail: string): FeedbackStatus {
  return { kind: "not_recorded", detail };
}
