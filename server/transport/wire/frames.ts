/**
 * Handles bytes before they are messages: joins pieces, takes messages out of frames, decompresses; all up to a limit.
 */
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { RpcError } from "../../base/rpc.ts";

/** A length in a header is only a claim: a larger buffer is allocated only as the bytes arrive. */
const firstRoomBytes = 128 * 1024;
const growth = 4;

/**
 * Returns the size of the next buffer. Each buffer is at most `growth` times the one before, and the last one fits the
 * expected bytes. Infinity: the expected size is unknown.
 */
function roomBytes(expected: number, before: number): number {
  const max = Math.max(firstRoomBytes, growth * before);
  if (expected === Infinity) return max;
  let bytes = expected;
  while (bytes > max) bytes /= growth;
  return Math.ceil(bytes);
}

/**
 * Joins pieces. Each piece is copied as it arrives, while it is in a CPU cache. The bytes so far move to a larger
 * buffer little by little, with each piece: in one go, 16 MiB held the event loop for up to 50 ms.
 */
export class ByteGatherer {
  #room: Buffer | undefined;
  #length = 0;
  /** The buffer before, and how many of its bytes have moved; undefined: all have. */
  #moving: { readonly from: Buffer; done: number; readonly forEachByte: number } | undefined;

  get length(): number {
    return this.#length;
  }

  /** Appends a piece. `expected` is the final number of bytes, Infinity if unknown; more may come. */
  add(piece: Buffer, expected: number): void {
    const end = this.#length + piece.length;
    piece.copy(this.#roomFor(end, expected), this.#length);
    this.#length = end;
    if (this.#moving !== undefined) this.#move(this.#moving.forEachByte * piece.length);
  }

  /** Returns all bytes so far. */
  bytes(): Buffer {
    this.#move(Infinity);
    return this.#room?.subarray(0, this.#length) ?? Buffer.alloc(0);
  }

  drop(): void {
    this.#room = undefined;
    this.#moving = undefined;
    this.#length = 0;
  }

  #roomFor(bytes: number, expected: number): Buffer {
    const before = this.#room;
    if (before !== undefined && bytes <= before.length) return before;
    this.#move(Infinity);
    const room = Buffer.allocUnsafeSlow(Math.max(bytes, roomBytes(expected, before?.length ?? 0)));
    this.#room = room;
    if (before === undefined) return room;
    const from = before.subarray(0, this.#length);
    // Spreads the move, so that it ends when the buffer is full and no sooner: memory that is touched for the first
    // time is expensive.
    this.#moving = { from, done: 0, forEachByte: from.length / Math.max(1, room.length - from.length) };
    return room;
  }

  #move(bytes: number): void {
    if (this.#room === undefined || this.#moving === undefined) return;
    const { from, done } = this.#moving;
    const until = Math.min(from.length, done + Math.ceil(bytes));
    from.copy(this.#room, done, done, until);
    this.#moving.done = until;
    if (until < from.length) return;
    // Frees the old buffer at once; the garbage collector would keep it until its next full collection.
    (from.buffer as ArrayBuffer).transfer(0);
    this.#moving = undefined;
  }
}

/** One byte that says whether the message is compressed, and four bytes with its length. */
export const headerBytes = 5;

/**
 * Takes messages out of the frames that gRPC, gRPC-Web and Connect's streams share
 * (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). A message that arrives in one piece is not copied.
 * Otherwise each of its pieces is copied.
 */
export class Deframer {
  readonly #maxBytes: number;
  readonly #isEncoded: boolean;
  /** Header and contents of the incomplete message. */
  readonly #partial = new ByteGatherer();
  /**
   * Bytes of the incomplete message with its header, once the header is complete; until then the bytes of the header.
   */
  #size = headerBytes;

  /** `isEncoded`: whether the request's headers name the compression of its messages. */
  constructor(maxBytes: number, isEncoded: boolean) {
    this.#maxBytes = maxBytes;
    this.#isEncoded = isEncoded;
  }

  /** Bytes of the incomplete message. */
  get partialBytes(): number {
    return this.#partial.length;
  }

  /** Drops the incomplete message. */
  drop(): void {
    this.#partial.drop();
  }

  /** Returns the messages that end in this piece, each with its header. Throws RpcError. */
  write(data: Buffer): Buffer[] {
    const messages: Buffer[] = [];
    let at = 0;
    while (at < data.length) {
      const whole = this.partialBytes === 0 ? this.#wholeAt(data, at) : undefined;
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

  /** Returns how many bytes were taken. */
  #gather(data: Buffer, at: number, messages: Buffer[]): number {
    const partial = this.#partial;
    const taken = Math.min(this.#size - partial.length, data.length - at);
    partial.add(data.subarray(at, at + taken), this.#size);
    if (partial.length === headerBytes) this.#size = this.#sizeFrom(partial.bytes(), 0);
    if (partial.length === this.#size) {
      messages.push(partial.bytes());
      partial.drop();
    }
    return taken;
  }

  #sizeFrom(header: Buffer, at: number): number {
    const flag = header.readUInt8(at);
    if (flag > 1) throw invalid(`a message begins with the compression flag ${flag}; want 0 or 1`);
    if (flag === 1 && !this.#isEncoded) throw invalid("a message is compressed, and no header of the request says how");
    const bytes = header.readUInt32BE(at + 1);
    if (bytes > this.#maxBytes) throw tooLong(`${bytes} bytes`, this.#maxBytes);
    return headerBytes + bytes;
  }
}

function invalid(message: string): RpcError {
  return new RpcError("INVALID_ARGUMENT", message);
}

const REMEDY = "send fewer groups or completions in a message, or start the server with a larger --max-message-bytes";

export function tooLong(has: string, maxBytes: number, rule = `of --max-message-bytes: ${REMEDY}`): RpcError {
  return new RpcError("RESOURCE_EXHAUSTED", `the message has ${has}, more than the ${maxBytes} ${rule}`);
}

// Errors of requests that lack the one message that they need, or have more.

export function endedWithin(partialBytes: number): RpcError {
  return invalid(`the request ended within a message, after ${partialBytes} bytes of it`);
}

export function notOneMessage(path: string, came: "none came" | "more than one came"): RpcError {
  return invalid(`${path} takes one request message, and ${came}`);
}

const decompressors = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress } as const;

export type Encoding = keyof typeof decompressors;

export interface DecompressOptions {
  readonly maxBytes: number;
  /** Called with the size of each decompressed piece, as it is made; an exception ends the work. */
  readonly onPiece: (bytes: number) => void;
}

const pieceBytes = 64 * 1024;

/**
 * Decompresses a message, and stops at the limit, not after it: a few kilobytes can become gigabytes. Throws RpcError,
 * and the exceptions of `onPiece`.
 */
export async function decompress(
  compressed: Uint8Array,
  encoding: Encoding,
  { maxBytes, onPiece }: DecompressOptions,
): Promise<Buffer> {
  const stream = decompressors[encoding]({ chunkSize: pieceBytes });
  stream.end(compressed);
  const plain = new ByteGatherer();
  try {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      const length = plain.length + piece.length;
      if (length > maxBytes) throw tooLong(`at least ${length} bytes, decompressed`, maxBytes);
      onPiece(piece.length);
      plain.add(piece, maxBytes);
    }
  } catch (error) {
    // zlib's own errors have codes such as Z_DATA_ERROR and Z_BUF_ERROR.
    throw stream.errored === error ? invalid(`a message is not valid ${encoding}`) : error;
  }
  return plain.bytes();
}
