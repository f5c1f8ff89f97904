/** Reads rows of JSON, which are parsed later. */
import { isAscii } from "node:buffer";
import type { RawRow } from "../../../envs/pool-columns.ts";
import { textOf } from "./bytes.ts";

/** Returns the rows between the bounds of a text. Only lines can be blank. */
export function* readJson(bytes: Buffer, bounds: readonly number[], lines: boolean): Iterable<RawRow> {
  // Offsets in ASCII are those in its string, which is sliced faster than rows are decoded one by one.
  const ascii = isAscii(bytes) ? bytes.toString("latin1") : undefined;
  for (let row = 0; 2 * row < bounds.length; row++) {
    const [start, end] = [bounds[2 * row], bounds[2 * row + 1]];
    const read = ascii === undefined ? textOf(bytes.subarray(start, end)) : { text: ascii.slice(start, end) };
    // An empty place of a list is invalid JSON, not a blank line; "," makes the parser refuse it.
    yield "problem" in read ? { row, ...read } : { row, json: lines ? read.text : read.text || "," };
  }
}
