/**
 * Request messages from bytes: by protobuf-es, but for those that hold completions, which are read by hand as
 * proto/gradus/v1/environment.proto numbers their fields. That is several times as fast (docs/decisions/0008-wire.md).
 */
import { isUtf8 } from "node:buffer";
import { type DescMessage, fromBinary, type Message, type MessageShape } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import {
  type BatchStepRequest,
  BatchStepRequestSchema,
  type Completion,
  type CompletionGroup,
  type FinishReason,
  type StepRequest,
  StepRequestSchema,
  type StreamStepsRequest,
  StreamStepsRequestSchema,
} from "../../gen/gradus/v1/environment_pb.js";
import { RpcError } from "../rpc.ts";

// Protobuf that is written plainly is read here; what is not is left to protobuf-es, which says what is wrong with it.

/** This reader does not know what to make of the bytes. They may still be a message. */
class NotPlain extends Error {}

/** Longer varints are of 64 bits, or padded. */
const VARINT_BYTES_MAX = 5;
/** Messages in a message. Millions of empty ones fit into some megabytes, and would keep the event loop for seconds. */
const MESSAGES_MAX = 2 ** 18;
/** From here on, a text of a completion is read when it is wanted. */
const LONG_TEXT_BYTES = 64 * 1024;
const REPLACEMENT = "\ufffd";

// One for all: it says nothing but that it happened, and a stack for each would cost more than the reading.
const notPlain = new NotPlain("not plain");

/** A class, because its fields are the state of a hot loop. */
class MessageReader {
  readonly #bytes: Buffer;
  #at = 0;
  #end: number;
  #messages = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#end = bytes.byteLength;
  }

  /** What stands before the next field: its number * 8 + its wire type. 0: the message is at its end. */
  tag(): number {
    if (this.#at >= this.#end) return 0;
    return this.#varint() || unknownField();
  }

  uint32(): number {
    return this.#varint();
  }

  /** An enum's number, which is signed. */
  enumeration(): number {
    const number = this.#varint();
    if (number > 0x7fff_ffff) throw notPlain;
    return number;
  }

  /** A text. Bytes that are no UTF-8 come out as U+FFFD, and so would one that the text holds: rare, so it is not plain. */
  string(): string {
    return this.#textUntil(this.#limit());
  }

  /** A text, or of one that is long the bytes, to be read later. */
  text(): string | Uint8Array {
    const end = this.#limit();
    if (end - this.#at < LONG_TEXT_BYTES) return this.#textUntil(end);
    const bytes = this.#bytes.subarray(this.#at, end);
    if (!isUtf8(bytes)) throw notPlain;
    this.#at = end;
    return bytes;
  }

  /** A message, by what reads its fields. */
  message<T>(read: (reader: MessageReader) => T): T {
    // Not NotPlain: protobuf-es would read them all.
    if (++this.#messages > MESSAGES_MAX) throw new Error(`more than ${MESSAGES_MAX} groups and completions`);
    const outer = this.#end;
    this.#end = this.#limit();
    const message = read(this);
    this.#end = outer;
    return message;
  }

  #textUntil(end: number): string {
    const text = this.#bytes.toString(undefined, this.#at, end);
    if (text.includes(REPLACEMENT)) throw notPlain;
    this.#at = end;
    return text;
  }

  #limit(): number {
    const length = this.#varint();
    const end = this.#at + length;
    if (end > this.#end) throw notPlain;
    return end;
  }

  #varint(): number {
    // Tags and small numbers have one byte.
    const first = this.#at < this.#end ? (this.#bytes[this.#at] as number) : NaN;
    if (first < 0x80) {
      this.#at++;
      return first;
    }
    return this.#longVarint();
  }

  #longVarint(): number {
    let value = 0;
    for (let i = 0; i < VARINT_BYTES_MAX; i++) {
      if (this.#at >= this.#end) throw notPlain;
      const byte = this.#bytes[this.#at++] as number;
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) return plainUint32(value);
    }
    throw notPlain;
  }
}

function plainUint32(value: number): number {
  if (value > 0xffff_ffff) throw notPlain;
  return value;
}

/** For a field that is not of the message, or of another wire type. */
function unknownField(): never {
  throw notPlain;
}

// A field's number and wire type as they stand before it: number * 8 + wire type, which is 0 for numbers, 2 for all else.

/**
 * A completion whose text is made of its bytes each time it is wanted: a large message is not read in one go, and what was
 * read of it dies young. Kept until all are scored, 60 MB of texts were freed at once, for which V8 stops for 20 to 45 ms.
 */
class LongCompletion implements Completion {
  readonly $typeName = "gradus.v1.Completion";
  sampleIndex: number;
  finishReason: FinishReason;
  policyVersion?: number;
  readonly #bytes: Uint8Array;

  constructor({ sampleIndex, finishReason, policyVersion }: Omit<Completion, "text">, bytes: Uint8Array) {
    this.sampleIndex = sampleIndex;
    this.finishReason = finishReason;
    if (policyVersion !== undefined) this.policyVersion = policyVersion;
    this.#bytes = bytes;
  }

  get text(): string {
    const { buffer, byteOffset, byteLength } = this.#bytes;
    return Buffer.from(buffer, byteOffset, byteLength).toString();
  }
}

function readCompletion(from: MessageReader): Completion {
  let sampleIndex = 0;
  let text: string | Uint8Array = "";
  let finishReason: FinishReason = 0;
  let policyVersion: number | undefined;
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 8) sampleIndex = from.uint32();
    else if (tag === 18) text = from.text();
    else if (tag === 24) finishReason = from.enumeration();
    else if (tag === 32) policyVersion = from.uint32();
    else unknownField();
  }
  const short = typeof text === "string" ? text : "";
  const long = typeof text === "string" ? undefined : text;
  const completion: Completion = { $typeName: "gradus.v1.Completion", sampleIndex, text: short, finishReason };
  if (policyVersion !== undefined) completion.policyVersion = policyVersion;
  return long === undefined ? completion : new LongCompletion(completion, long);
}

function readGroup(from: MessageReader): CompletionGroup {
  let taskId = "";
  let groupId = "";
  let numGenerations = 0;
  const completions: Completion[] = [];
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 26) completions.push(from.message(readCompletion));
    else if (tag === 10) taskId = from.string();
    else if (tag === 18) groupId = from.string();
    else if (tag === 32) numGenerations = from.uint32();
    else unknownField();
  }
  return { $typeName: "gradus.v1.CompletionGroup", taskId, groupId, completions, numGenerations };
}

function readBatchStepRequest(from: MessageReader): BatchStepRequest {
  const groups: CompletionGroup[] = [];
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 10) groups.push(from.message(readGroup));
    else unknownField();
  }
  return { $typeName: "gradus.v1.BatchStepRequest", groups };
}

function readStreamStepsRequest(from: MessageReader): StreamStepsRequest {
  let requestId = "";
  const groups: CompletionGroup[] = [];
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 18) groups.push(from.message(readGroup));
    else if (tag === 10) requestId = from.string();
    else unknownField();
  }
  return { $typeName: "gradus.v1.StreamStepsRequest", requestId, groups };
}

function readStepRequest(from: MessageReader): StepRequest {
  let taskId = "";
  let groupId = "";
  let sampleIndex = 0;
  let completion = "";
  let finishReason: FinishReason = 0;
  let policyVersion: number | undefined;
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 10) taskId = from.string();
    else if (tag === 18) groupId = from.string();
    else if (tag === 24) sampleIndex = from.uint32();
    else if (tag === 34) completion = from.string();
    else if (tag === 40) finishReason = from.enumeration();
    else if (tag === 48) policyVersion = from.uint32();
    else unknownField();
  }
  const request: StepRequest = {
    $typeName: "gradus.v1.StepRequest",
    ...{ taskId, groupId, sampleIndex, completion, finishReason },
  };
  if (policyVersion !== undefined) request.policyVersion = policyVersion;
  return request;
}

const readers: ReadonlyMap<DescMessage, (from: MessageReader) => Message> = new Map<
  DescMessage,
  (from: MessageReader) => Message
>([
  [StepRequestSchema, readStepRequest],
  [BatchStepRequestSchema, readBatchStepRequest],
  [StreamStepsRequestSchema, readStreamStepsRequest],
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

/** The same, for bytes that may be none: it throws RpcError, for which the caller is at fault. */
export function binaryDecoderOf(schema: DescMessage): (bytes: Uint8Array) => Message {
  const decode = decoderOf(schema);
  return (bytes) => {
    try {
      return decode(bytes);
    } catch (error) {
      const why = `the request's ${bytes.byteLength} bytes are not a ${schema.typeName} message: ${(error as Error).message}`;
      throw new RpcError("INVALID_ARGUMENT", why);
    }
  };
}

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
