/**
 * Takes gRPC messages out of the data frames of a call, in place of grpc-js's own decoder. That one keeps every piece
 * of a message until the last is there and copies them then, when they are in no cache any more: of a message of 1 MB
 * that is a fifth of all that the server does (docs/decisions/0008-wire.md). Here each piece is copied as it comes,
 * and a message that came whole is not copied at all.
 */

/** One byte that says whether the message is compressed, four with its length. */
export const headerBytes = 5;
/** A length is only a claim: room for more than this is made as the bytes come. */
const firstRoomBytes = 2 ** 21;

export class MessageTooLong extends Error {
  readonly bytes: number;
  constructor(bytes: number) {
    super(`a message of ${bytes} bytes`);
    this.bytes = bytes;
  }
}

export class MessageDecoder {
  readonly #maxBytes: number;
  /** Of a message that has begun: header and contents, in a buffer that may have to grow. */
  #room: Buffer | undefined;
  #filled = 0;
  /** Of that message with its header, as soon as the header is whole; until then the header's. */
  #size = headerBytes;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes of a message whose end has not come. */
  get partialBytes(): number {
    return this.#filled;
  }

  /** Lets go of the message that has begun. */
  drop(): void {
    this.#room = undefined;
    this.#filled = 0;
  }

  /** The messages that end in this piece, each with its header. Throws MessageTooLong. */
  write(data: Buffer): Buffer[] {
    const messages: Buffer[] = [];
    let at = 0;
    while (at < data.length) {
      const whole = this.#filled === 0 ? this.#wholeAt(data, at) : undefined;
      if (whole !== undefined) messages.push(whole);
      at += whole?.length ?? this.#gather(data, at, messages);
    }
    return messages;
  }

  #wholeAt(data: Buffer, at: number): Buffer | undefined {
    const left = data.length - at;
    this.#size = left < headerBytes ? headerBytes : this.#sizeFrom(data, at);
    return left < this.#size ? undefined : data.subarray(at, at + this.#size);
  }

  /** How many bytes were taken. */
  #gather(data: Buffer, at: number, messages: Buffer[]): number {
    const taken = Math.min(this.#size - this.#filled, data.length - at);
    const room = this.#roomFor(this.#filled + taken);
    data.copy(room, this.#filled, at, at + taken);
    this.#filled += taken;
    if (this.#filled === headerBytes) this.#size = this.#sizeFrom(room, 0);
    if (this.#filled === this.#size) {
      messages.push(room.subarray(0, this.#size));
      this.drop();
    }
    return taken;
  }

  #roomFor(bytes: number): Buffer {
    const before = this.#room;
    if (before !== undefined && bytes <= before.length) return before;
    const wanted = Math.max(firstRoomBytes, 2 * (before?.length ?? 0));
    this.#room = Buffer.allocUnsafeSlow(Math.max(bytes, Math.min(this.#size, wanted)));
    before?.copy(this.#room, 0, 0, this.#filled);
    return this.#room;
  }

  #sizeFrom(header: Buffer, at: number): number {
    const bytes = header.readUInt32BE(at + 1);
    if (bytes > this.#maxBytes) throw new MessageTooLong(bytes);
    return headerBytes + bytes;
  }
}
