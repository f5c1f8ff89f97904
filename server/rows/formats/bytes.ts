/** Reads the bytes of a pool's file, unpacked if it is compressed. */
import { isUtf8 } from "node:buffer";
import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { gunzipSync, zstdDecompressSync } from "node:zlib";

/** A problem of a file that the operator has to mend. */
export class PoolFileProblem extends Error {}

/** Returns the names of columns. Throws if two are the same, because nobody would know which one is read. */
export function differing(names: readonly string[]): readonly string[] {
  const twice = names.find((name, i) => name !== "" && names.indexOf(name) !== i);
  if (twice !== undefined) throw new PoolFileProblem(`it names the column '${twice}' twice: rename or remove one`);
  return names;
}

export type Packing = "gzip" | "zstd";

export interface Bytes {
  readonly size: number;
  /** Returns fewer bytes at the end. */
  read(position: number, length: number): Buffer;
  close(): void;
}

/** Maximum bytes of an unpacked file, which is held in memory: a V8 string holds no more. */
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
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ERR_BUFFER_TOO_LARGE")
      throw new PoolFileProblem(`unpacked it has more than ${UNPACKED_BYTES_MAX >> 20} MiB: unpack it before`);
    if (/^Z_|^ZSTD_/.test(code))
      throw new PoolFileProblem(`the file cannot be read: it is cut off or damaged (${packing}: ${code})`);
    throw error;
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

/** Returns the start of the text, after a byte order mark. */
export function textStart(bytes: Bytes): number {
  return bytes.read(0, 3).equals(MARK) ? 3 : 0;
}

/** The text of a part of a file, or why it cannot be read: decoding invalid bytes would silently change letters. */
export type Read = { readonly text: string } | { readonly problem: string };

export function textOf(bytes: Buffer): Read {
  return isUtf8(bytes) ? { text: bytes.toString("utf8") } : { problem: "it is not UTF-8" };
}
