/**
 * Decodes requests with completions, but decodes the text of a long completion only when a handler reads it. Decoding
 * 60 MB at once, and keeping it until all is scored, would stop V8 for 60 to 100 ms (docs/decisions/0008-wire.md).
 */
import { isUtf8 } from "node:buffer";
import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import {
  type BatchStepRequest,
  BatchStepRequestSchema,
  CompletionSchema,
  type StreamStepsRequest,
  StreamStepsRequestSchema,
} from "../../../proto/gen/gradus/v1/environment_pb.js";
import { bytesOfTexts, LONG_MESSAGE_BYTES, textSizes } from "../../base/rpc.ts";
import { headerBytes } from "./frames.ts";

/**
 * Minimum bytes of a completion's text that is decoded only when a handler reads it. Only messages of at least
 * LONG_MESSAGE_BYTES have such texts.
 */
const LONG_BYTES = 1024;

export function mayHoldLongTexts(schema: DescMessage): boolean {
  return schema === BatchStepRequestSchema || schema === StreamStepsRequestSchema;
}

/**
 * Decodes a message. Long texts of its completions become getters that decode a text when it is read. Throws if the
 * bytes are invalid.
 */
export function readWithLongTexts<D extends DescMessage>(schema: D, bytes: Uint8Array): MessageShape<D> {
  const { texts, tags } = longTexts(schema, bytes);
  const message = readWithout(schema, bytes, tags);
  const { groups, more = [] } = message as unknown as Pick<BatchStepRequest, "groups"> & Partial<StreamStepsRequest>;
  // Texts are assigned to completions by position, which counts only the message's own groups. Completions in `more`
  // (further requests that are packed into the message) would shift the positions.
  if (more.length > 0)
    throw new RangeError(`a message with more requests in it may have at most ${LONG_MESSAGE_BYTES} bytes`);
  // Only a buffer that contains nothing but this message may be freed later, so only such a buffer is registered.
  const isAlone = bytes.buffer instanceof ArrayBuffer && bytes.buffer.byteLength <= bytes.byteLength + headerBytes;
  if (isAlone) bytesOfTexts.set(groups, bytes.buffer);
  let place = 0;
  for (const group of groups) {
    let size = 0;
    for (const completion of group.completions) {
      const text = texts.get(place++);
      size += (text ?? completion.text).length;
      if (text === undefined) continue;
      const get = (): string => Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString();
      Object.defineProperty(completion, "text", { get, enumerable: true });
    }
    textSizes.set(group, size);
  }
  return message;
}

/** Number of the field that holds a completion's text. */
const TEXT_FIELD = CompletionSchema.field.text.number;
/** Field number that the message Completion does not use. The decoder skips fields with this number. */
const HIDDEN_FIELD = 15;

/**
 * Decodes a message without the fields whose tags are at the offsets `tags`. Meanwhile these tags in `bytes` name the
 * field HIDDEN_FIELD, because a copy of a long message would take milliseconds.
 */
function readWithout<D extends DescMessage>(schema: D, bytes: Uint8Array, tags: readonly number[]): MessageShape<D> {
  const tag = (field: number): void => {
    for (const place of tags) bytes[place] = (field << 3) | WireType.LengthDelimited;
  };
  tag(HIDDEN_FIELD);
  try {
    return fromBinary(schema, bytes, { readUnknownFields: false });
  } finally {
    tag(TEXT_FIELD);
  }
}

interface LongTexts {
  /** Long texts by the index of their completion in the whole message. */
  readonly texts: ReadonlyMap<number, Uint8Array>;
  /**
   * Offsets of the tags of all long texts, including texts that do not count because their completion has a later one.
   */
  readonly tags: readonly number[];
}

function longTexts(schema: DescMessage, bytes: Uint8Array): LongTexts {
  const texts = new Map<number, Uint8Array>();
  const tags: number[] = [];
  const reader = new BinaryReader(bytes);
  let completions = 0;
  const scan = (of: DescMessage, end: number): void => {
    const index = of === CompletionSchema ? completions++ : -1;
    while (reader.pos < end) {
      const start = reader.pos;
      const [number, wireType] = reader.tag();
      const tagBytes = reader.pos - start;
      const inner = of.fields.find((field) => field.number === number)?.message;
      if (inner !== undefined && wireType === WireType.LengthDelimited) {
        const innerEnd = reader.uint32() + reader.pos;
        checkEnd({ pos: innerEnd }, end);
        scan(inner, innerEnd);
        continue;
      }
      const isText = index >= 0 && number === TEXT_FIELD && wireType === WireType.LengthDelimited;
      const value = isText ? reader.bytes() : reader.skip(wireType, number);
      checkEnd(reader, end);
      if (!isText) continue;
      // If a field occurs twice, its last value counts.
      texts.delete(index);
      if (tagBytes > 1 || value.length < LONG_BYTES || !isUtf8(value)) continue;
      texts.set(index, value);
      tags.push(start);
    }
  };
  scan(schema, bytes.length);
  return { texts, tags };
}

function checkEnd({ pos }: { readonly pos: number }, end: number): void {
  if (pos > end) throw new RangeError("premature EOF");
}
