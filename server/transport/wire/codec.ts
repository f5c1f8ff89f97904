/**
 * Decodes and encodes protobuf messages by protobuf-es. Limits how many fields a message may have, and how much is
 * encoded at once.
 */
import {
  create,
  type DescField,
  type DescMessage,
  fromBinary,
  type Message,
  type MessageShape,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { isUtf8 } from "node:buffer";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { CompletionSchema } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { SubmitCompletionsRequestSchema } from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import { LONG_MESSAGE_BYTES, RpcError } from "../../base/rpc.ts";
import { mayHoldLongTexts, readWithLongTexts } from "./long-texts.ts";

/**
 * Returns a function that decodes messages. It throws RpcError (INVALID_ARGUMENT) for invalid bytes and for too large
 * messages.
 */
export function decoderOf<D extends DescMessage>(schema: D): (bytes: Uint8Array) => MessageShape<D> {
  const mayBeLong = mayHoldLongTexts(schema);
  return (bytes) => {
    let isBounded = false;
    try {
      checkParts(schema, bytes);
      isBounded = true;
      const isLong = mayBeLong && bytes.length >= LONG_MESSAGE_BYTES;
      return isLong ? readWithLongTexts(schema, bytes) : fromBinary(schema, bytes);
    } catch (error) {
      if (error instanceof RpcError) throw error;
      const field = isBounded ? noTextIn(schema, bytes) : undefined;
      if (field !== undefined) {
        const remedy = "replace the invalid bytes by U+FFFD, and send the request again";
        throw new RpcError("INVALID_ARGUMENT", `${field}: its bytes are not valid UTF-8: ${remedy}`, { field });
      }
      const why = `the request's ${bytes.byteLength} bytes are not a ${schema.typeName} message: ${(error as Error).message}`;
      throw new RpcError("INVALID_ARGUMENT", why);
    }
  };
}

/**
 * Returns the path of the first string that is not UTF-8, e.g. "groups[0].completions[3].text". Undefined: the bytes
 * are invalid for another reason.
 */
function noTextIn(schema: DescMessage, bytes: Uint8Array): string | undefined {
  const reader = new BinaryReader(bytes);
  const scan = (of: DescMessage, end: number): string | undefined => {
    const seen = new Map<number, number>();
    while (reader.pos < end) {
      const [number, wireType] = reader.tag();
      const field = of.fields.find((each) => each.number === number);
      const place = seen.get(number) ?? 0;
      seen.set(number, place + 1);
      const path = field?.fieldKind === "list" ? `${field.name}[${place}]` : field?.name;
      if (wireType !== WireType.LengthDelimited) reader.skip(wireType, number);
      else if (field?.message !== undefined) {
        const within = scan(field.message, reader.uint32() + reader.pos);
        if (within !== undefined) return `${path}.${within}`;
      } else if (!isUtf8(reader.bytes()) && field?.scalar === ScalarType.STRING) return path;
    }
    return undefined;
  };
  try {
    return scan(schema, bytes.length);
  } catch {
    return undefined;
  }
}

// The next functions limit how many fields and inner messages a message may have, before it is decoded. An empty inner
// message takes two bytes when encoded, but a hundred in memory.

/** Maximum number of fields of a message, inner messages included. More would block the event loop for a second. */
export const PARTS_MAX = 2 ** 20;
/** Maximum number of inner messages of a message, at all depths. Each takes about a microsecond to make. */
const MESSAGES_MAX = 2 ** 18;
/**
 * Maximum number of inner messages in a BatchStep or StreamSteps request. It is lower than MESSAGES_MAX, because no
 * other call is served while such a request is decoded.
 */
export const STEP_MESSAGES_MAX = 2 ** 15;
/**
 * Maximum bytes of all texts of a message except completions. They are ids and names, of which a large batch has at
 * most 8 MiB.
 */
const TEXT_BYTES_MAX = 8 * 1024 ** 2;

const completionTexts: ReadonlySet<DescField | undefined> = new Set([
  CompletionSchema.field.text,
  SubmitCompletionsRequestSchema.field.completion,
]);

/**
 * Throws RpcError if a message has too many fields, too many inner messages or too long texts. Throws Error if the
 * bytes are not protobuf.
 */
export function checkParts(schema: DescMessage, bytes: Uint8Array): void {
  // A message this short cannot have too many fields or inner messages, because each takes at least two bytes.
  if (bytes.length < 2 * STEP_MESSAGES_MAX) return;
  const messagesMax = mayHoldLongTexts(schema) ? STEP_MESSAGES_MAX : MESSAGES_MAX;
  const reader = new BinaryReader(bytes);
  let [parts, messages, textBytes] = [0, 0, 0];
  const scan = (of: DescMessage, end: number): void => {
    const fields = fieldsOf(of);
    while (reader.pos < end) {
      if (++parts > PARTS_MAX) throw exceeds(`${PARTS_MAX} fields`);
      const begin = reader.pos;
      // For speed, tags and numbers are read without reader.tag() and reader.skip(), which make an array or a view for
      // each.
      const tag = reader.uint32();
      const [number, wireType] = [tag >>> 3, (tag & 7) as WireType];
      if (wireType === WireType.Varint) {
        while ((bytes[reader.pos++] ?? 0) > 127);
        continue;
      }
      if (wireType !== WireType.LengthDelimited) {
        reader.skip(wireType, number);
        continue;
      }
      const field = fields.get(number);
      const length = reader.uint32();
      if (field?.message !== undefined) {
        if (++messages > messagesMax) throw exceeds(`${messagesMax} messages within it`);
        scan(field.message, length + reader.pos);
        continue;
      }
      reader.pos += length;
      if (field?.scalar === ScalarType.STRING && !completionTexts.has(field)) textBytes += reader.pos - begin;
      if (textBytes > TEXT_BYTES_MAX)
        throw exceeds(`${TEXT_BYTES_MAX} bytes of texts that are no completions (here ${field?.name})`);
    }
  };
  scan(schema, bytes.length);
}

const fieldsByNumber = new WeakMap<DescMessage, ReadonlyMap<number, DescField>>();

function fieldsOf(message: DescMessage): ReadonlyMap<number, DescField> {
  let fields = fieldsByNumber.get(message);
  if (fields === undefined)
    fieldsByNumber.set(message, (fields = new Map(message.fields.map((each) => [each.number, each]))));
  return fields;
}

function exceeds(limit: string): RpcError {
  return new RpcError("INVALID_ARGUMENT", `the request has more than ${limit}: send it in several requests`);
}

/** Number of list elements that are encoded at once. One element, e.g. a prompt, may have a hundred kilobytes. */
const PIECE = 16;

/**
 * Returns a function that splits a message with a long list into several. They are encoded one by one, so that other
 * work can run in between. Their joined bytes are the whole message.
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
      // The last piece also has all other fields.
      pieces.push(from + PIECE < parts.length ? create(schema, piece) : { ...message, ...piece });
    }
    return pieces;
  };
}

const written = new WeakMap<Message, Buffer>();

/** Returns a function that encodes messages. A frozen message cannot change, so it is encoded only once. */
export function encoderOf<D extends DescMessage>(schema: D): (message: MessageShape<D>) => Buffer {
  const write = (message: MessageShape<D>): Buffer => {
    const { buffer, byteOffset, byteLength } = toBinary(schema, message);
    return Buffer.from(buffer, byteOffset, byteLength);
  };
  return (message) => {
    if (!Object.isFrozen(message)) return write(message);
    const bytes = written.get(message) ?? write(message);
    written.set(message, bytes);
    return bytes;
  };
}
