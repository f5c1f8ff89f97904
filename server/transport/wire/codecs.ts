/**
 * Messages from bytes and to bytes: by protobuf-es, but for the few that carry completions and their outcomes, which
 * are read and written by hand. That is several times as fast (docs/decisions/0008-wire.md), and the bytes are the same.
 */
import { type DescMessage, fromBinary, type Message, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import {
  BatchStepRequestSchema,
  BatchStepResponseSchema,
  StepRequestSchema,
  StepResponseSchema,
  StreamStepsRequestSchema,
  StreamStepsResponseSchema,
} from "../../gen/gradus/v1/environment_pb.js";
import { GroupOutcomeSchema, OutcomeSchema } from "../../gen/gradus/v1/outcome_pb.js";
import {
  type FieldsWriter,
  ReverseWriter,
  writeBatchStepResponse,
  writeGroup,
  writeOutcome,
  writeStepResponse,
  writeStreamStepsResponse,
} from "./outcomes.ts";
import { MessageReader, NotPlain, readBatchStepRequest, readStepRequest, readStreamStepsRequest } from "./requests.ts";

// A bound on how many parts a message has, found before they are made: an empty one takes two bytes here, and a hundred there.

/** Fields of a message and of all messages in it. More would keep the event loop for a second. */
export const PARTS_MAX = 2 ** 20;

/** Throws for more parts, and for bytes that are no protobuf. */
export function checkParts(schema: DescMessage, bytes: Uint8Array): void {
  // Each takes two bytes at least.
  if (bytes.length < 2 * PARTS_MAX) return;
  const reader = new BinaryReader(bytes);
  let parts = 0;
  const scan = (of: DescMessage, end: number): void => {
    while (reader.pos < end) {
      if (++parts > PARTS_MAX) throw new Error(`more than ${PARTS_MAX} fields`);
      const [number, wireType] = reader.tag();
      const inner = of.fields.find((field) => field.number === number)?.message;
      if (inner === undefined || wireType !== WireType.LengthDelimited) reader.skip(wireType, number);
      else scan(inner, reader.uint32() + reader.pos);
    }
  };
  scan(schema, bytes.length);
}

const readers: ReadonlyMap<DescMessage, (from: MessageReader) => Message> = new Map<
  DescMessage,
  (from: MessageReader) => Message
>([
  [StepRequestSchema, readStepRequest],
  [BatchStepRequestSchema, readBatchStepRequest],
  [StreamStepsRequestSchema, readStreamStepsRequest],
]);

const writers: ReadonlyMap<DescMessage, FieldsWriter<never>> = new Map<DescMessage, FieldsWriter<never>>([
  [StepResponseSchema, writeStepResponse],
  [BatchStepResponseSchema, writeBatchStepResponse],
  [StreamStepsResponseSchema, writeStreamStepsResponse],
  [GroupOutcomeSchema, writeGroup],
  [OutcomeSchema, writeOutcome],
]);

/** What reads messages of a kind. It throws if the bytes are none. */
export function decoderOf<D extends DescMessage>(schema: D): (bytes: Uint8Array) => MessageShape<D> {
  const read = readers.get(schema);
  const readAny = (bytes: Uint8Array): MessageShape<D> => {
    checkParts(schema, bytes);
    return fromBinary(schema, bytes);
  };
  if (read === undefined) return readAny;
  return (bytes) => {
    try {
      return read(new MessageReader(bytes)) as MessageShape<D>;
    } catch (error) {
      if (!(error instanceof NotPlain)) throw error;
      return readAny(bytes);
    }
  };
}

// One for all, for writing never waits.
const writer = new ReverseWriter();

/** What writes messages of a kind. */
export function encoderOf<D extends DescMessage>(schema: D): (message: MessageShape<D>) => Buffer {
  const write = writers.get(schema) as FieldsWriter<MessageShape<D>> | undefined;
  if (write !== undefined) return (message) => writer.write(write, message);
  return (message) => {
    const { buffer, byteOffset, byteLength } = toBinary(schema, message);
    return Buffer.from(buffer, byteOffset, byteLength);
  };
}
