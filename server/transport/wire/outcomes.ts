/**
 * What most answers are made of, outcomes of samples, written field by field. protobuf-es, which looks each field up by
 * its name, takes two and a half times as long: a sixth of what a graded completion costs. The bytes are the same
 * (outcomes.test.ts).
 */
import { type DescMessage, type Message, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import {
  type BatchStepResponse,
  BatchStepResponseSchema,
  type StepResponse,
  StepResponseSchema,
  StreamStepsFailureSchema,
  type StreamStepsResponse,
  StreamStepsResponseSchema,
} from "../../gen/gradus/v1/environment_pb.js";
import {
  type AnswerSpan,
  type Baseline,
  CommitSchema,
  ContrastPairSchema,
  type Feedback,
  type GroupOutcome,
  GroupStatisticsSchema,
  NoRewardSchema,
  type Outcome,
  type RewardComponent,
  type Score,
} from "../../gen/gradus/v1/outcome_pb.js";

type WriteAnswer = (message: Message) => Uint8Array;
type Write<Value> = (writer: BinaryWriter, value: Value) => void;

/** By the answer's message. */
export const writers: ReadonlyMap<DescMessage, WriteAnswer> = new Map<DescMessage, WriteAnswer>([
  [StepResponseSchema, writerOf(step)],
  [BatchStepResponseSchema, writerOf(batchStep)],
  [StreamStepsResponseSchema, writerOf(streamSteps)],
]);

/** A writer that is used again has its memory already; one that a large message has grown is not. */
const KEPT_BYTES_MAX = 1024 ** 2;

function writerOf<Value extends Message>(write: Write<Value>): WriteAnswer {
  let kept: BinaryWriter | undefined;
  return (message) => {
    const writer = kept ?? new BinaryWriter();
    // One that has failed within a message is not used again.
    kept = undefined;
    write(writer, message as Value);
    const bytes = writer.finish();
    if (bytes.length <= KEPT_BYTES_MAX) kept = writer;
    return bytes;
  };
}

// Fields in the order of their numbers, left out where they say what their absence says.

function step(writer: BinaryWriter, message: StepResponse): void {
  part(writer, 1, message.outcome, outcome);
}

function batchStep(writer: BinaryWriter, { groups }: BatchStepResponse): void {
  each(writer, 1, groups, group);
}

function streamSteps(writer: BinaryWriter, response: StreamStepsResponse): void {
  text(writer, 1, response.requestId);
  each(writer, 2, response.groups, group);
  rare(writer, 3, StreamStepsFailureSchema, response.failure);
  each(writer, 4, response.more, streamSteps);
  whole(writer, 5, response.moreBytes);
}

function group(writer: BinaryWriter, { groupId, outcomes, statistics, contrastPairs }: GroupOutcome): void {
  text(writer, 1, groupId);
  each(writer, 2, outcomes, outcome);
  rare(writer, 3, GroupStatisticsSchema, statistics);
  for (const pair of contrastPairs) rare(writer, 4, ContrastPairSchema, pair);
}

function outcome(writer: BinaryWriter, message: Outcome): void {
  const { result } = message;
  whole(writer, 1, message.sampleIndex);
  if (result.case === "score") part(writer, 2, result.value, score);
  else if (result.case === "noReward") rare(writer, 3, NoRewardSchema, result.value);
  part(writer, 4, message.feedback, feedback);
  number(writer, 5, message.rlooAdvantage);
  number(writer, 6, message.grpoAdvantage);
  text(writer, 7, message.nextTaskId);
}

function score(writer: BinaryWriter, message: Score): void {
  numberButZero(writer, 1, message.reward);
  each(writer, 2, message.components, component);
  whole(writer, 3, message.verdict);
  flag(writer, 4, message.solved);
  number(writer, 5, message.objective);
  part(writer, 6, message.baseline, baseline);
  number(writer, 7, message.ratio);
  text(writer, 8, message.violation);
  flag(writer, 9, message.terminated);
  flag(writer, 10, message.truncated);
  each(writer, 11, message.spans, span);
  each(writer, 12, Object.entries(message.info), entry);
  rare(writer, 13, CommitSchema, message.commit);
  whole(writer, 14, message.answers);
}

function component(writer: BinaryWriter, { name, value, weight, reason }: RewardComponent): void {
  text(writer, 1, name);
  number(writer, 2, value);
  numberButZero(writer, 3, weight);
  text(writer, 4, reason);
}

function baseline(writer: BinaryWriter, { value, bound, proof }: Baseline): void {
  numberButZero(writer, 1, value);
  numberButZero(writer, 2, bound);
  whole(writer, 3, proof);
}

function span(writer: BinaryWriter, { start, end, verdict, solved, markedEnd }: AnswerSpan): void {
  whole(writer, 1, start);
  whole(writer, 2, end);
  whole(writer, 3, verdict);
  flag(writer, 4, solved);
  whole(writer, 5, markedEnd);
}

function feedback(writer: BinaryWriter, { status, detail }: Feedback): void {
  whole(writer, 1, status);
  text(writer, 2, detail);
}

function entry(writer: BinaryWriter, [key, value]: readonly [string, string]): void {
  writer.tag(1, WireType.LengthDelimited).string(key);
  writer.tag(2, WireType.LengthDelimited).string(value);
}

// Values.

function text(writer: BinaryWriter, no: number, value: string): void {
  if (value !== "") writer.tag(no, WireType.LengthDelimited).string(value);
}

function whole(writer: BinaryWriter, no: number, value: number): void {
  if (value !== 0) writer.tag(no, WireType.Varint).uint32(value);
}

function flag(writer: BinaryWriter, no: number, value: boolean): void {
  if (value) writer.tag(no, WireType.Varint).bool(true);
}

function number(writer: BinaryWriter, no: number, value: number | undefined): void {
  if (value !== undefined) writer.tag(no, WireType.Bit64).double(value);
}

function numberButZero(writer: BinaryWriter, no: number, value: number): void {
  // -0 is another number than 0.
  if (!Object.is(value, 0)) number(writer, no, value);
}

function part<Value>(writer: BinaryWriter, no: number, value: Value | undefined, write: Write<Value>): void {
  if (value === undefined) return;
  writer.tag(no, WireType.LengthDelimited).fork();
  write(writer, value);
  writer.join();
}

function each<Value>(writer: BinaryWriter, no: number, values: readonly Value[], write: Write<Value>): void {
  for (const value of values) part(writer, no, value, write);
}

function rare<D extends DescMessage>(writer: BinaryWriter, no: number, schema: D, value?: MessageShape<D>): void {
  if (value !== undefined) writer.tag(no, WireType.LengthDelimited).bytes(toBinary(schema, value));
}
