/** Tells runs what was scored. Scoring always answers: what a run or its store cannot take is said in the feedback. */
import { assertNever } from "../../envs/lib/assert-never.ts";
import type { FeedbackItem, FeedbackStatus } from "../curriculum/feedback.ts";
import type { Feedback } from "../gen/gradus/v1/outcome_pb.js";
import type { RunFeedback } from "../tasks/score-group.ts";
import { feedbackToWire } from "../tasks/wire-outcome.ts";
import type { ServiceDeps } from "./deps.ts";

interface FeedbackDeps extends Pick<ServiceDeps, "onFailure"> {
  readonly runs: Pick<ServiceDeps["runs"], "recordFeedback">;
}

const noReward = notRecorded("it has no reward yet: send it again");

/**
 * What each sample of a group did to its run, in order; undefined: no run issued its task. At once where nothing is to be
 * recorded; else in as few steps as can be, for this is done for every group of a run.
 */
export function giveFeedback(
  deps: FeedbackDeps,
  feedback: RunFeedback,
  sampleIndices: readonly number[],
): readonly Feedback[] | undefined | Promise<readonly Feedback[]> {
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
      return recordItems(deps, runId, items, (statuses) => {
        // As nearly always: every sample has a result.
        if (items.length === sampleIndices.length) return statuses.map(feedbackToWire);
        const bySample = new Map(items.map(({ sample }, i) => [sample, statuses[i]]));
        return sampleIndices.map((sample) => feedbackToWire(bySample.get(sample) ?? noReward));
      });
    }
    default:
      return assertNever(feedback);
  }
}

/** Records items, and gives what is made of the status of each, in order. */
function recordItems<T>(
  { runs, onFailure }: FeedbackDeps,
  runId: string,
  items: readonly FeedbackItem[],
  use: (statuses: readonly FeedbackStatus[]) => T,
): Promise<T> {
  if (items.length === 0) return Promise.resolve(use([]));
  const all = (detail: string) => items.map(() => notRecorded(detail));
  return runs.recordFeedback(runId, items).then(
    (recorded) => use(recorded.kind === "ok" ? recorded.value : all(recorded.message)),
    (error: unknown) => {
      onFailure(error, "feedback was not recorded");
      return use(all("the run's store failed: send it again"));
    },
  );
}

/** The same for one item. */
export function recordItem(deps: FeedbackDeps, runId: string, item: FeedbackItem): Promise<FeedbackStatus> {
  return recordItems(deps, runId, [item], ([status]) => status ?? noReward);
}

function notRecorded(detail: string): FeedbackStatus {
  return { kind: "not_recorded", detail };
}
