/**
 * Converts the bytes of a request into the bytes of its messages: joins the pieces that arrive, removes the framing and
 * decompresses, all within limits.
 */
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { RpcError } from "../../base/rpc.ts";

/**
 * Size, in bytes, of the first buffer for a message that is arriving. The length in the message's header is only the
 * client's claim, so larger buffers are made only as bytes arrive.
 */
const firstRoomBytes = 128 * 1024;
const growth = 4;

/**
 * Returns the size of the buffer that replaces a full one of `before` bytes: at most `growth` times as large, or
 * firstRoomBytes if that is more. It never exceeds `expected`, the final size; Infinity: the final size is unknown.
 */
function roomBytes(expected: number, before: number): number {
  const max = Math.max(firstRoomBytes, growth * before);
  if (expected === Infinity) return max;
  let bytes = expected;
  while (bytes > max) bytes /= growth;
  return Math.ceil(bytes);
}

/**
 * Joins pieces of data. When a larger buffer is needed, the old bytes are moved with each new piece, a few at a time.
 * Moving 16 MiB at once blocked the event loop for up to 50 ms.
 */
export class ByteGatherer {
  #room: Buffer | undefined;
  #length = 0;
  /** Old buffer from which bytes are still being moved. Undefined: all have moved. */
  #moving: { readonly from: Buffer; done: number; readonly forEachByte: number } | undefined;

  get length(): number {
    return this.#length;
  }

  /** Appends a piece. `expected` is the expected total number of bytes, or Infinity if unknown. There may be more. */
  add(piece: Buffer, expected: number): void {
    const end = this.#length + piece.length;
    piece.copy(this.#roomFor(end, expected), this.#length);
    this.#length = end;
    if (this.#moving !== undefined) this.#move(this.#moving.forEachByte * piece.length);
  }

  /** Returns all bytes that were added. */
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
    // The move is spread over the time until the new buffer is full, because touching new memory is expensive.
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
    // The old buffer is freed at once. The garbage collector would keep it until its next full collection.
    (from.buffer as ArrayBuffer).transfer(0);
    this.#moving = undefined;
  }
}

/** Bytes of a frame's header: one that says whether the message is compressed, and four with its length. */
export const headerBytes = 5;

/**
 * Cuts messages out of frames, which gRPC, gRPC-Web and Connect's streams share
 * (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). A message that arrives in one piece is not copied;
 * otherwise its pieces are.
 */
export class Deframer {
  readonly #maxBytes: number;
  readonly #isEncoded: boolean;
  /** Header and contents of the message that is not complete yet. */
  readonly #partial = new ByteGatherer();
  /**
   * Final number of bytes of the incomplete message, with its header. Until the header has arrived: the header's size.
   */
  #size = headerBytes;

  /** Creates a deframer. `isEncoded`: whether the request's headers name a compression. */
  constructor(maxBytes: number, isEncoded: boolean) {
    this.#maxBytes = maxBytes;
    this.#isEncoded = isEncoded;
  }

  /** Number of bytes of the incomplete message that have arrived. */
  get partialBytes(): number {
    return this.#partial.length;
  }

  /** Drops the bytes of the incomplete message. */
  drop(): void {
    this.#partial.drop();
  }

  /** Returns the messages that are complete after this piece, each with its header. Throws RpcError. */
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

  /**
   * Adds bytes of `data`, from the offset `at` on, to the incomplete message. If the message becomes complete, appends
   * it to `messages`. Returns the number of bytes taken.
   */
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
    if (flag > 1) throw invalid(`a message begins with the compression flag ${flag}, which must be 0 or 1`);
    if (flag === 1 && !this.#isEncoded)
      throw invalid("a message is compressed, but no header of the request says how: send the header grpc-encoding");
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

// Errors for requests that have no message, or several where exactly one is allowed.

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
  /** Called with the size of each decompressed piece when it is made. If it throws, decompression ends. */
  readonly onPiece: (bytes: number) => void;
}

const pieceBytes = 64 * 1024;

/**
 * Decompresses a message. It stops as soon as the limit is reached, because a few kilobytes can become gigabytes.
 * Throws RpcError, or what `onPiece` throws.
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
    // If the stream itself failed, the compressed data is invalid. Other errors come from the limit or from `onPiece`.
    throw stream.errored === error ? invalid(`a message is not valid ${encoding}`) : error;
  }
  return plain.bytes();
}
