/**
 * Converts outcomes to protobuf messages. The messages are object literals, because every score passes here and
 * `create` is slow.
 */
import { create } from "@bufbuild/protobuf";
import type { Baseline } from "../../envs/environment.ts";
import { assertNever } from "../../envs/lib/assert-never.ts";
import { escaped } from "../../envs/lib/escape.ts";
import { clipUtf8, sliceCodePoints } from "../../envs/lib/text.ts";
import type { ChatMessage } from "../../envs/prompt.ts";
import type { Reply } from "../../envs/turns/turns.ts";
import type { RewardComponent } from "../../envs/reward/scheme.ts";
import type { Score, ScoredSpan } from "../../envs/score.ts";
import type { FeedbackStatus as DomainStatus } from "../curriculum/feedback.ts";
import type { MalformedShare } from "../curriculum/malformed-samples.ts";
import {
  type AnswerSpan as WireSpan,
  type ContrastPair as WirePair,
  type Baseline as WireBaseline,
  type Feedback as WireFeedback,
  FeedbackStatus,
  FormatWarningSchema,
  type GroupOutcome,
  type NoReward as WireNoReward,
  NoRewardReason as WireReason,
  type Outcome,
  Proof,
  type RewardComponent as WireComponent,
  type Score as WireScore,
  StopReason,
  type Turn as WireTurn,
} from "../../proto/gen/gradus/v1/outcome_pb.js";
import type { ChatMessage as WireMessage } from "../../proto/gen/gradus/v1/task_pb.js";
import type { ScoredGroup } from "../tasks/scoring/score-group.ts";
import type { NextTurn, NoReward, NoRewardReason, StepResult } from "../tasks/scoring/results.ts";
import { stopReasons, verdicts } from "./enums.ts";

export const noRewardReasons: Readonly<Record<NoRewardReason, WireReason>> = {
  invalid_task_id: WireReason.INVALID_TASK_ID,
  too_large: WireReason.TOO_LARGE,
  timeout: WireReason.TIMEOUT,
  resource_unavailable: WireReason.RESOURCE_UNAVAILABLE,
  overloaded: WireReason.OVERLOADED,
  internal: WireReason.INTERNAL,
  failed_precondition: WireReason.FAILED_PRECONDITION,
};

const statuses: Readonly<Record<DomainStatus["kind"], FeedbackStatus>> = {
  recorded: FeedbackStatus.RECORDED,
  duplicate: FeedbackStatus.DUPLICATE,
  conflicting_completion: FeedbackStatus.CONFLICTING_COMPLETION,
  stale_epoch: FeedbackStatus.STALE_EPOCH,
  not_recorded: FeedbackStatus.NOT_RECORDED,
};

/**
 * Feedback for a sample whose score was recorded, which most samples get. The object is shared, so nobody may change
 * it.
 */
const recorded: WireFeedback = { $typeName: "gradus.v1.Feedback", status: FeedbackStatus.RECORDED, detail: "" };

export function feedbackToWire(status: DomainStatus): WireFeedback {
  if (status.kind === "recorded" && status.index === undefined) return recorded;
  const detail = status.kind === "not_recorded" ? status.detail : "";
  const sampleIndex = "index" in status ? status.index : undefined;
  const index = sampleIndex === undefined ? {} : { sampleIndex };
  return { $typeName: "gradus.v1.Feedback", status: statuses[status.kind], detail, ...index };
}

// Messages below are plain literals, because `create` takes longer than scoring.

function noRewardToWire({ reason, resource = "", detail, retryDelayMs }: NoReward): WireNoReward {
  return { $typeName: "gradus.v1.NoReward", reason: noRewardReasons[reason], resource, detail, retryDelayMs };
}

function componentToWire({ name, value, weight, reason = "" }: RewardComponent): WireComponent {
  const component: WireComponent = { $typeName: "gradus.v1.RewardComponent", name, weight, reason: escaped(reason) };
  if (value !== undefined) component.value = value;
  return component;
}

function spanToWire({ start, end, verdict, solved, markedEnd = 0 }: ScoredSpan): WireSpan {
  return { $typeName: "gradus.v1.AnswerSpan", start, end, verdict: verdicts.toWire[verdict], solved, markedEnd };
}

export function baselineToWire({ value, bound, proven }: Baseline): WireBaseline {
  return { $typeName: "gradus.v1.Baseline", value, bound, proof: proven ? Proof.OPTIMAL : Proof.BOUNDED };
}

function scoreToWire(score: Score): WireScore {
  const { reward, solved, violation, terminated, truncated, objective, baseline, ratio } = score;
  const wire: WireScore = {
    $typeName: "gradus.v1.Score",
    reward,
    components: score.components.map(componentToWire),
    verdict: verdicts.toWire[score.verdict],
    solved,
    violation,
    terminated,
    truncated,
    spans: score.spans.map(spanToWire),
    info: score.info,
    answers: score.scan?.answers ?? 0,
    stopReason: score.episode === undefined ? StopReason.UNSPECIFIED : stopReasons.toWire[score.episode.stop],
    calls: score.episode?.calls ?? 0,
  };
  const commit = score.scan?.commit;
  if (commit !== undefined) {
    const { answer, span, end } = commit;
    wire.commit = { $typeName: "gradus.v1.Commit", answer, span, end };
  }
  if (objective !== undefined) wire.objective = objective;
  if (baseline !== undefined) wire.baseline = baselineToWire(baseline);
  if (ratio !== undefined) wire.ratio = ratio;
  return wire;
}

/** Converts the share of malformed samples among the newest ones to the protobuf message FormatWarning. */
export function warningToWire({ samples, malformed, violation }: MalformedShare) {
  return create(FormatWarningSchema, { samples: BigInt(samples), malformed: BigInt(malformed), violation });
}

/** Maximum bytes of the first line of an answer, for lists of samples. */
const ANSWER_BYTES_MAX = 128;
/** Number of code points of an answer in which its first line is looked for. */
const ANSWER_LOOKED_AT = 1024;

/** Returns the first line of a completion's last marked answer. Empty: its score has no marked answer. */
export function answerLine(completion: string, result: StepResult): string {
  const span = result.kind === "score" ? result.score.spans.at(-1) : undefined;
  if (span === undefined) return "";
  const answer = sliceCodePoints(completion, span.start, Math.min(span.end, span.start + ANSWER_LOOKED_AT));
  return clipUtf8(answer.trim().split(/\r?\n/, 1)[0] ?? "", ANSWER_BYTES_MAX);
}

export function outcomeToWire(sampleIndex: number, result: StepResult): Outcome {
  return { $typeName: "gradus.v1.Outcome", sampleIndex, result: resultToWire(result) };
}

function resultToWire(result: StepResult): Outcome["result"] {
  switch (result.kind) {
    case "score":
      return { case: "score", value: scoreToWire(result.score) };
    case "none":
      return { case: "noReward", value: noRewardToWire(result) };
    case "turn":
      return { case: "turn", value: turnToWire(result) };
    default:
      return assertNever(result);
  }
}

function turnToWire({ taskId, replies, reward, callsLeft }: NextTurn): WireTurn {
  const messages = replies.map((reply) => messageToWire(reply));
  const turn: WireTurn = { $typeName: "gradus.v1.Turn", taskId, messages, callsLeft };
  if (reward !== undefined) turn.turnReward = reward;
  return turn;
}

/** Converts a message of a prompt, or an environment's reply to a tool call, to the protobuf message ChatMessage. */
export function messageToWire(message: ChatMessage | Reply): WireMessage {
  return { $typeName: "gradus.v1.ChatMessage", toolCalls: [], toolCallId: "", name: "", ...message };
}

/**
 * Converts the scores of a group to the protobuf message GroupOutcome. `feedback` has one entry for each sample, in
 * order, which is undefined if the sample's episode is not over. Left out: the outcomes have no feedback.
 */
export function groupToWire(
  groupId: string,
  { samples, whole }: ScoredGroup,
  feedback?: readonly (WireFeedback | undefined)[],
): GroupOutcome {
  const statistics = whole?.statistics;
  const outcomes = samples.map(({ sampleIndex, result }, i) => {
    const outcome = outcomeToWire(sampleIndex, result);
    if (statistics?.rloo[i] !== undefined) outcome.rlooAdvantage = statistics.rloo[i];
    if (statistics?.grpo[i] !== undefined) outcome.grpoAdvantage = statistics.grpo[i];
    if (feedback?.[i] !== undefined) outcome.feedback = feedback[i];
    return outcome;
  });
  const contrastPairs =
    whole?.contrastPairs.map((pair): WirePair => ({ $typeName: "gradus.v1.ContrastPair", ...pair })) ?? [];
  const group: GroupOutcome = { $typeName: "gradus.v1.GroupOutcome", groupId, outcomes, contrastPairs };
  if (statistics !== undefined) {
    const { count, mean, std } = statistics;
    group.statistics = { $typeName: "gradus.v1.GroupStatistics", count, mean, std };
  }
  return group;
}
