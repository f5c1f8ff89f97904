/** Domain to contract: outcomes. On the hot path, so messages are built once and plainly. */
import { create } from "@bufbuild/protobuf";
import type { Score } from "../../envs/score.ts";
import {
  FeedbackSchema,
  FeedbackStatus,
  type Feedback as WireFeedback,
  NoRewardReason as WireReason,
  NoRewardSchema,
  type Outcome,
  OutcomeSchema,
  Proof,
  ScoreSchema,
  type Score as WireScore,
} from "../gen/gradus/v1/outcome_pb.js";
import type { FeedbackStatus as DomainStatus } from "../curriculum/index.ts";
import type { NoReward, NoRewardReason, SampleResult } from "../tasks/scorer.ts";
import { verdicts } from "../tasks/wire-enums.ts";

const reasons: Readonly<Record<NoRewardReason, WireReason>> = {
  invalid_task_id: WireReason.INVALID_TASK_ID,
  too_large: WireReason.TOO_LARGE,
  timeout: WireReason.TIMEOUT,
  judge_unavailable: WireReason.JUDGE_UNAVAILABLE,
  sandbox_failed: WireReason.SANDBOX_FAILED,
  overloaded: WireReason.OVERLOADED,
  internal: WireReason.INTERNAL,
};

const statuses: Readonly<Record<DomainStatus["kind"], FeedbackStatus>> = {
  recorded: FeedbackStatus.RECORDED,
  duplicate: FeedbackStatus.DUPLICATE,
  conflicting_completion: FeedbackStatus.CONFLICTING_COMPLETION,
  stale_epoch: FeedbackStatus.STALE_EPOCH,
  not_recorded: FeedbackStatus.NOT_RECORDED,
};

export function feedbackToWire(status: DomainStatus): WireFeedback {
  const detail = status.kind === "not_recorded" ? status.detail : "";
  return create(FeedbackSchema, { status: statuses[status.kind], detail });
}

function noRewardToWire({ reason, detail, retryDelayMs }: NoReward) {
  return create(NoRewardSchema, { reason: reasons[reason], detail, retryDelayMs });
}

function scoreToWire(score: Score): WireScore {
  const { baseline } = score;
  return create(ScoreSchema, {
    reward: score.reward,
    components: score.components.map(({ name, value, weight }) =>
      value === undefined ? { name, weight } : { name, value, weight },
    ),
    verdict: verdicts.toWire[score.verdict],
    solved: score.solved,
    ...(score.objective !== undefined && { objective: score.objective }),
    ...(baseline && {
      baseline: {
        value: baseline.value,
        bound: baseline.bound,
        proof: baseline.proven ? Proof.OPTIMAL : Proof.BOUNDED,
      },
    }),
    ...(score.ratio !== undefined && { ratio: score.ratio }),
    violation: score.violation,
    terminated: score.terminated,
    truncated: score.truncated,
    spans: score.spans.map((span) => ({ ...span, verdict: verdicts.toWire[span.verdict] })),
    info: { ...score.info },
  });
}

export function outcomeToWire(sampleIndex: number, result: SampleResult, feedback: DomainStatus | undefined): Outcome {
  const outcome = create(OutcomeSchema, { sampleIndex });
  outcome.result =
    result.kind === "score"
      ? { case: "score", value: scoreToWire(result.score) }
      : { case: "noReward", value: noRewardToWire(result) };
  if (feedback !== undefined) outcome.feedback = feedbackToWire(feedback);
  return outcome;
}
