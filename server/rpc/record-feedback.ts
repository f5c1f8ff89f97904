/**
 * Reports scores to the run that issued the task. Scoring never fails because of the run: if the run or its store
 * cannot take a score, the feedback says so.
 */
import { assertNever } from "../../envs/lib/assert-never.ts";
import type { FeedbackItem, FeedbackStatus } from "../curriculum/feedback.ts";
import type { Feedback } from "../../proto/gen/gradus/v1/outcome_pb.js";
import type { ScoredGroup } from "../tasks/scoring/score-group.ts";
import { isFinal } from "../tasks/scoring/results.ts";
import { feedbackToWire } from "./write-outcome.ts";
import type { ServiceDeps } from "./deps.ts";

interface FeedbackDeps extends Pick<ServiceDeps, "onFailure"> {
  readonly runs: Pick<ServiceDeps["runs"], "recordFeedback">;
}

const noReward = notRecorded("the completion has no reward yet: send it again");
const wrongTask = notRecorded("the task_id of the completion is invalid");

/**
 * Reports a group's scores to its run, and returns the feedback for each sample, in order. Undefined: no run issued the
 * task. The entry of a sample whose episode is not over is undefined.
 */
export async function giveFeedback(
  deps: FeedbackDeps,
  { feedback, samples }: Pick<ScoredGroup, "feedback" | "samples">,
): Promise<readonly (Feedback | undefined)[] | undefined> {
  const each = (statusAt: (place: number) => FeedbackStatus | undefined) =>
    samples.map(({ result }, place) => {
      if (result.kind === "turn") return undefined;
      return feedbackToWire(statusAt(place) ?? (isFinal(result) ? wrongTask : noReward));
    });
  switch (feedback.kind) {
    case "none":
      return undefined;
    case "refused":
      return each(() => notRecorded(feedback.detail));
    case "recorded":
      return each((place) => feedback.statuses[place]);
    case "items": {
      const { runId, items, places } = feedback;
      const statuses = await recordItems(deps, runId, items);
      // Almost always every sample is reported, and then the statuses have the same indices as the samples.
      if (items.length === samples.length) return statuses.map(feedbackToWire);
      const byPlace = new Map(places.map((place, i) => [place, statuses[i]]));
      return each((place) => byPlace.get(place));
    }
    default:
      return assertNever(feedback);
  }
}

/** Records scores in a run, and returns the status of each in order. If the store fails, each status says so. */
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
    onFailure(error, "cannot record feedback; the caller has been told to send it again");
    return all("the run's store failed: send the completion again");
  }
}

/** Records one score in a run and returns its status. */
export async function recordItem(deps: FeedbackDeps, runId: string, item: FeedbackItem): Promise<FeedbackStatus> {
  const [status] = await recordItems(deps, runId, [item]);
  return status ?? noReward;
}

function notRecorded(detail: string): FeedbackStatus {
  return { kind: "not_recorded", detail };
}
