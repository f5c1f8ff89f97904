/**
 * Decodes and encodes protobuf messages by protobuf-es, long ones in pieces.
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
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { encodedAhead, RpcError } from "../../base/rpc.ts";
import { isOnePiece, readInPieces } from "./pieces.ts";

/**
 * Decodes a message. A long one is decoded in pieces, each of which begins when `turn` resolves. Throws RpcError
 * (INVALID_ARGUMENT), or rejects with it, for invalid bytes and for too many fields.
 */
export type Decode<M extends Message> = (bytes: Uint8Array, turn: () => Promise<void>) => M | Promise<M>;

export function decoderOf<D extends DescMessage>(schema: D): Decode<MessageShape<D>> {
  const inPieces = async (bytes: Uint8Array, turn: () => Promise<void>): Promise<MessageShape<D>> => {
    const pieces = readInPieces(schema, bytes);
    for (;;) {
      await turn();
      try {
        const { done, value } = pieces.next();
        if (done === true) return value;
      } catch (error) {
        throw refusalOf(schema, bytes, error);
      }
    }
  };
  return (bytes, turn) => {
    try {
      return isOnePiece(schema, bytes) ? fromBinary(schema, bytes) : inPieces(bytes, turn);
    } catch (error) {
      throw refusalOf(schema, bytes, error);
    }
  };
}

/** Returns the error for a message that could not be decoded. */
function refusalOf(schema: DescMessage, bytes: Uint8Array, error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  const field = noTextIn(schema, bytes);
  if (field !== undefined) {
    const remedy = "replace the invalid bytes by U+FFFD, and send the request again";
    return new RpcError("INVALID_ARGUMENT", `${field}: its bytes are not valid UTF-8: ${remedy}`, { field });
  }
  const why = `the request's ${bytes.byteLength} bytes are not a ${schema.typeName} message: ${(error as Error).message}`;
  return new RpcError("INVALID_ARGUMENT", why);
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

/** Number of list elements that are encoded at once. One element, e.g. a prompt, may have a hundred kilobytes. */
const PIECE = 16;

/** Returns the first field of a message type that is a list of messages. Undefined: the type has no such field. */
function listOf(schema: DescMessage): DescField | undefined {
  return schema.fields.find((field) => field.fieldKind === "list" && field.listKind === "message");
}

function elementsOf(message: Message, { localName }: DescField): readonly object[] {
  return (message as unknown as Readonly<Record<string, readonly object[]>>)[localName] ?? [];
}

/**
 * Returns a function that splits a message with a long list into several. They are encoded one by one, so that other
 * work can run in between. Their joined bytes are the whole message.
 */
export function cutterOf(schema: DescMessage): (message: Message) => readonly Message[] {
  const list = listOf(schema);
  if (list === undefined) return (message) => [message];
  return (message) => {
    const parts = elementsOf(message, list);
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

/**
 * Encodes a message if all elements of its list were encoded ahead, by joining their bytes. Undefined: the list is
 * empty, or an element was not encoded ahead.
 */
function joinedAhead<D extends DescMessage>(schema: D, message: MessageShape<D>, list: DescField): Buffer | undefined {
  const all = elementsOf(message, list);
  // In most messages no element was encoded ahead, so the first element is checked before the others.
  if (all[0] === undefined || !encodedAhead.has(all[0])) return undefined;
  const elements = all.map((element) => encodedAhead.get(element));
  if (!elements.every((bytes) => bytes !== undefined)) return undefined;
  const tag = new BinaryWriter().tag(list.number, WireType.LengthDelimited).finish();
  const parts = elements.flatMap((bytes) => [tag, new BinaryWriter().uint32(bytes.length).finish(), bytes]);
  return Buffer.concat([...parts, toBinary(schema, { ...message, [list.localName]: [] })]);
}

/** Returns a function that encodes messages. A frozen message cannot change, so it is encoded only once. */
export function encoderOf<D extends DescMessage>(schema: D): (message: MessageShape<D>) => Buffer {
  const list = listOf(schema);
  const write = (message: MessageShape<D>): Buffer => {
    const ahead = list && joinedAhead(schema, message, list);
    if (ahead !== undefined) return ahead;
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
