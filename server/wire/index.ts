/**
 * Messages from bytes and to bytes: by protobuf-es, but for the few that carry completions and their outcomes, which
 * are read and written by hand. That is several times as fast (docs/decisions/0008-wire.md), and the bytes are the same.
 */
import { type DescMessage, type Message, type MessageShape, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  BatchStepRequestSchema,
  BatchStepResponseSchema,
  StepRequestSchema,
  StepResponseSchema,
  StreamStepsRequestSchema,
  StreamStepsResponseSchema,
} from "../gen/gradus/v1/environment_pb.js";
import { GroupOutcomeSchema, OutcomeSchema } from "../gen/gradus/v1/outcome_pb.js";
import { checkParts } from "./check-parts.ts";
import { MessageReader, NotPlain } from "./message-reader.ts";
import { readBatchStepRequest, readStepRequest, readStreamStepsRequest } from "./read-requests.ts";
import { type FieldsWriter, ReverseWriter } from "./reverse-writer.ts";
import {
  writeBatchStepResponse,
  writeGroup,
  writeOutcome,
  writeStepResponse,
  writeStreamStepsResponse,
} from "./write-outcomes.ts";

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
