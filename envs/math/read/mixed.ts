/** Numbers of two parts: a whole number and a proper fraction, or a number and a word such as million. */
import type { Rational } from "../numbers/rational.ts";
import type { Node } from "../syntax.ts";
import { type Cursor, isAt, peek } from "./cursor.ts";
import { readPair } from "./groups.ts";
import { SCALES } from "./words.ts";

/** 1\frac{1}{2}, 1 1/2 and 1½. */
export function mixedNumber(cursor: Cursor, node: Node, digits: string | undefined): Node {
  if (node.kind !== "number" || digits === undefined) return node;
  const next = peek(cursor);
  if (next === undefined) return node;
  const part =
    next.kind === "number" ? slashFraction(cursor) : isFraction(next.text) ? commandFraction(cursor) : undefined;
  if (part === undefined) return node;
  const value: Rational = { num: node.value.num * part.den + part.num, den: part.den };
  return { kind: "number", value };
}

function isFraction(text: string): boolean {
  return text === "\\frac" || text === "\\dfrac" || text === "\\tfrac";
}

/** " 1/2" after a whole number, or "½". */
function slashFraction(cursor: Cursor): Rational | undefined {
  const top = peek(cursor);
  if (top?.kind !== "number") return undefined;
  if (top.digits === undefined && top.decimals === undefined && top.value.den > 1n && top.value.den <= 10n) {
    cursor.at++;
    return top.value;
  }
  const bottom = peek(cursor, 2);
  if (!top.space || top.digits === undefined || !isAt(cursor, "/", 1) || bottom?.kind !== "number") return undefined;
  if (bottom.digits === undefined || bottom.value.num <= top.value.num) return undefined;
  cursor.at += 3;
  return reduced(top.value.num, bottom.value.num);
}

/** \frac{1}{2} of two whole numbers after a whole number. Only a proper fraction makes a mixed number. */
function commandFraction(cursor: Cursor): Rational | undefined {
  const start = cursor.at++;
  const isShort = !isAt(cursor, "{");
  const fraction = readPair(cursor, cursor.grammar.sum, isShort);
  const [top, bottom] = fraction;
  if (top.kind === "number" && bottom.kind === "number" && top.digits !== undefined && bottom.digits !== undefined) {
    if (top.value.num < bottom.value.num && top.value.num > 0n) return reduced(top.value.num, bottom.value.num);
  }
  if (cursor.problem === undefined) cursor.at = start;
  return undefined;
}

function reduced(num: bigint, den: bigint): Rational {
  let [a, b] = [num, den];
  while (b !== 0n) [a, b] = [b, a % b];
  return { num: num / a, den: den / a };
}

/** 3 million, 2.5 hundred thousand */
export function scaledByWords(cursor: Cursor, node: Node): Node {
  let scaled = node;
  for (let next = peek(cursor); next?.kind === "word" && scaled.kind === "number"; next = peek(cursor)) {
    const word = next.text.toLowerCase();
    if (!Object.hasOwn(SCALES, word)) break;
    const { num, den } = scaled.value;
    scaled = { kind: "number", value: reduced(num * (SCALES[word] as bigint), den) };
    cursor.at++;
  }
  return scaled;
}
