/**
 * Writes protobuf from its end to its start. A message stands behind its length, which is known only once it is written:
 * backwards, each byte is written once, into one buffer that is used again.
 */

const FIRST_SIZE = 64 * 1024;
/** A buffer that one large message made larger is given up after it. */
const KEPT_SIZE = 1024 * 1024;
/** Up to so many UTF-16 units a loop is faster than a call into native code. */
const SHORT = 128;
const ASCII_END = 0x80;

const UINT32_MAX = 0xffff_ffffn;

const VARINT = 0;
const BIT64 = 1;
const LENGTH_DELIMITED = 2;

/** Writes a message's fields, the highest field number first. */
export type FieldsWriter<T> = (writer: ReverseWriter, message: T) => void;

/** A class, because its fields are the state of a hot loop. Fields of implicit presence are left out where they are 0; −0 is not. */
export class ReverseWriter {
  #bytes = Buffer.allocUnsafeSlow(FIRST_SIZE);
  #view = viewOf(this.#bytes);
  #at = FIRST_SIZE;

  /** A message's bytes. */
  write<T>(write: FieldsWriter<T>, message: T): Buffer {
    this.#at = this.#bytes.length;
    write(this, message);
    const written = Buffer.from(this.#bytes.subarray(this.#at));
    if (this.#bytes.length > KEPT_SIZE) this.#use(Buffer.allocUnsafeSlow(FIRST_SIZE));
    return written;
  }

  uint32(field: number, value: number): void {
    if (value === 0) return;
    this.#varint(value);
    this.#tag(field, VARINT);
  }

  uint64(field: number, value: bigint): void {
    if (value !== 0n) this.optionalUint64(field, value);
  }

  optionalUint64(field: number, value: bigint | undefined): void {
    if (value === undefined) return;
    if (value === 0n) {
      this.#varint(0);
      this.#tag(field, VARINT);
      return;
    }
    if (value <= UINT32_MAX) {
      this.uint32(field, Number(value));
      return;
    }
    const bytes: number[] = [];
    for (let rest = value; rest > 0n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(bytes.pop()! & 0x7f);
    this.#reserve(bytes.length);
    this.#at -= bytes.length;
    this.#bytes.set(bytes, this.#at);
    this.#tag(field, VARINT);
  }

  bool(field: number, value: boolean): void {
    if (value) this.uint32(field, 1);
  }

  double(field: number, value: number): void {
    if (!Object.is(value, 0)) this.optionalDouble(field, value);
  }

  optionalDouble(field: number, value: number | undefined): void {
    if (value === undefined) return;
    this.#reserve(8);
    this.#at -= 8;
    this.#view.setFloat64(this.#at, value, true);
    this.#tag(field, BIT64);
  }

  string(field: number, text: string): void {
    if (text !== "") this.presentString(field, text);
  }

  /** Writes an empty one too. */
  presentString(field: number, text: string): void {
    const before = this.#written();
    if (text.length > SHORT || !this.#ascii(text)) this.#text(text);
    this.#length(field, this.#written() - before);
  }

  strings(field: number, texts: readonly string[]): void {
    for (let i = texts.length - 1; i >= 0; i--) this.presentString(field, texts[i]!);
  }

  /** Fields that were written before. */
  fields(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#at -= bytes.length;
    this.#bytes.set(bytes, this.#at);
  }

  message<T>(field: number, write: FieldsWriter<T>, message: T): void {
    const before = this.#written();
    write(this, message);
    this.#length(field, this.#written() - before);
  }

  messages<T>(field: number, write: FieldsWriter<T>, messages: readonly T[]): void {
    for (let i = messages.length - 1; i >= 0; i--) this.message(field, write, messages[i] as T);
  }

  /** A map of texts: each entry is a message of two fields, written even where they are empty. */
  map(field: number, entries: Readonly<Record<string, string>>): void {
    const keys = Object.keys(entries);
    for (let i = keys.length - 1; i >= 0; i--) {
      const key = keys[i] as string;
      const before = this.#written();
      this.presentString(2, entries[key] as string);
      this.presentString(1, key);
      this.#length(field, this.#written() - before);
    }
  }

  /** Bytes so far: unlike an offset, this stays true when the buffer grows. */
  #written(): number {
    return this.#bytes.length - this.#at;
  }

  #length(field: number, length: number): void {
    this.#varint(length);
    this.#tag(field, LENGTH_DELIMITED);
  }

  #tag(field: number, wireType: number): void {
    this.#varint((field << 3) | wireType);
  }

  #varint(value: number): void {
    this.#reserve(5);
    if (value < 0x80) {
      this.#bytes[--this.#at] = value;
      return;
    }
    let size = 1;
    for (let rest = value >>> 7; rest > 0; rest >>>= 7) size++;
    let at = (this.#at -= size);
    let rest = value >>> 0;
    for (; rest >= 0x80; rest >>>= 7) this.#bytes[at++] = (rest & 0x7f) | 0x80;
    this.#bytes[at] = rest;
  }

  /** Whether the text was ASCII, and is written. */
  #ascii(text: string): boolean {
    this.#reserve(text.length);
    const start = this.#at - text.length;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit >= ASCII_END) return false;
      this.#bytes[start + i] = unit;
    }
    this.#at = start;
    return true;
  }

  #text(text: string): void {
    const size = Buffer.byteLength(text);
    this.#reserve(size);
    this.#at -= size;
    this.#bytes.write(text, this.#at, size);
  }

  #reserve(size: number): void {
    if (this.#at < size) this.#grow(size);
  }

  #grow(size: number): void {
    const written = this.#bytes.subarray(this.#at);
    const larger = Buffer.allocUnsafeSlow(2 * (this.#bytes.length + size));
    written.copy(larger, larger.length - written.length);
    this.#at = larger.length - written.length;
    this.#use(larger);
  }

  #use(bytes: Buffer<ArrayBuffer>): void {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }
}

function viewOf(bytes: Buffer<ArrayBuffer>): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
