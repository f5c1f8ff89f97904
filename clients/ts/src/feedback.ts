/**
 * Counts whether runs recorded a client's scores (by feedback status), and warns of scores that they did not record.
 */
import { ON_FEEDBACK } from "./defaults.ts";
import { GradusError } from "./errors.ts";
import type { FeedbackStatusName, Outcome } from "./outcomes.ts";

const choices = ["warn", "error", "ignore"] as const;

/** Action if a run does not record a score: log a warning, throw a FeedbackError, or do nothing. */
export type OnFeedback = (typeof choices)[number];

/** Number of scores by feedback status, which says whether the run recorded the score, e.g. "recorded". */
export type FeedbackCounts = Readonly<Partial<Record<FeedbackStatusName, number>>>;

/** Error for a score that its run did not record. Used only with `onFeedback: "error"`. */
export class FeedbackError extends GradusError {
  readonly status: FeedbackStatusName;

  constructor(message: string, status: FeedbackStatusName) {
    super("FAILED_PRECONDITION", message);
    this.status = status;
  }
}

/** Outcomes of a group to count, and their run if it is known. */
export interface Noted {
  readonly runId: string | undefined;
  readonly outcomes: readonly Outcome[];
}

/** Counts scores by feedback status. */
export interface FeedbackLog {
  /** Returns the counts of one run, or of all runs if `runId` is left out. */
  readonly counts: (runId?: string) => FeedbackCounts;
  /**
   * Counts the outcomes of groups. Then warns about unexpected statuses, once for each run and status, or throws an
   * error for the first of these statuses.
   */
  readonly note: (...groups: readonly Noted[]) => void;
}

type Counted = Map<string, Map<FeedbackStatusName, number>>;

/** Statuses that need no warning. "duplicate" is the same completion again after a retry, so nothing is lost. */
const expected: ReadonlySet<FeedbackStatusName> = new Set(["recorded", "duplicate"]);

const reasons: Partial<Record<FeedbackStatusName, string>> = {
  conflicting_completion: "another completion of this sample was recorded before, and counts",
  stale_epoch: "its task is from before an import of the run, or of a run that was deleted",
};

/** Returns an object that counts the scores of one client. Throws INVALID_ARGUMENT for an unknown `onFeedback`. */
export function feedbackLog(onFeedback: OnFeedback = ON_FEEDBACK): FeedbackLog {
  if (!choices.includes(onFeedback))
    throw new GradusError("INVALID_ARGUMENT", `onFeedback: want ${choices.join(", ")}; got ${String(onFeedback)}`);
  const counted: Counted = new Map();
  const warned = new Set<string>();
  const say = (runId: string, outcome: Outcome): void => {
    const status = outcome.feedback?.status ?? "unknown";
    const key = `${status} ${runId}`;
    if (onFeedback === "ignore" || warned.has(key)) return;
    const message = messageOf(runId, outcome);
    if (onFeedback === "error") throw new FeedbackError(message, status);
    warned.add(key);
    console.warn(`gradus: ${message} (logged once; feedbackCounts counts all; onFeedback: "error" throws instead)`);
  };
  return {
    counts: (runId) => {
      const counts: Partial<Record<FeedbackStatusName, number>> = {};
      for (const [run, statuses] of counted)
        if (runId === undefined || run === runId)
          for (const [status, count] of statuses) counts[status] = (counts[status] ?? 0) + count;
      return counts;
    },
    note: (...groups) => {
      // Count all outcomes before the first error is thrown.
      const unexpected = groups.map(({ outcomes, runId = "" }) => ({
        runId,
        outcomes: outcomes.filter((outcome) => count(counted, runId, outcome)),
      }));
      for (const { runId, outcomes } of unexpected) for (const outcome of outcomes) say(runId, outcome);
    },
  };
}

/** Counts an outcome by its feedback status. Returns whether the status needs a warning. */
function count(counted: Counted, runId: string, outcome: Outcome): boolean {
  if (outcome.feedback === undefined) return false;
  const { status } = outcome.feedback;
  const statuses = counted.get(runId) ?? new Map<FeedbackStatusName, number>();
  counted.set(runId, statuses.set(status, (statuses.get(status) ?? 0) + 1));
  // Do not warn about a sample that the server asks to send again: it is recorded only then.
  const again = outcome.kind === "unscored" && outcome.retryDelayMs !== undefined;
  return !expected.has(status) && !again;
}

function messageOf(runId: string, { sampleIndex, feedback }: Outcome): string {
  const { status = "unknown", detail = "" } = feedback ?? {};
  const reason = detail === "" ? (reasons[status] ?? "the server does not say why") : detail;
  const where = runId === "" ? "the task's run" : `run "${runId}"`;
  return `${where} did not learn from sample ${String(sampleIndex)}: ${status}: ${reason}`;
}
