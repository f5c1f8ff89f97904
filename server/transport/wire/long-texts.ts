/**
 * Reads messages whose long completions are decoded only when they are read. Decoding 60 MB at once, and keeping it
 * until all is scored, would stop V8 for 60 to 100 ms (docs/decisions/0008-wire.md).
 */
import { isUtf8 } from "node:buffer";
import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import {
  type BatchStepRequest,
  BatchStepRequestSchema,
  CompletionSchema,
  type StreamStepsRequest,
  StreamStepsRequestSchema,
} from "../../../proto/gen/gradus/v1/environment_pb.js";
import { bytesOfTexts, LONG_MESSAGE_BYTES, textSizes } from "../../base/rpc.ts";
import { headerBytes } from "./frames.ts";

/** Minimum bytes of a text that is decoded only when it is read, if the whole message is also long. */
const LONG_BYTES = 1024;

export function mayHoldLongTexts(schema: DescMessage): boolean {
  return schema === BatchStepRequestSchema || schema === StreamStepsRequestSchema;
}

/** Long texts by the index of their completion in the whole message, and the message's bytes without them. */
interface Cut {
  readonly texts: Map<number, Uint8Array>;
  readonly rest: BinaryWriter;
}

/** Decodes a message after taking the long texts out of its bytes. Throws if the bytes are invalid. */
export function readWithLongTexts<D extends DescMessage>(schema: D, bytes: Uint8Array): MessageShape<D> {
  const cut: Cut = { texts: new Map(), rest: new BinaryWriter() };
  cutTexts(schema, new BinaryReader(bytes), bytes, bytes.length, cut, { completions: 0 });
  const message = fromBinary(schema, cut.rest.finish());
  const { groups, more = [] } = message as unknown as Pick<BatchStepRequest, "groups"> & Partial<StreamStepsRequest>;
  // Completions of further requests could be confused with those of the message's own groups.
  if (more.length > 0)
    throw new RangeError(`a message with more requests in it may have at most ${LONG_MESSAGE_BYTES} bytes`);
  // Only a buffer that contains nothing but this message may be freed later, so only such a buffer is registered.
  const isAlone = bytes.buffer instanceof ArrayBuffer && bytes.buffer.byteLength <= bytes.byteLength + headerBytes;
  if (isAlone) bytesOfTexts.set(groups, bytes.buffer);
  let place = 0;
  for (const group of groups) {
    let size = 0;
    for (const completion of group.completions) {
      const text = cut.texts.get(place++);
      size += (text ?? completion.text).length;
      if (text === undefined) continue;
      const get = (): string => Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString();
      Object.defineProperty(completion, "text", { get, enumerable: true });
    }
    textSizes.set(group, size);
  }
  return message;
}

const textField = CompletionSchema.field.text.number;

function cutTexts(
  schema: DescMessage,
  reader: BinaryReader,
  bytes: Uint8Array,
  end: number,
  { texts, rest }: Cut,
  seen: { completions: number },
): void {
  const place = schema === CompletionSchema ? seen.completions++ : -1;
  while (reader.pos < end) {
    const start = reader.pos;
    const [number, wireType] = reader.tag();
    if (wireType !== WireType.LengthDelimited) {
      reader.skip(wireType, number);
      checkEnd(reader, end);
      rest.raw(bytes.subarray(start, reader.pos));
      continue;
    }
    const inner = schema.fields.find((field) => field.number === number)?.message;
    if (inner !== undefined) {
      const innerEnd = reader.uint32() + reader.pos;
      checkEnd({ pos: innerEnd }, end);
      rest.tag(number, wireType).fork();
      cutTexts(inner, reader, bytes, innerEnd, { texts, rest }, seen);
      rest.join();
      continue;
    }
    const value = reader.bytes();
    checkEnd(reader, end);
    const isText = place >= 0 && number === textField;
    // If a field occurs twice, its last value counts.
    if (isText) texts.delete(place);
    if (isText && value.length >= LONG_BYTES && isUtf8(value)) texts.set(place, value);
    else rest.tag(number, wireType).bytes(value);
  }
}

function checkEnd({ pos }: { readonly pos: number }, end: number): void {
  if (pos > end) throw new RangeError("premature EOF");
}
