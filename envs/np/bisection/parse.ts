/** Answers, read and written. */
import type { Parsed } from "../../environment.ts";
import { formatIntList, parseIntList } from "../../lib/int-list.ts";
import { skipSpace, skipSpaceBack } from "../../lib/space.ts";

/** The vertices of the two sides. */
export type Sides = readonly [readonly number[], readonly number[]];

/** Reads two lists in one, such as [[0, 1], [2, 3]]. */
export function parse(text: string): Parsed<Sides> {
  const start = skipSpace(text, 0);
  const whole = text.slice(start, skipSpaceBack(text, start, text.length));
  const open = skipSpace(whole, 1);
  const close = whole.indexOf("]");
  if (!whole.startsWith("[") || whole[open] !== "[" || close < 0) return malformed("expected [[…], […]]");
  const comma = skipSpace(whole, close + 1);
  if (whole[comma] !== ",") return malformed("expected ',' and a second list after the first");
  if (!whole.endsWith("]")) return malformed("expected ']' at the end");
  const first = parseIntList(whole.slice(open, close + 1));
  if (first.kind === "malformed") return malformed(`the first is ${first.reason}`);
  const second = parseIntList(whole.slice(comma + 1, -1));
  if (second.kind === "malformed") return malformed(`the second is ${second.reason}`);
  return { kind: "answer", answer: [first.answer, second.answer] };
}

function malformed(reason: string): Parsed<never> {
  return { kind: "malformed", reason: `not two lists of vertices: ${reason}` };
}

/** "[[0, 1], [2, 3]]" */
export function format([one, other]: Sides): string {
  return `[${formatIntList(one)}, ${formatIntList(other)}]`;
}
