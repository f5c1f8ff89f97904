/** Reads the bytes of a pool's file from beginning to end, unpacked if it is compressed. */
import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { createGunzip, createZstdDecompress } from "node:zlib";

/** A problem of a file that the operator has to mend. */
export class PoolFileProblem extends Error {}

/** Returns the names of columns. Throws if two are equal, because it would be unclear which one is read. */
export function differing(names: readonly string[]): readonly string[] {
  const twice = names.find((name, i) => name !== "" && names.indexOf(name) !== i);
  if (twice !== undefined) throw new PoolFileProblem(`it names the column '${twice}' twice: rename or remove one`);
  return names;
}

export type Packing = "gzip" | "zstd";

/** Number of bytes that are read from a file at a time. A batch holds the rows that end in them. */
export const CHUNK_BYTES = 1 << 18;

interface Chunk {
  readonly bytes: Buffer;
  /** Number of bytes of the file, packed or not, that were read so far. */
  readonly bytesRead: number;
}

/** Yields a file's text, without a byte order mark. */
export async function* chunksOf(path: string, packing: Packing | undefined, size = CHUNK_BYTES): AsyncGenerator<Chunk> {
  const file = createReadStream(path, { highWaterMark: size });
  const text = packing === undefined ? file : unpacked(file, packing);
  // The first bytes are collected until they are longer than a byte order mark.
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
  // The iteration throws the stream's error.
  return pipeline(file, unpack, () => undefined);
}

const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** The text of a row, or why it cannot be read: decoding invalid bytes would silently change letters. */
export type Read = { readonly text: string } | { readonly problem: string };

export function textOf(bytes: Buffer): Read {
  return isUtf8(bytes) ? { text: bytes.toString("utf8") } : { problem: "it is not UTF-8" };
}
