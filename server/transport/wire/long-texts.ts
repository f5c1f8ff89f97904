/**
 * Reads messages of completions whose long texts are decoded at each access. So a large message is not decoded in one
 * go, and its decoded texts are short-lived. If 60 MB of texts were decoded at once and kept until all are scored, V8
 * would stop for 60 to 100 ms, in which nobody is served (docs/decisions/0008-wire.md).
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

/** A text of at least this many bytes, within a message that is long itself, is decoded at access. */
const LONG_BYTES = 1024;

export function mayHoldLongTexts(schema: DescMessage): boolean {
  return schema === BatchStepRequestSchema || schema === StreamStepsRequestSchema;
}

/** Long texts by the index of their completion in the whole message, and the message's bytes without those texts. */
interface Cut {
  readonly texts: Map<number, Uint8Array>;
  readonly rest: BinaryWriter;
}

/** Reads a message by protobuf-es after taking the long texts out of its bytes. Throws for invalid bytes. */
export function readWithLongTexts<D extends DescMessage>(schema: D, bytes: Uint8Array): MessageShape<D> {
  const cut: Cut = { texts: new Map(), rest: new BinaryWriter() };
  cutTexts(schema, new BinaryReader(bytes), bytes, bytes.length, cut, { completions: 0 });
  const message = fromBinary(schema, cut.rest.finish());
  const { groups, more = [] } = message as unknown as Pick<BatchStepRequest, "groups"> & Partial<StreamStepsRequest>;
  // Completions of further requests could not be told from those of the message's own groups.
  if (more.length > 0)
    throw new RangeError(`a message with more requests in it may have at most ${LONG_MESSAGE_BYTES} bytes`);
  // A part of a larger buffer shares its memory with others, so only a buffer of the message alone is registered.
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
    // If a field comes twice, the last one counts.
    if (isText) texts.delete(place);
    if (isText && value.length >= LONG_BYTES && isUtf8(value)) texts.set(place, value);
    else rest.tag(number, wireType).bytes(value);
  }
}

function checkEnd({ pos }: { readonly pos: number }, end: number): void {
  if (pos > end) throw new RangeError("premature EOF");
}
