/** Cuts a text into the JSON of each row, without parsing it. A row is a line, an item of a list, or a value. */
import { isAscii } from "node:buffer";
import type { RawRow } from "../../../envs/pool-columns.ts";
import { textOf } from "./bytes.ts";

/**
 * Yields the JSON text of each row. `bounds` alternates between the start and the end of each row, in bytes. If `lines`
 * is set, each row is one line, which may be blank.
 */
export function* readJson(bytes: Buffer, bounds: readonly number[], lines: boolean): Iterable<RawRow> {
  // In ASCII, byte offsets are also string offsets. Slicing one string is faster than decoding each row.
  const ascii = isAscii(bytes) ? bytes.toString("latin1") : undefined;
  for (let row = 0; 2 * row < bounds.length; row++) {
    const [start, end] = [bounds[2 * row], bounds[2 * row + 1]];
    const read = ascii === undefined ? textOf(bytes.subarray(start, end)) : { text: ascii.slice(start, end) };
    // Unlike a blank line, an empty item of a JSON list is an error. Its text becomes ",", which the parser refuses.
    yield "problem" in read ? { row, ...read } : { row, json: lines ? read.text : read.text || "," };
  }
}
