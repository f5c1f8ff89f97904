/**
 * Types of outcomes (results of scoring completions): unions on `kind`, with names in place of protobuf enum numbers.
 */
import { NoRewardReason, Proof, Verdict, FeedbackStatus } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import type {
  ContrastPair,
  Feedback as FeedbackMessage,
  GroupOutcome as GroupOutcomeMessage,
  GroupStatistics,
  Outcome as OutcomeMessage,
  Score,
  Turn,
} from "../../../proto/gen/gradus/v1/outcome_pb.js";

const verdicts = {
  [Verdict.MALFORMED]: "malformed",
  [Verdict.INFEASIBLE]: "infeasible",
  [Verdict.FEASIBLE]: "feasible",
  [Verdict.GRADED]: "graded",
} as const;
const reasons = {
  [NoRewardReason.INVALID_TASK_ID]: "invalid_task_id",
  [NoRewardReason.TOO_LARGE]: "too_large",
  [NoRewardReason.TIMEOUT]: "timeout",
  [NoRewardReason.JUDGE_UNAVAILABLE]: "judge_unavailable",
  [NoRewardReason.SANDBOX_FAILED]: "sandbox_failed",
  [NoRewardReason.OVERLOADED]: "overloaded",
  [NoRewardReason.INTERNAL]: "internal",
  [NoRewardReason.RESOURCE_UNAVAILABLE]: "resource_unavailable",
  [NoRewardReason.FAILED_PRECONDITION]: "failed_precondition",
} as const;
const statuses = {
  [FeedbackStatus.RECORDED]: "recorded",
  [FeedbackStatus.DUPLICATE]: "duplicate",
  [FeedbackStatus.CONFLICTING_COMPLETION]: "conflicting_completion",
  [FeedbackStatus.STALE_EPOCH]: "stale_epoch",
  [FeedbackStatus.NOT_RECORDED]: "not_recorded",
} as const;
const proofs = { [Proof.OPTIMAL]: "optimal", [Proof.BOUNDED]: "bounded" } as const;

/** Verdict of the verifier. "unknown" stands for a verdict that is newer than this client. */
export type VerdictName = (typeof verdicts)[keyof typeof verdicts] | "unknown";
/**
 * Reason why a sample has no reward. "turn" means that its episode is not over, "unknown" that the reason is newer than
 * this client.
 */
export type NoRewardReasonName = (typeof reasons)[keyof typeof reasons] | "turn" | "unknown";
/** Status of a score in the run that issued the task. "unknown" stands for a status newer than this client. */
export type FeedbackStatusName = (typeof statuses)[keyof typeof statuses] | "unknown";
/** Proof status of a baseline: whether it is proven optimal. "unknown" stands for a status newer than this client. */
export type ProofName = (typeof proofs)[keyof typeof proofs] | "unknown";

/** Status of a score in its run, and the reason if the run did not record it. */
export interface Feedback {
  readonly status: FeedbackStatusName;
  readonly detail: string;
}

/** Position of an answer between its marks in a completion. Offsets count code points. */
export interface AnswerSpan {
  readonly start: number;
  readonly end: number;
  readonly verdict: VerdictName;
  readonly solved: boolean;
  /**
   * Position after the closing mark of the answer, e.g. `</answer>`. Set only under reward schemes that look for the
   * first right answer of a completion, e.g. `vcc`. Otherwise 0.
   */
  readonly markedEnd: number;
}

interface Answered {
  readonly sampleIndex: number;
  /** Feedback of the run. Unset if the task is not of a run. */
  readonly feedback?: Feedback;
  /**
   * RLOO advantage: the reward minus the mean reward of the group's other samples. Unset if the sample has no reward, if
   * the request had only a part of the group, or, for a stored sample of a run, while its group is open.
   */
  readonly rlooAdvantage?: number;
  readonly grpoAdvantage?: number;
  /** Protobuf message from which this outcome was read, e.g. for toJson. */
  readonly message: OutcomeMessage;
}

/** Outcome of a completion that was verified. */
export interface ScoredOutcome
  extends
    Answered,
    Readonly<
      Pick<
        Score,
        "reward" | "components" | "solved" | "violation" | "terminated" | "truncated" | "info" | "commit" | "answers"
      >
    > {
  readonly kind: "scored";
  readonly verdict: VerdictName;
  /** Objective value of a feasible answer. Unset if there is none. */
  readonly objective?: number;
  /** Ratio of the objective to the baseline, in [0, 1]. Unset if there is none. */
  readonly ratio?: number;
  readonly baseline?: { readonly value: number; readonly bound: number; readonly proof: ProofName };
  readonly spans: readonly AnswerSpan[];
}

/**
 * Outcome without a reward. It says nothing about the policy model: leave it out of training, or send the completion
 * again after the delay. If `turn` is set, the episode is not over, and the next completion gets the id in `turn`.
 */
export interface UnscoredOutcome extends Answered {
  readonly kind: "unscored";
  readonly reason: NoRewardReasonName;
  /** Resource that failed if the reason is "resource_unavailable", e.g. "judge". Otherwise unset. */
  readonly resource?: string;
  readonly detail: string;
  /** Delay in milliseconds before the completion can be sent again. Unset if the reason is final. */
  readonly retryDelayMs?: number;
  /** Next turn of the episode, if the reason is "turn". */
  readonly turn?: Turn;
}

export type Outcome = ScoredOutcome | UnscoredOutcome;

/** Outcomes of a group's completions, in the order in which they were sent. */
export interface GroupOutcome {
  readonly groupId: string;
  readonly outcomes: readonly Outcome[];
  /** Statistics of the group. Unset if the message did not contain the whole group, or no sample has a reward. */
  readonly statistics?: GroupStatistics;
  readonly contrastPairs: readonly ContrastPair[];
}

const named = <Names extends Readonly<Record<number, string>>>(names: Names, value: number) =>
  (names[value] ?? "unknown") as Names[keyof Names] | "unknown";

/** Converts the protobuf message Feedback, which says whether a run recorded a score. */
export function feedbackOf({ status, detail }: FeedbackMessage): Feedback {
  return { status: named(statuses, status), detail };
}

function spansOf({ spans }: Score): readonly AnswerSpan[] {
  return spans.map(({ start, end, verdict, solved, markedEnd }) => ({
    start,
    end,
    solved,
    markedEnd,
    verdict: named(verdicts, verdict),
  }));
}

function scored(score: Score, answered: Answered): ScoredOutcome {
  const { reward, components, solved, violation, terminated, truncated, info, commit, answers } = score;
  const { objective, ratio, baseline } = score;
  return {
    kind: "scored",
    ...answered,
    reward,
    components,
    solved,
    violation,
    terminated,
    truncated,
    info,
    commit,
    answers,
    verdict: named(verdicts, score.verdict),
    spans: spansOf(score),
    ...(objective !== undefined && { objective }),
    ...(ratio !== undefined && { ratio }),
    ...(baseline && {
      baseline: { value: baseline.value, bound: baseline.bound, proof: named(proofs, baseline.proof) },
    }),
  };
}

export function outcomeOf(message: OutcomeMessage): Outcome {
  const { sampleIndex, result, feedback, rlooAdvantage, grpoAdvantage } = message;
  const answered: Answered = {
    sampleIndex,
    message,
    ...(feedback && { feedback: feedbackOf(feedback) }),
    ...(rlooAdvantage !== undefined && { rlooAdvantage }),
    ...(grpoAdvantage !== undefined && { grpoAdvantage }),
  };
  if (result.case === "score") return scored(result.value, answered);
  if (result.case === "turn") {
    const detail = `the episode is not over, and its score comes later: ${result.value.callsLeft} calls are left`;
    return { kind: "unscored", ...answered, reason: "turn", detail, turn: result.value };
  }
  const { reason = 0, resource = "", detail = "", retryDelayMs = 0 } = result.value ?? {};
  return {
    kind: "unscored",
    ...answered,
    reason: named(reasons, reason),
    detail,
    ...(resource !== "" && { resource }),
    ...(retryDelayMs > 0 && { retryDelayMs }),
  };
}

export function groupOutcomeOf({ groupId, outcomes, statistics, contrastPairs }: GroupOutcomeMessage): GroupOutcome {
  return { groupId, outcomes: outcomes.map(outcomeOf), contrastPairs, ...(statistics && { statistics }) };
}

/** Returns the reward of an outcome. Undefined, and never 0, if the outcome has no reward; it then has the reason. */
export function rewardOf(outcome: Outcome): number | undefined {
  return outcome.kind === "scored" ? outcome.reward : undefined;
}
