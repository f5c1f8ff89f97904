/** Reads JSONL, one row a line, in stretches. */
import { isUtf8 } from "node:buffer";
import type { RawRow } from "../../../envs/pool-columns.ts";
import { type Bytes, textOf, textStart } from "./bytes.ts";

export const STRETCH_BYTES = 1 << 18;

/** Maximum bytes of a row. */
export const ROW_BYTES_MAX = 64 << 20;

export interface Stretch {
  readonly start: number;
  readonly end: number;
}

export function lineStretches(bytes: number, stretchBytes = STRETCH_BYTES): readonly Stretch[] {
  const count = Math.ceil(bytes / stretchBytes);
  return Array.from({ length: count }, (_, i) => ({
    start: i * stretchBytes,
    end: Math.min(bytes, (i + 1) * stretchBytes),
  }));
}

/** Returns the lines that begin in a stretch. Its first bytes may belong to a line that began before. */
export function* readLines(bytes: Bytes, { start, end }: Stretch): Iterable<RawRow> {
  const stretch = readStretch(bytes, start, end);
  const first = start === 0 ? textStart(bytes) : 0;
  if (!isUtf8(stretch)) {
    yield* readBadLines(stretch.subarray(first));
    return;
  }
  const text = stretch.toString("utf8", first);
  let row = 0;
  for (let from = 0; from < text.length;) {
    const to = text.indexOf("\n", from);
    yield { row: row++, json: to < 0 ? text.slice(from) : text.slice(from, to) };
    from = to < 0 ? text.length : to + 1;
  }
}

/** Reads lines one by one, because one of them is not UTF-8. */
function* readBadLines(bytes: Buffer): Iterable<RawRow> {
  let row = 0;
  for (let from = 0; from < bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, from);
    const to = newline < 0 ? bytes.length : newline;
    const read = textOf(bytes.subarray(from, to));
    yield "text" in read ? { row: row++, json: read.text } : { row: row++, problem: read.problem };
    from = to + 1;
  }
}

const NEWLINE = 10;

/** Returns the bytes from the start of the first line that begins in [start, end) to the end of the last one. */
function readStretch(source: Bytes, start: number, end: number): Buffer {
  // Includes the byte before, which tells whether a line begins at the start.
  const before = Math.max(0, start - 1);
  let bytes = source.read(before, Math.min(end, source.size) - before);
  const first = start === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
  if (start > 0 && first === 0) return Buffer.alloc(0);
  // Reads on to the end of the last line that begins in the stretch.
  while (bytes.at(-1) !== NEWLINE) {
    if (bytes.length > end - before + ROW_BYTES_MAX) throw new Error(`a line has over ${ROW_BYTES_MAX} bytes`);
    const more = source.read(before + bytes.length, STRETCH_BYTES);
    const newline = more.indexOf(NEWLINE);
    bytes = Buffer.concat([bytes, newline < 0 ? more : more.subarray(0, newline + 1)]);
    if (more.length === 0) break;
  }
  return bytes.subarray(first);
}
