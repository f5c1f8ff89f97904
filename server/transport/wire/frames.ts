/** Bytes before they are messages: gathered from pieces, taken out of frames, decompressed; all no further than a limit. */
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { RpcError } from "../../base/rpc.ts";

/** A length is only a claim: room for more than this is made as the bytes come. */
const firstRoomBytes = 128 * 1024;
const growth = 4;

/**
 * Of the next room: so that the last one has room for what is expected, and each is at most so many times the one before.
 * Infinity: nothing is known of what comes.
 */
function roomBytes(expected: number, before: number): number {
  const max = Math.max(firstRoomBytes, growth * before);
  if (expected === Infinity) return max;
  let bytes = expected;
  while (bytes > max) bytes /= growth;
  return Math.ceil(bytes);
}

/**
 * Puts pieces together. Each is copied as it comes, while it is in a cache. What has come is moved to a larger room little
 * by little, with each piece: in one go 16 MiB held the event loop for up to 50 ms.
 */
export class ByteGatherer {
  #room: Buffer | undefined;
  #length = 0;
  /** What was the room before, and how much of it was moved; undefined: all was. */
  #moving: { readonly from: Buffer; done: number; readonly forEachByte: number } | undefined;

  get length(): number {
    return this.#length;
  }

  /** `expected` bytes will be there in the end, as far as is known (Infinity: it is not); there may be more. */
  add(piece: Buffer, expected: number): void {
    const end = this.#length + piece.length;
    piece.copy(this.#roomFor(end, expected), this.#length);
    this.#length = end;
    if (this.#moving !== undefined) this.#move(this.#moving.forEachByte * piece.length);
  }

  /** What has come so far. */
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
    // So that all is moved when the room is full, and no sooner: memory that is touched for the first time is dear.
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
    // Freed at once: the collector would keep it until its next full collection.
    (from.buffer as ArrayBuffer).transfer(0);
    this.#moving = undefined;
  }
}

/** One byte that says whether the message is compressed, four with its length. */
export const headerBytes = 5;

/**
 * Takes messages out of the frames that gRPC, gRPC-Web and Connect's streams share. A message that came whole is not
 * copied; of the others each piece is. https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
export class Deframer {
  readonly #maxBytes: number;
  readonly #isEncoded: boolean;
  /** Of a message that has begun: header and contents. */
  readonly #partial = new ByteGatherer();
  /** Of that message with its header, as soon as the header is whole; until then the header's. */
  #size = headerBytes;

  /** `isEncoded`: the request's headers say how its messages are compressed. */
  constructor(maxBytes: number, isEncoded: boolean) {
    this.#maxBytes = maxBytes;
    this.#isEncoded = isEncoded;
  }

  /** Bytes of a message whose end has not come. */
  get partialBytes(): number {
    return this.#partial.length;
  }

  /** Lets go of the message that has begun. */
  drop(): void {
    this.#partial.drop();
  }

  /** The messages that end in this piece, each with its header. Throws RpcError. */
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

  /** How many bytes were taken. */
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

// Errors of requests that have not one message where there must be one.

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
  /** Is told of each piece of what was decompressed, as it is made; what it throws ends the work. */
  readonly onPiece: (bytes: number) => void;
}

const pieceBytes = 64 * 1024;

/** Stops at the limit, not after it: a few kilobytes can become gigabytes. Throws RpcError, and what `onPiece` throws. */
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
