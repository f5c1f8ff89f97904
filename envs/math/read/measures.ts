/** Joins quantities in two units, such as "7 h 25 min" or "7 hours and 25 minutes", into one quantity. */
import { besideUnit, UNITS, unitNamed } from "./unit-names.ts";
import type { Token } from "./tokens.ts";

const isOp = (token: Token | undefined, text: string): boolean => token?.kind === "op" && token.text === text;
const word = (text: string): Token => ({ kind: "word", text, space: true });

const JOINERS: readonly string[] = [",", "and", "+", "&"];
/**
 * Dimensions of quantities whose parts may be joined by words, as in "7 h and 25 min". Lengths are missing, because "2
 * m and 50 cm" may be two lengths.
 */
const JOINED: readonly string[] = ["time", "month", "inch", "ounce", "money", "cup"];

/**
 * Removes the joining word of a quantity such as "7 h and 25 min", and replaces the letters h and min by unit tokens.
 */
export function joinedParts(tokens: readonly Token[]): readonly Token[] {
  const found = [...tokens];
  for (let at = 1; at < found.length; at++) {
    const isJoined = JOINERS.some((text) => isOp(found[at + 1], text));
    const skipped = isJoined ? (isOp(found[at + 1], ",") && isOp(found[at + 2], "and") ? 2 : 1) : 0;
    const [number, last] = [found[at + 1 + skipped], found[at + 2 + skipped]];
    if (found[at - 1]?.kind !== "number" || found[at]?.kind === "op" || number?.kind !== "number") continue;
    const [large, small] = partsOf(found[at], last);
    const [one, other] = [UNITS.get(large), UNITS.get(small)];
    const isPart = one?.dimension === other?.dimension && one !== undefined && other !== undefined;
    // The second quantity must be less than one of the larger unit, e.g. less than 60 min after hours. Otherwise the
    // two are not one quantity.
    const isLess = isPart && number.value.num * other.num * one.den < one.num * other.den * number.value.den;
    if (!isLess || (skipped > 0 && !JOINED.includes(one.dimension))) continue;
    found.splice(at, 3 + skipped, word(large), { ...number, space: true }, word(small));
    at++;
  }
  return found;
}

/** Returns the names of two adjacent units. An m after hours or before seconds means minutes. */
function partsOf(first: Token | undefined, last: Token | undefined): readonly [string, string] {
  const texts = [first, last].map((token) => (token === undefined || token.kind === "number" ? "" : token.text));
  const [one, other] = texts.map(unitNamed) as [string, string];
  const large = texts[0] === "m" && other === "s" ? "min" : besideUnit(one, other);
  const isMinutes = ["m", "分"].includes(texts[1] ?? "") && UNITS.get(large)?.dimension === "time";
  return [large, isMinutes ? "min" : other];
}
