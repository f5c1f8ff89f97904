/**
 * Response messages to bytes: by protobuf-es, but for those that hold outcomes or batches of tasks, which are written by hand as
 * proto/gradus/v1 numbers their fields. That is several times as fast, and the bytes are the same
 * (docs/decisions/0008-wire.md). The highest field number comes first: see ReverseWriter.
 */
import { create, type DescMessage, type Message, type MessageShape, toBinary } from "@bufbuild/protobuf";
import {
  type NextBatchResponse,
  NextBatchResponseSchema,
  NextEvaluationResponseSchema,
} from "../../gen/gradus/v1/curriculum_pb.js";
import {
  type BatchStepResponse,
  BatchStepResponseSchema,
  type Environment,
  EnvironmentSchema,
  type GetEnvironmentResponse,
  GetEnvironmentResponseSchema,
  type ListEnvironmentsResponse,
  ListEnvironmentsResponseSchema,
  type StepResponse,
  StepResponseSchema,
  type StreamStepsFailure,
  type StreamStepsResponse,
  StreamStepsResponseSchema,
} from "../../gen/gradus/v1/environment_pb.js";
import {
  type AnswerSpan,
  type Baseline,
  type Commit,
  type ContrastPair,
  type Feedback,
  type GroupOutcome,
  GroupOutcomeSchema,
  type GroupStatistics,
  type NoReward,
  type Outcome,
  OutcomeSchema,
  type RewardComponent,
  type Score,
} from "../../gen/gradus/v1/outcome_pb.js";
import type { ChatMessage, Task, TaskHints } from "../../gen/gradus/v1/task_pb.js";
import { type FieldsWriter, ReverseWriter } from "./reverse-writer.ts";

const writeFeedback: FieldsWriter<Feedback> = (to, { status, detail }) => {
  to.string(2, detail);
  to.uint32(1, status);
};

const writeComponent: FieldsWriter<RewardComponent> = (to, { name, value, weight, reason }) => {
  to.string(4, reason);
  to.double(3, weight);
  to.optionalDouble(2, value);
  to.string(1, name);
};

const writeBaseline: FieldsWriter<Baseline> = (to, { value, bound, proof }) => {
  to.uint32(3, proof);
  to.double(2, bound);
  to.double(1, value);
};

const writeSpan: FieldsWriter<AnswerSpan> = (to, { start, end, verdict, solved, markedEnd }) => {
  to.uint32(5, markedEnd);
  to.bool(4, solved);
  to.uint32(3, verdict);
  to.uint32(2, end);
  to.uint32(1, start);
};

const writeCommit: FieldsWriter<Commit> = (to, { answer, span, end }) => {
  to.uint32(3, end);
  to.uint32(2, span);
  to.uint32(1, answer);
};

const writeScore: FieldsWriter<Score> = (to, score) => {
  to.uint32(14, score.answers);
  if (score.commit !== undefined) to.message(13, writeCommit, score.commit);
  to.map(12, score.info);
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

const writeOutcome: FieldsWriter<Outcome> = (to, outcome) => {
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

const writeGroup: FieldsWriter<GroupOutcome> = (to, { groupId, outcomes, statistics, contrastPairs }) => {
  to.messages(4, writePair, contrastPairs);
  if (statistics !== undefined) to.message(3, writeStatistics, statistics);
  to.messages(2, writeOutcome, outcomes);
  to.string(1, groupId);
};

const writeBatchStepResponse: FieldsWriter<BatchStepResponse> = (to, { groups }) => {
  to.messages(1, writeGroup, groups);
};

const writeStepResponse: FieldsWriter<StepResponse> = (to, { outcome }) => {
  if (outcome !== undefined) to.message(1, writeOutcome, outcome);
};

const writeFailure: FieldsWriter<StreamStepsFailure> = (to, { code, message, retryDelayMs }) => {
  to.uint32(3, retryDelayMs);
  to.string(2, message);
  to.uint32(1, code);
};

const writeStreamStepsResponse: FieldsWriter<StreamStepsResponse> = (to, { requestId, groups, failure }) => {
  if (failure !== undefined) to.message(3, writeFailure, failure);
  to.messages(2, writeGroup, groups);
  to.string(1, requestId);
};

const writeMessage: FieldsWriter<ChatMessage> = (to, { role, content }) => {
  to.string(2, content);
  to.string(1, role);
};

const writeHints: FieldsWriter<TaskHints> = (to, { stop, klCoefficient, metadata }) => {
  to.map(3, metadata);
  to.optionalDouble(2, klCoefficient);
  to.strings(1, stop);
};

const writeTask: FieldsWriter<Task> = (to, task) => {
  to.optionalUint64(20, task.evaluationRound);
  to.double(19, task.armProbability);
  to.uint32(18, task.epoch);
  to.uint64(17, task.updateBatch);
  to.uint32(16, task.poolEpoch);
  to.string(15, task.instanceHash);
  to.uint32(14, task.thinking);
  to.uint64(13, task.cursor);
  to.string(12, task.armId);
  to.string(11, task.runId);
  if (task.hints !== undefined) to.message(10, writeHints, task.hints);
  to.uint32(9, task.answerFormat);
  to.uint32(8, task.source);
  to.uint32(7, task.split);
  to.string(6, task.level);
  to.uint32(5, task.version);
  to.string(4, task.environment);
  to.messages(3, writeMessage, task.prompt);
  to.string(2, task.groupId);
  to.string(1, task.taskId);
};

const writtenAhead = new WeakMap<Task, Uint8Array>();

const writeTaskOnce: FieldsWriter<Task> = (to, task) => {
  const bytes = writtenAhead.get(task);
  if (bytes === undefined) writeTask(to, task);
  else to.fields(bytes);
};

/** NextEvaluationResponse has the same fields. */
type TasksResponse = Pick<NextBatchResponse, "tasks" | "nextCursor" | "done" | "epoch">;

const writeTasksResponse: FieldsWriter<TasksResponse> = (to, { tasks, nextCursor, done, epoch }) => {
  to.uint32(4, epoch);
  to.bool(3, done);
  to.uint64(2, nextCursor);
  to.messages(1, writeTaskOnce, tasks);
};

const environments = new WeakMap<Environment, Uint8Array>();

/** Environments stay what they are while the server runs, so that each is written once. */
const writeEnvironment: FieldsWriter<Environment> = (to, environment) => {
  const bytes = environments.get(environment) ?? toBinary(EnvironmentSchema, environment);
  environments.set(environment, bytes);
  to.fields(bytes);
};

const writeListEnvironmentsResponse: FieldsWriter<ListEnvironmentsResponse> = (to, response) => {
  to.string(2, response.nextPageToken);
  to.messages(1, writeEnvironment, response.environments);
};

const writeGetEnvironmentResponse: FieldsWriter<GetEnvironmentResponse> = (to, { environment }) => {
  if (environment !== undefined) to.message(1, writeEnvironment, environment);
};

const writers: ReadonlyMap<DescMessage, FieldsWriter<never>> = new Map<DescMessage, FieldsWriter<never>>([
  [StepResponseSchema, writeStepResponse],
  [BatchStepResponseSchema, writeBatchStepResponse],
  [StreamStepsResponseSchema, writeStreamStepsResponse],
  [ListEnvironmentsResponseSchema, writeListEnvironmentsResponse],
  [GetEnvironmentResponseSchema, writeGetEnvironmentResponse],
  [GroupOutcomeSchema, writeGroup],
  [OutcomeSchema, writeOutcome],
  [NextBatchResponseSchema, writeTasksResponse],
  [NextEvaluationResponseSchema, writeTasksResponse],
]);

// One for all, for writing never waits.
const writer = new ReverseWriter();

/** Writes a task before it is asked for: what holds it is then written in less time. It must not be changed any more. */
export function writeAhead(task: Task): void {
  writtenAhead.set(task, writer.write(writeTask, task));
}

/** Parts of a list that are written at once: prompts and records of a history may have a hundred kilobytes each. */
const PIECE = 16;

/**
 * What cuts messages of a kind into pieces, whose bytes behind one another are the message: where they are a list, and it
 * is long, so that others can have their turn in between.
 */
export function cutterOf(schema: DescMessage): (message: Message) => readonly Message[] {
  const list = schema.fields.find((field) => field.fieldKind === "list" && field.listKind === "message");
  if (list === undefined) return (message) => [message];
  return (message) => {
    const parts = (message as unknown as Readonly<Record<string, readonly unknown[]>>)[list.localName] ?? [];
    if (parts.length <= 4 * PIECE) return [message];
    const pieces: Message[] = [];
    for (let from = 0; from < parts.length; from += PIECE) {
      const piece = { [list.localName]: parts.slice(from, from + PIECE) };
      // The last one has all else.
      pieces.push(from + PIECE < parts.length ? create(schema, piece) : { ...message, ...piece });
    }
    return pieces;
  };
}

/** What writes messages of a kind. */
export function encoderOf<D extends DescMessage>(schema: D): (message: MessageShape<D>) => Buffer {
  const write = writers.get(schema) as FieldsWriter<MessageShape<D>> | undefined;
  if (write !== undefined) return (message) => writer.write(write, message);
  return (message) => {
    const { buffer, byteOffset, byteLength } = toBinary(schema, message);
    return Buffer.from(buffer, byteOffset, byteLength);
  };
}
