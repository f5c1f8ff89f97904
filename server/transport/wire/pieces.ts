/**
 * Decodes a long message in pieces, between which other calls are served, and limits its fields. Texts of long
 * completions are decoded only when a handler reads them: to decode 60 MB at once, and to keep it until all is scored,
 * would stop V8 for 60 to 100 ms (docs/decisions/0008-wire.md).
 */
import { isUtf8 } from "node:buffer";
import {
  create,
  type DescField,
  type DescMessage,
  mergeFromBinary,
  type Message,
  type MessageShape,
  ScalarType,
} from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import {
  type BatchStepRequest,
  BatchStepRequestSchema,
  type Completion,
  CompletionSchema,
  type CompletionGroup,
  CompletionGroupSchema,
  type StreamStepsRequest,
  StreamStepsRequestSchema,
} from "../../../proto/gen/gradus/v1/environment_pb.js";
import { SubmitCompletionsRequestSchema } from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import { bytesOfTexts, LONG_MESSAGE_BYTES, RpcError, textSizes } from "../../base/rpc.ts";
import { headerBytes } from "./frames.ts";

/** Maximum number of fields of a message, inner messages included. More would block the event loop for a second. */
export const PARTS_MAX = 2 ** 20;
/** Maximum number of inner messages of a message, at all depths. Each takes about a microsecond to make. */
const MESSAGES_MAX = 2 ** 18;
/** Maximum number of inner messages in a BatchStep or StreamSteps request. */
export const STEP_MESSAGES_MAX = 2 ** 15;
/**
 * Maximum bytes of all texts of a message except completions. They are ids and names, of which a large batch has at
 * most 8 MiB.
 */
const TEXT_BYTES_MAX = 8 * 1024 ** 2;

/** Maximum depth of messages within messages. Protobuf-es has the same limit for those that it decodes at once. */
const DEPTH_MAX = 100;

/** Bytes of a message that are decoded at once, which takes about a millisecond. A longer text is a piece by itself. */
export const PIECE_BYTES = 16 * 1024;
/** Number of bytes of a long text that take at most as much time as one byte of other fields. */
const TEXT_BYTES_PER_BYTE = 32;

/**
 * Minimum bytes of a long text. A completion's long text is decoded only when a handler reads it, if its message has at
 * least LONG_MESSAGE_BYTES. Shorter texts are decoded with their message.
 */
const LONG_TEXT_BYTES = 1024;
/** Field number of a completion's text. */
const TEXT_FIELD = CompletionSchema.field.text.number;
/** Field number that the message Completion does not use. The decoder skips fields with this number. */
const HIDDEN_FIELD = 15;

const completionTexts: ReadonlySet<DescField | undefined> = new Set([
  CompletionSchema.field.text,
  SubmitCompletionsRequestSchema.field.completion,
]);

interface LongText {
  /** Index of the completion that has this text, among the completions of the piece. */
  readonly index: number;
  /** Offset, in the message, of the tag (field number and type) before the text. */
  readonly tag: number;
  /** Bytes of the text. Undefined: the completion has its text field once more, and the last one counts. */
  bytes: Uint8Array | undefined;
}

/** An inner message that is longer than a piece. The scanner has read only its length, and reads its fields next. */
interface Entered {
  readonly field: DescField & { readonly message: DescMessage };
  readonly end: number;
}

/** Reads over the fields of an encoded message without decoding them, and counts them. Throws RpcError at a limit. */
class Scanner {
  readonly reader: BinaryReader;
  /** Long texts since the last call of `startPiece`. */
  texts: LongText[] = [];
  /** Bytes of the piece, of which those of long texts count less. Decoding takes time in proportion to this number. */
  size = 0;
  /** Whether long texts are decoded only when they are read. */
  readonly findsTexts: boolean;
  readonly #bytes: Uint8Array;
  readonly #messagesMax: number;
  #completions = 0;
  #parts = 0;
  #messages = 0;
  #textBytes = 0;

  constructor(schema: DescMessage, bytes: Uint8Array) {
    this.reader = new BinaryReader(bytes);
    this.#bytes = bytes;
    this.#messagesMax = mayHoldLongTexts(schema) ? STEP_MESSAGES_MAX : MESSAGES_MAX;
    this.findsTexts = mayHoldLongTexts(schema) && bytes.length >= LONG_MESSAGE_BYTES;
  }

  startPiece(): void {
    this.texts = [];
    this.size = 0;
    this.#completions = 0;
  }

  /**
   * Reads over the next field of a message of type `of`. If the field is a message longer than `longest`, only enters
   * it.
   */
  next(of: DescMessage, end: number, longest = Infinity): Entered | undefined {
    const { reader } = this;
    const bytes = this.#bytes;
    if (++this.#parts > PARTS_MAX) throw exceeds(`${PARTS_MAX} fields`);
    const start = reader.pos;
    // For speed, tags and numbers are read without reader.tag() and reader.skip(), which make an array or a view for
    // each.
    const tag = reader.uint32();
    const [number, wireType] = [tag >>> 3, (tag & 7) as WireType];
    if (wireType === WireType.LengthDelimited) {
      const length = reader.uint32();
      const field = fieldsOf(of).get(number);
      const fieldEnd = reader.pos + length;
      if (fieldEnd > end) throw new RangeError("premature EOF");
      if (field?.message !== undefined || field?.fieldKind === "map") {
        if (++this.#messages > this.#messagesMax) throw exceeds(`${this.#messagesMax} messages within it`, field);
        if (field.message === CompletionSchema) this.#completions++;
        if (length > longest && mayBeEntered(field)) return { field, end: fieldEnd };
        this.size += reader.pos - start;
        if (field.fieldKind !== "map") {
          while (reader.pos < fieldEnd) this.next(field.message, fieldEnd);
          return undefined;
        }
      }
      this.#skipValue(of, field, fieldEnd, start);
    } else if (wireType === WireType.Varint) while ((bytes[reader.pos++] ?? 0) > 127);
    else reader.skip(wireType, number);
    this.size += reader.pos - start;
    if (reader.pos > end) throw new RangeError("premature EOF");
    return undefined;
  }

  #skipValue(of: DescMessage, field: DescField | undefined, end: number, start: number): void {
    const from = this.reader.pos;
    this.reader.pos = end;
    if (field?.scalar !== ScalarType.STRING) return;
    if (!completionTexts.has(field)) this.#textBytes += end - start;
    if (this.#textBytes > TEXT_BYTES_MAX)
      throw exceeds(`${TEXT_BYTES_MAX} bytes of texts that are no completions (here ${field.name})`);
    const length = end - from;
    const isLong = length >= LONG_TEXT_BYTES;
    if (isLong) this.size -= length - length / TEXT_BYTES_PER_BYTE;
    if (!this.findsTexts || of !== CompletionSchema || field.number !== TEXT_FIELD) return;
    const index = Math.max(0, this.#completions - 1);
    const before = this.texts.at(-1);
    if (before?.index === index) before.bytes = undefined;
    const bytes = this.#bytes.subarray(from, end);
    const hasShortTag = (this.#bytes[start] ?? 0) < 128;
    if (isLong && hasShortTag && isUtf8(bytes)) this.texts.push({ index, tag: start, bytes });
  }
}

const fieldsByNumber = new WeakMap<DescMessage, ReadonlyMap<number, DescField>>();

function fieldsOf(message: DescMessage): ReadonlyMap<number, DescField> {
  let fields = fieldsByNumber.get(message);
  if (fields === undefined)
    fieldsByNumber.set(message, (fields = new Map(message.fields.map((each) => [each.number, each]))));
  return fields;
}

/**
 * Returns whether an inner message may be decoded in pieces, i.e. its fields may be added one by one to a message that
 * already exists.
 */
function mayBeEntered(field: DescField): field is Entered["field"] {
  return (
    (field.fieldKind === "list" && field.listKind === "message") || (field.fieldKind === "message" && !field.oneof)
  );
}

/** Returns the error for a request that exceeds a limit. `field` is the field with too many values, if known. */
function exceeds(limit: string, field?: DescField): RpcError {
  const place = field === undefined ? "" : `${field.name}: `;
  return new RpcError("INVALID_ARGUMENT", `${place}the request has more than ${limit}: send it in several requests`);
}

export function mayHoldLongTexts(schema: DescMessage): boolean {
  return schema === BatchStepRequestSchema || schema === StreamStepsRequestSchema;
}

/** Throws RpcError if a message has too many fields or inner messages, and Error if the bytes are not protobuf. */
export function checkParts(schema: DescMessage, bytes: Uint8Array): void {
  const scanner = new Scanner(schema, bytes);
  while (scanner.reader.pos < bytes.length) scanner.next(schema, bytes.length);
}

/**
 * Returns whether a message is so short, or consists of so few fields, that it is decoded at once. May throw RangeError
 * if the bytes are not protobuf.
 */
export function isOnePiece(schema: DescMessage, bytes: Uint8Array): boolean {
  if (bytes.length <= PIECE_BYTES) return true;
  if (bytes.length >= LONG_MESSAGE_BYTES) return false;
  const scanner = new Scanner(schema, bytes);
  const isLight = (of: DescMessage, end: number, depth: number): boolean => {
    while (scanner.reader.pos < end) {
      const entered = scanner.next(of, end, PIECE_BYTES);
      if (scanner.size > PIECE_BYTES || depth > DEPTH_MAX) return false;
      if (entered !== undefined && !isLight(entered.field.message, entered.end, depth + 1)) return false;
    }
    return true;
  };
  return isLight(schema, bytes.length, 0);
}

/**
 * Decodes a message in pieces: each step of the generator decodes one. Long texts of its completions become getters
 * that decode a text when it is read. Throws RpcError at a limit, and Error if the bytes are invalid.
 */
export function* readInPieces<D extends DescMessage>(schema: D, bytes: Uint8Array): Generator<void, MessageShape<D>> {
  const scanner = new Scanner(schema, bytes);
  const { reader } = scanner;
  const sizes = new Map<Completion, number>();
  const decode = (of: DescMessage, target: Message, from: number, to: number): void => {
    const [known, { texts }] = [lengthOf(of, target), scanner];
    mergeWithout(of, target, bytes, { from, to, texts });
    if (texts.length === 0) return;
    const completions = completionsOf(of, target, known);
    for (const { index, bytes: text } of texts) {
      const completion = completions[index];
      if (text === undefined || completion === undefined) continue;
      setText(completion, text);
      sizes.set(completion, text.length);
    }
  };
  function* fill(of: DescMessage, target: Message, end: number, depth: number): Generator<void, void> {
    if (depth > DEPTH_MAX) throw exceeds(`${DEPTH_MAX} levels of messages within messages`);
    scanner.startPiece();
    for (let from = reader.pos; reader.pos < end;) {
      const start = reader.pos;
      const entered = scanner.next(of, end, PIECE_BYTES);
      if (entered === undefined && scanner.size < PIECE_BYTES && reader.pos < end) continue;
      decode(of, target, from, entered === undefined ? reader.pos : start);
      if (entered !== undefined)
        yield* fill(entered.field.message, innerOf(target, entered.field), entered.end, depth + 1);
      scanner.startPiece();
      from = reader.pos;
      yield;
    }
  }
  const message = create(schema);
  yield* fill(schema, message, bytes.length, 0);
  if (scanner.findsTexts) keepSizes(message as unknown as Steps, sizes, bytes);
  return message;
}

type Steps = Pick<BatchStepRequest, "groups"> & Partial<StreamStepsRequest>;

/** Returns the number of groups of a request, or of completions of a group. */
function lengthOf(of: DescMessage, target: Message): number {
  if (of === CompletionGroupSchema) return (target as CompletionGroup).completions.length;
  return mayHoldLongTexts(of) ? (target as unknown as Steps).groups.length : 0;
}

/**
 * Returns the completions of a request's groups, or of a group. `from` is the index of the first group or completion.
 */
function completionsOf(of: DescMessage, target: Message, from: number): readonly Completion[] {
  if (of === CompletionSchema) return [target as Completion];
  if (of === CompletionGroupSchema) return (target as CompletionGroup).completions.slice(from);
  return (target as unknown as Steps).groups.slice(from).flatMap(({ completions }) => completions);
}

/** Returns the new element of a list of messages, or the message in a field. */
function innerOf(target: Message, { localName, fieldKind, message }: Entered["field"]): Message {
  const fields = target as unknown as Record<string, Message | Message[] | undefined>;
  if (fieldKind !== "list") return (fields[localName] ??= create(message)) as Message;
  const made = create(message);
  (fields[localName] as Message[]).push(made);
  return made;
}

/**
 * Decodes the part of a message between two offsets without its long texts. Meanwhile the tags of these texts are
 * overwritten with HIDDEN_FIELD, so that the decoder skips them. Copying a long message instead would take
 * milliseconds.
 */
function mergeWithout(
  of: DescMessage,
  target: Message,
  bytes: Uint8Array,
  { from, to, texts }: { readonly from: number; readonly to: number; readonly texts: readonly LongText[] },
): void {
  const name = (field: number): void => {
    for (const { tag } of texts) bytes[tag] = (field << 3) | WireType.LengthDelimited;
  };
  name(HIDDEN_FIELD);
  try {
    mergeFromBinary(of, target, bytes.subarray(from, to), { readUnknownFields: texts.length === 0 });
  } finally {
    name(TEXT_FIELD);
  }
}

/** Lets a completion decode its text whenever it is read. A text that is set later replaces it. */
function setText(completion: Completion, bytes: Uint8Array): void {
  Object.defineProperty(completion, "text", {
    get: () => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(),
    set: (value: string) => Object.defineProperty(completion, "text", { value, writable: true, enumerable: true }),
    enumerable: true,
    configurable: true,
  });
}

/**
 * Stores the sizes of a long message's texts. Stores its bytes too, so that they can be freed when the texts are
 * scored.
 */
function keepSizes({ groups, more = [] }: Steps, sizes: ReadonlyMap<Completion, number>, bytes: Uint8Array): void {
  if (more.length > 0)
    throw new RangeError(
      `a message with several requests may have at most ${LONG_MESSAGE_BYTES} bytes: send them one by one`,
    );
  // Only a buffer that contains nothing but this message may be freed later, so only such a buffer is registered.
  const isAlone = bytes.buffer instanceof ArrayBuffer && bytes.buffer.byteLength <= bytes.byteLength + headerBytes;
  if (isAlone) bytesOfTexts.set(groups, bytes.buffer);
  for (const group of groups) {
    const lengths = group.completions.map((completion) => sizes.get(completion) ?? completion.text.length);
    textSizes.set(
      group,
      lengths.reduce((sum, length) => sum + length, 0),
    );
  }
}
