/** Outcomes as unions on `kind`, with names where the contract's messages have numbers. */
import { NoRewardReason, Proof, Verdict, FeedbackStatus } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import type {
  ContrastPair,
  Feedback as FeedbackMessage,
  GroupOutcome as GroupOutcomeMessage,
  GroupStatistics,
  Outcome as OutcomeMessage,
  Score,
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

/** What the verifier found. "unknown" here and below: a value newer than this client. */
export type VerdictName = (typeof verdicts)[keyof typeof verdicts] | "unknown";
/** Why a sample has no reward. */
export type NoRewardReasonName = (typeof reasons)[keyof typeof reasons] | "unknown";
/** What a score did to the run that issued the task. */
export type FeedbackStatusName = (typeof statuses)[keyof typeof statuses] | "unknown";
/** How a baseline is known. */
export type ProofName = (typeof proofs)[keyof typeof proofs] | "unknown";

/** What a score did to its run, and why where it was not recorded. */
export interface Feedback {
  readonly status: FeedbackStatusName;
  readonly detail: string;
}

/** A marked answer; offsets count code points. */
export interface AnswerSpan {
  readonly start: number;
  readonly end: number;
  readonly verdict: VerdictName;
  readonly solved: boolean;
  /** 0 unless the reward scheme scans for commits. */
  readonly markedEnd: number;
}

interface Answered {
  readonly sampleIndex: number;
  /** Left out outside of runs. */
  readonly feedback?: Feedback;
  /** Over the group's samples with a reward; left out unless the message held the whole group. */
  readonly rlooAdvantage?: number;
  readonly grpoAdvantage?: number;
  /** The message of the contract, e.g. for toJson. */
  readonly message: OutcomeMessage;
}

/** A completion that was verified. */
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
  /** A feasible answer's value and its quality in [0, 1] against the baseline, where there is one. */
  readonly objective?: number;
  readonly ratio?: number;
  readonly baseline?: { readonly value: number; readonly bound: number; readonly proof: ProofName };
  readonly spans: readonly AnswerSpan[];
}

/** A completion without a reward, which says nothing of the policy: leave it out, or send it again after the delay. */
export interface UnscoredOutcome extends Answered {
  readonly kind: "unscored";
  readonly reason: NoRewardReasonName;
  /** What failed, for "resource_unavailable", e.g. "judge"; else left out. */
  readonly resource?: string;
  readonly detail: string;
  /** Left out: the reason is final. */
  readonly retryDelayMs?: number;
}

/** What became of one completion. */
export type Outcome = ScoredOutcome | UnscoredOutcome;

/** Outcomes of a group's completions, in the order they went. */
export interface GroupOutcome {
  readonly groupId: string;
  readonly outcomes: readonly Outcome[];
  /** Left out unless the message held the whole group, and a sample has a reward. */
  readonly statistics?: GroupStatistics;
  readonly contrastPairs: readonly ContrastPair[];
}

const named = <Names extends Readonly<Record<number, string>>>(names: Names, value: number) =>
  (names[value] ?? "unknown") as Names[keyof Names] | "unknown";

/** What a score did to its run. */
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

/** Reads an outcome. */
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

/** Reads a group's outcomes. */
export function groupOutcomeOf({ groupId, outcomes, statistics, contrastPairs }: GroupOutcomeMessage): GroupOutcome {
  return { groupId, outcomes: outcomes.map(outcomeOf), contrastPairs, ...(statistics && { statistics }) };
}

/** The reward of an outcome; undefined, and never 0: it has none, and the outcome says why. */
export function rewardOf(outcome: Outcome): number | undefined {
  return outcome.kind === "scored" ? outcome.reward : undefined;
}
