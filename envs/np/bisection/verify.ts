/**
 * Parses, verifies and formats two sides of vertices. Returns facts such as the objective; rewards are computed
 * elsewhere.
 */
import { type Facts, infeasible, type Parsed } from "../../facts.ts";
import {
  type Cursor,
  foundInstead,
  formatIntList,
  takeClosing,
  takeComma,
  takeList,
  takeOpening,
} from "../../lib/parse-lists.ts";
import { skipGap } from "../../lib/text.ts";
import { type BisectionInstance, cutWeight } from "./generate.ts";

/**
 * Verifies two sides. They are feasible if every vertex is in exactly one list and the sizes differ by at most one.
 * Otherwise the facts name the first fault.
 */
export function verify(instance: BisectionInstance, sides: Sides): Facts {
  const { vertices } = instance;
  /** Number of the list that holds each vertex: 1 or 2, or 0 for neither. */
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

/** Answer: the vertices of the two sides. */
export type Sides = readonly [readonly number[], readonly number[]];

/**
 * Parses two lists of vertices, either within an outer list, such as [[0, 1], [2, 3]], or without, such as [0, 1], [2,
 * 3].
 */
export function parse(text: string): Parsed<Sides> {
  const cursor = { at: skipGap(text, 0) };
  const bracket = takeOuter(text, cursor);
  const one = takeList(text, cursor);
  if (typeof one === "string") return malformed(`in the first, ${one}`);
  if (!takeComma(text, cursor)) return malformed("expected ',' and a second list after the first");
  const other = takeList(text, cursor);
  if (typeof other === "string") return malformed(`in the second, ${other}`);
  if (bracket !== undefined) {
    takeComma(text, cursor);
    if (!takeClosing(text, cursor, bracket) || cursor.at < text.length) {
      return malformed(`expected '${bracket}' at the end`);
    }
  }
  if (cursor.at < text.length) return malformed(foundInstead(text, cursor.at, "nothing after the second"));
  return { kind: "answer", answer: [one, other] };
}

/** Skips a bracket around both lists and returns the matching closing bracket, or undefined if there is none. */
function takeOuter(text: string, cursor: Cursor): string | undefined {
  const ahead = { at: cursor.at };
  const bracket = takeOpening(text, ahead);
  const inner = ahead.at;
  if (bracket === undefined || takeOpening(text, ahead) === undefined) return undefined;
  cursor.at = inner;
  return bracket;
}

function malformed(reason: string): Parsed<never> {
  return { kind: "malformed", reason: `not two lists of vertices: ${reason}` };
}

/** Formats two sides as "[[0, 1], [2, 3]]". */
export function format([one, other]: Sides): string {
  return `[${formatIntList(one)}, ${formatIntList(other)}]`;
}
