/** The fields of outcomes, as proto/gradus/v1/outcome.proto numbers them; the highest first. */
import type {
  AnswerSpan,
  Baseline,
  ContrastPair,
  Feedback,
  GroupOutcome,
  GroupStatistics,
  NoReward,
  Outcome,
  RewardComponent,
  Score,
} from "../gen/gradus/v1/outcome_pb.js";
import type {
  BatchStepResponse,
  StepResponse,
  StreamStepsFailure,
  StreamStepsResponse,
} from "../gen/gradus/v1/environment_pb.js";
import type { FieldsWriter } from "./reverse-writer.ts";

const writeFeedback: FieldsWriter<Feedback> = (to, { status, detail }) => {
  to.string(2, detail);
  to.uint32(1, status);
};

const writeComponent: FieldsWriter<RewardComponent> = (to, { name, value, weight }) => {
  to.double(3, weight);
  to.optionalDouble(2, value);
  to.string(1, name);
};

const writeBaseline: FieldsWriter<Baseline> = (to, { value, bound, proof }) => {
  to.uint32(3, proof);
  to.double(2, bound);
  to.double(1, value);
};

const writeSpan: FieldsWriter<AnswerSpan> = (to, { start, end, verdict, solved }) => {
  to.bool(4, solved);
  to.uint32(3, verdict);
  to.uint32(2, end);
  to.uint32(1, start);
};

const writeEntry: FieldsWriter<readonly [string, string]> = (to, [key, value]) => {
  to.presentString(2, value);
  to.presentString(1, key);
};

const writeScore: FieldsWriter<Score> = (to, score) => {
  to.messages(12, writeEntry, Object.entries(score.info));
  to.messages(11, writeSpan, score.spans);
  to.bool(10, score.truncated);
  to.bool(9, score.terminated);
  to.string(8, score.violation);
  to.optionalDouble(7, score.ratio);
  if (score.baseline !== undefined) to.message(6, writeBaseline, score.baseline);
  to.optionalDouble(5, score.objective);
  to.bool(4, score.solved);
  to.uint32(3, score.verdict);
  to.messages(2, writeComponent, score.components);
  to.double(1, score.reward);
};

const writeNoReward: FieldsWriter<NoReward> = (to, { reason, detail, retryDelayMs }) => {
  to.uint32(3, retryDelayMs);
  to.string(2, detail);
  to.uint32(1, reason);
};

export const writeOutcome: FieldsWriter<Outcome> = (to, outcome) => {
  const { result, feedback } = outcome;
  to.string(7, outcome.nextTaskId);
  to.optionalDouble(6, outcome.grpoAdvantage);
  to.optionalDouble(5, outcome.rlooAdvantage);
  if (feedback !== undefined) to.message(4, writeFeedback, feedback);
  if (result.case === "noReward") to.message(3, writeNoReward, result.value);
  else if (result.case === "score") to.message(2, writeScore, result.value);
  to.uint32(1, outcome.sampleIndex);
};

const writeStatistics: FieldsWriter<GroupStatistics> = (to, { count, mean, std }) => {
  to.double(3, std);
  to.double(2, mean);
  to.uint32(1, count);
};

const writePair: FieldsWriter<ContrastPair> = (to, pair) => {
  to.uint32(4, pair.rejectedEnd);
  to.uint32(3, pair.rejectedSampleIndex);
  to.uint32(2, pair.preferredEnd);
  to.uint32(1, pair.preferredSampleIndex);
};

export const writeGroup: FieldsWriter<GroupOutcome> = (to, { groupId, outcomes, statistics, contrastPairs }) => {
  to.messages(4, writePair, contrastPairs);
  if (statistics !== undefined) to.message(3, writeStatistics, statistics);
  to.messages(2, writeOutcome, outcomes);
  to.string(1, groupId);
};

export const writeBatchStepResponse: FieldsWriter<BatchStepResponse> = (to, { groups }) => {
  to.messages(1, writeGroup, groups);
};

export const writeStepResponse: FieldsWriter<StepResponse> = (to, { outcome }) => {
  if (outcome !== undefined) to.message(1, writeOutcome, outcome);
};

const writeFailure: FieldsWriter<StreamStepsFailure> = (to, { code, message, retryDelayMs }) => {
  to.uint32(3, retryDelayMs);
  to.string(2, message);
  to.uint32(1, code);
};

export const writeStreamStepsResponse: FieldsWriter<StreamStepsResponse> = (to, { requestId, groups, failure }) => {
  if (failure !== undefined) to.message(3, writeFailure, failure);
  to.messages(2, writeGroup, groups);
  to.string(1, requestId);
};
