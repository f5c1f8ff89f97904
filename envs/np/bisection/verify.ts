/** What holds of two sides: facts only. */
import type { Facts, Parsed } from "../../environment.ts";
import { formatIntList, parseIntList } from "../../lib/lists.ts";
import { skipSpace, skipSpaceBack } from "../../lib/text.ts";
import { type BisectionInstance, cutWeight } from "./generate.ts";

/** Feasible if every vertex is in exactly one list and their sizes differ by at most one. Else what is wrong first. */
export function verify(instance: BisectionInstance, sides: Sides): Facts {
  const { vertices } = instance;
  /** 1 and 2 for the lists, 0 for neither. */
  const side = new Uint8Array(vertices);
  for (const [i, list] of sides.entries()) {
    for (const v of list) {
      if (!(v >= 0 && v < vertices)) {
        return infeasible(`vertex ${v} does not exist: vertices are 0 to ${vertices - 1}`);
      }
      if (side[v] === i + 1) return infeasible(`vertex ${v} is listed twice`);
      if (side[v] !== 0) return infeasible(`vertex ${v} is in both lists`);
      side[v] = i + 1;
    }
  }
  const missed = side.indexOf(0);
  if (missed >= 0) return infeasible(`vertex ${missed} is in neither list`);
  const [one, other] = sides;
  if (Math.abs(one.length - other.length) > 1) {
    return infeasible(
      `the lists have ${one.length} and ${other.length} vertices: their sizes may differ by at most one`,
    );
  }
  return { kind: "feasible", objective: cutWeight(instance, side) };
}

function infeasible(violation: string): Facts {
  return { kind: "infeasible", violation };
}

// Answers, read and written.

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
