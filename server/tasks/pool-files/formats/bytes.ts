/** The bytes of a pool's file, as they are or unpacked. */
import { isUtf8 } from "node:buffer";
import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { gunzipSync, zstdDecompressSync } from "node:zlib";

/** What the operator has to mend in a file. */
export class PoolFileProblem extends Error {}

export type Packing = "gzip" | "zstd";

export interface Bytes {
  readonly size: number;
  /** Fewer at the end. */
  read(position: number, length: number): Buffer;
  close(): void;
}

/** Of a packed file, which is unpacked in memory: a text of V8 holds no more. */
const UNPACKED_BYTES_MAX = 512 * 1024 ** 2;

export function openBytes(path: string, packing: Packing | undefined): Bytes {
  if (packing !== undefined) return bytesOf(unpack(path, packing));
  const descriptor = openSync(path, "r");
  return {
    size: fstatSync(descriptor).size,
    read: (position, length) => readBytes(descriptor, position, length),
    close: () => closeSync(descriptor),
  };
}

function bytesOf(bytes: Buffer): Bytes {
  const read = (position: number, length: number): Buffer => bytes.subarray(position, position + length);
  return { size: bytes.length, read, close: () => undefined };
}

function unpack(path: string, packing: Packing): Buffer {
  const options = { maxOutputLength: UNPACKED_BYTES_MAX };
  try {
    const packed = readFileSync(path);
    return packing === "gzip" ? gunzipSync(packed, options) : zstdDecompressSync(packed, options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_BUFFER_TOO_LARGE") throw error;
    throw new PoolFileProblem(`unpacked it has more than ${UNPACKED_BYTES_MAX >> 20} MiB: unpack it before`);
  }
}

function readBytes(descriptor: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const read = readSync(descriptor, bytes, filled, length - filled, position + filled);
    if (read === 0) break;
    filled += read;
  }
  return bytes.subarray(0, filled);
}

const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Past a byte order mark. */
export function textStart(bytes: Bytes): number {
  return bytes.read(0, 3).equals(MARK) ? 3 : 0;
}

/** What a part of a file says, or why it cannot be read: letters that are none would be read as others in silence. */
export type Read = { readonly text: string } | { readonly problem: string };

export function textOf(bytes: Buffer): Read {
  return isUtf8(bytes) ? { text: bytes.toString("utf8") } : { problem: "it is not UTF-8" };
}
