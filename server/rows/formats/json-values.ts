/**
 * Reads JSON that spans several lines: a list of rows, or one row after another. The scanner finds where rows begin and
 * end without parsing them. So rows are read in stretches and one by one, and a broken row is refused without refusing
 * the file.
 */
import type { RawRow } from "../../../envs/pool-columns.ts";
import { type Bytes, PoolFileProblem, textOf, textStart } from "./bytes.ts";
import { ROW_BYTES_MAX, type Stretch, STRETCH_BYTES } from "./lines.ts";

const CHUNK_BYTES = 1 << 20;

const [QUOTE, BACKSLASH, COMMA] = [34, 92, 44];
const [LIST, LIST_END, OBJECT, OBJECT_END] = [91, 93, 123, 125];

const isSpace = (byte: number): boolean => byte === 32 || (byte >= 9 && byte <= 13);

/** Called with the start and the end of each row. */
type OnRow = (start: number, end: number) => void;

/** Scans rows byte by byte. */
class Scanner {
  readonly #isList: boolean;
  readonly #onRow: OnRow;
  #depth = 0;
  #inText = false;
  #isEscaped = false;
  #start = -1;
  #last = -1;
  #isClosed = false;

  constructor(isList: boolean, onRow: OnRow) {
    this.#isList = isList;
    this.#onRow = onRow;
  }

  /** Scans bytes that begin at an offset of the file. */
  take(bytes: Buffer, offset: number): void {
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i]!;
      if (this.#inText) this.#takeInText(byte);
      else if (this.#isClosed && !isSpace(byte)) throw new PoolFileProblem("after its list of rows there is more");
      else this.#takeOutside(byte, offset + i);
      if (!isSpace(byte)) this.#last = offset + i;
    }
  }

  #takeInText(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) this.#inText = false;
  }

  #takeOutside(byte: number, at: number): void {
    if (this.#depth === 0 && this.#isList && (byte === COMMA || byte === LIST_END)) {
      if (this.#start >= 0) this.#endRow(this.#last + 1);
      else if (byte === COMMA) this.#onRow(at, at);
      this.#isClosed = byte === LIST_END;
      return;
    }
    if (this.#start < 0 && !isSpace(byte)) this.#start = at;
    if (byte === QUOTE) this.#inText = true;
    else if (byte === OBJECT || byte === LIST) this.#depth++;
    else if (byte === OBJECT_END || byte === LIST_END) {
      this.#depth = Math.max(0, this.#depth - 1);
      // A value that follows a row without a comma is a row of its own.
      if (this.#depth === 0 && !this.#isList) this.#endRow(at + 1);
    }
    if (this.#start >= 0 && at - this.#start > ROW_BYTES_MAX) throw new Error(`a row has over ${ROW_BYTES_MAX} bytes`);
  }

  #endRow(end: number): void {
    this.#onRow(this.#start, end);
    this.#start = -1;
  }

  end(): void {
    if (this.#isList && !this.#isClosed) throw new PoolFileProblem("its list of rows is not closed: it is cut off");
    if (this.#start >= 0) this.#endRow(this.#last + 1);
  }
}

/** Returns stretches of whole rows. */
export function valueStretches(bytes: Bytes, isList: boolean, stretchBytes = STRETCH_BYTES): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let [first, last] = [-1, -1];
  const close = (): void => {
    if (first >= 0) stretches.push({ start: first, end: last });
    first = -1;
  };
  scan(bytes, isList, { start: rowsStart(bytes, isList), end: bytes.size }, (start, end) => {
    if (first >= 0 && end - first > stretchBytes) close();
    if (first < 0) first = start;
    last = end;
  });
  close();
  return stretches;
}

/** Returns the position of the first row: after a byte order mark, and in a list after its bracket. */
function rowsStart(bytes: Bytes, isList: boolean): number {
  let start = textStart(bytes);
  if (!isList) return start;
  while (bytes.read(start, 1)[0] !== LIST) start++;
  return start + 1;
}

function scan(bytes: Bytes, isList: boolean, { start, end }: Stretch, onRow: OnRow): void {
  const scanner = new Scanner(isList, onRow);
  for (let at = start; at < end; at += CHUNK_BYTES) scanner.take(bytes.read(at, Math.min(CHUNK_BYTES, end - at)), at);
  scanner.end();
}

export function* readValues(bytes: Bytes, isList: boolean, { start, end }: Stretch): Iterable<RawRow> {
  const stretch = bytes.read(start, end - start);
  const rows: Stretch[] = [];
  const scanner = new Scanner(isList, (from, to) => void rows.push({ start: from, end: to }));
  scanner.take(stretch, 0);
  if (isList) scanner.take(Buffer.from("]"), stretch.length);
  scanner.end();
  for (const [row, { start: from, end: to }] of rows.entries()) {
    const read = textOf(stretch.subarray(from, to));
    // An empty place of a list is invalid JSON, not a blank line; "," makes the parser refuse it.
    yield "problem" in read ? { row, ...read } : { row, json: read.text || "," };
  }
}
