/**
 * Reads and writes messages in binary by protobuf-es, with a limit on the parts that reading makes and on how much is
 * written at once.
 */
import {
  create,
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
import { LONG_MESSAGE_BYTES, RpcError } from "../../base/rpc.ts";
import { mayHoldLongTexts, readWithLongTexts } from "./long-texts.ts";

/**
 * Returns a function that reads messages of a schema. For invalid bytes the function throws RpcError
 * (INVALID_ARGUMENT).
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
        const remedy = "replace what is no UTF-8 by U+FFFD, and send the request again";
        throw new RpcError("INVALID_ARGUMENT", `${field}: its bytes are not valid UTF-8: ${remedy}`, { field });
      }
      const why = `the request's ${bytes.byteLength} bytes are not a ${schema.typeName} message: ${(error as Error).message}`;
      throw new RpcError("INVALID_ARGUMENT", why);
    }
  };
}

/**
 * Returns the path of the first string that is not UTF-8, for example "groups[0].completions[3].text"; undefined: the
 * bytes have another fault.
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

// Limits the number of parts of a message before they are made: an empty part takes two bytes on the wire, and a
// hundred in memory.

/** Maximum number of fields of a message and of all messages within it. More would keep the event loop for a second. */
export const PARTS_MAX = 2 ** 20;
/** Maximum number of messages within a message; they take longest to make, about a microsecond each. */
const MESSAGES_MAX = 2 ** 18;
/** Maximum number of messages within a trainer's message: nobody else is served while they are made. */
export const STEP_MESSAGES_MAX = 2 ** 15;
/**
 * Maximum bytes of all texts of a message but completions, which are long. Such texts are ids and names: a server's
 * largest batch has at most 8 MiB of them.
 */
const TEXT_BYTES_MAX = 8 * 1024 ** 2;

const completionText = CompletionSchema.field.text;

/** Throws RpcError if a message has too many parts or too long texts, and Error if it is not protobuf. */
export function checkParts(schema: DescMessage, bytes: Uint8Array): void {
  // Each part takes at least two bytes.
  if (bytes.length < 2 * STEP_MESSAGES_MAX) return;
  const messagesMax = mayHoldLongTexts(schema) ? STEP_MESSAGES_MAX : MESSAGES_MAX;
  const reader = new BinaryReader(bytes);
  let [parts, messages, textBytes] = [0, 0, 0];
  const scan = (of: DescMessage, end: number): void => {
    while (reader.pos < end) {
      if (++parts > PARTS_MAX) throw exceeds(`${PARTS_MAX} fields`);
      const begin = reader.pos;
      const [number, wireType] = reader.tag();
      const field = of.fields.find((each) => each.number === number);
      if (field?.message !== undefined && wireType === WireType.LengthDelimited) {
        if (++messages > messagesMax) throw exceeds(`${messagesMax} messages within it`);
        scan(field.message, reader.uint32() + reader.pos);
        continue;
      }
      reader.skip(wireType, number);
      if (field?.scalar === ScalarType.STRING && field !== completionText) textBytes += reader.pos - begin;
      if (textBytes > TEXT_BYTES_MAX)
        throw exceeds(`${TEXT_BYTES_MAX} bytes of texts that are no completions (here ${field?.name})`);
    }
  };
  scan(schema, bytes.length);
}

function exceeds(limit: string): RpcError {
  return new RpcError("INVALID_ARGUMENT", `the request has more than ${limit}: send it in several requests`);
}

/**
 * Number of list elements that are written at once: prompts and records of a history may have a hundred kilobytes each.
 */
const PIECE = 16;

/**
 * Returns a function that cuts a message with a long list into pieces, so that others get their turn in between. The
 * pieces' bytes, one after another, are the message's bytes.
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
      // The last piece has all other fields.
      pieces.push(from + PIECE < parts.length ? create(schema, piece) : { ...message, ...piece });
    }
    return pieces;
  };
}

const written = new WeakMap<Message, Buffer>();

/**
 * Returns a function that writes messages of a schema. A frozen message cannot change, so it is written once, however
 * often it is sent.
 */
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
