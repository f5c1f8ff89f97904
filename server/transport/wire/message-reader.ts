/** Reads protobuf that is written plainly; whatever is not is left to protobuf-es, which says what is wrong with it. */
import { isUtf8 } from "node:buffer";

/** This reader does not know what to make of the bytes. They may still be a message. */
export class NotPlain extends Error {}

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
export class MessageReader {
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
    const end = this.#limit();
    const text = this.#bytes.toString(undefined, this.#at, end);
    if (text.includes(REPLACEMENT)) throw notPlain;
    this.#at = end;
    return text;
  }

  /** The bytes of a text that is long, to be read later; undefined: it is not, and `string` reads it. */
  longText(): Uint8Array | undefined {
    const before = this.#at;
    const end = this.#limit();
    if (end - this.#at < LONG_TEXT_BYTES) {
      this.#at = before;
      return undefined;
    }
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
export function unknownField(): never {
  throw notPlain;
}
