/** Reads the bytes of a pool's file in order, and decompresses them if necessary. */
import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { createGunzip, createZstdDecompress } from "node:zlib";

/** Problem of a pool's file that the operator must fix. */
export class PoolFileProblem extends Error {}

/**
 * Returns the given column names. Throws if two of them are equal, because it would be unclear which column to read.
 */
export function differing(names: readonly string[]): readonly string[] {
  const twice = names.find((name, i) => name !== "" && names.indexOf(name) !== i);
  if (twice !== undefined) throw new PoolFileProblem(`it names the column '${twice}' twice: rename or remove one`);
  return names;
}

export type Packing = "gzip" | "zstd";

/** Number of bytes that are read from a file at a time (a chunk). A batch has the rows that end within a chunk. */
export const CHUNK_BYTES = 1 << 18;

interface Chunk {
  readonly bytes: Buffer;
  /** Number of bytes of the file that were read so far, before decompression. */
  readonly bytesRead: number;
}

/** Yields a file's text as bytes, without the byte order mark. */
export async function* chunksOf(path: string, packing: Packing | undefined, size = CHUNK_BYTES): AsyncGenerator<Chunk> {
  const file = createReadStream(path, { highWaterMark: size });
  const text = packing === undefined ? file : unpacked(file, packing);
  // The first bytes are collected until there are enough to compare them with a byte order mark.
  let start: Buffer | undefined = Buffer.alloc(0);
  let length = 0;
  try {
    for await (const part of text as AsyncIterable<Buffer>) {
      length += part.length;
      let bytes = part;
      if (start !== undefined) {
        start = Buffer.concat([start, part]);
        if (start.length < MARK.length) continue;
        bytes = start.subarray(0, MARK.length).equals(MARK) ? start.subarray(MARK.length) : start;
        start = undefined;
      }
      yield { bytes, bytesRead: packing === undefined ? length : file.bytesRead };
    }
    if (start !== undefined) yield { bytes: start, bytesRead: file.bytesRead };
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!/^Z_|^ZSTD_/.test(code)) throw error;
    throw new PoolFileProblem(`the file cannot be read: it is cut off or damaged (${packing}: ${code})`);
  }
}

function unpacked(file: NodeJS.ReadableStream, packing: Packing): AsyncIterable<unknown> {
  const unpack =
    packing === "gzip" ? createGunzip({ chunkSize: CHUNK_BYTES }) : createZstdDecompress({ chunkSize: CHUNK_BYTES });
  // The callback does nothing, because the iteration throws the stream's error.
  return pipeline(file, unpack, () => undefined);
}

const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Text of a row, or the reason why it cannot be read. Bytes that are not UTF-8 are not decoded, because that would
 * silently change letters.
 */
export type Read = { readonly text: string } | { readonly problem: string };

export function textOf(bytes: Buffer): Read {
  return isUtf8(bytes) ? { text: bytes.toString("utf8") } : { problem: "it is not UTF-8" };
}
