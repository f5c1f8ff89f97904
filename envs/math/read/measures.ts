/** What tokens are beside numbers: signs of money, units in fractions, and the parts of "7 h 25 min" and 5'3". */
import { isUnitToken } from "./unit.ts";
import { besideUnit, UNITS, unitNamed } from "./unit-names.ts";
import type { Token } from "./tokens.ts";

const isOp = (token: Token | undefined, text: string): boolean => token?.kind === "op" && token.text === text;
const word = (text: string, space = true): Token => ({ kind: "word", text, space });
const op = (text: string): Token => ({ kind: "op", text, space: false });

export function measured(given: readonly Token[]): readonly Token[] {
  if (!given.some(({ kind }) => kind === "number")) return given;
  const tokens = withMarks(withMoney(withWords(given)));
  return joinedParts(tokens.some((token) => isFraction(token)) ? withFractions(tokens) : tokens);
}

const CODES: Readonly<Record<string, string>> = { USD: "$", US: "$", EUR: "€", GBP: "£", RMB: "¥", CNY: "¥", INR: "₹" };

/** "USD 5" and "US$5" as $5. */
function withMoney(tokens: readonly Token[]): readonly Token[] {
  return tokens.flatMap((token, at): readonly Token[] => {
    if (token.kind !== "word" || tokens[at - 1]?.kind === "number") return [token];
    const sign = CODES[token.text];
    if (sign === undefined) return [token];
    const next = tokens[isOp(tokens[at + 1], "-") ? at + 2 : at + 1];
    if (isOp(next, sign)) return [];
    return next?.kind === "number" && token.text !== "US" ? [{ ...token, kind: "op", text: sign }] : [token];
  });
}

/** The "mi" of "60 mi" and "60mi/h", which is no product, and the "g" of "1.2 g/cm^3". */
function withWords(tokens: readonly Token[]): readonly Token[] {
  const found: Token[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as Token;
    const length = token.kind === "name" ? (token.run?.length === 2 ? 2 : 1) : 0;
    const name = token.kind !== "name" ? "" : length === 2 ? (token.run as string) : token.text;
    const isUnit = UNITS.has(name) && isUnitAt(found, tokens, at, length);
    found.push(isUnit ? word(name) : token);
    if (isUnit) at += length - 1;
  }
  return found;
}

/** By what stands before and behind it: a number or a fraction's sign, and for a single letter another unit. */
function isUnitAt(before: readonly Token[], tokens: readonly Token[], at: number, length: number): boolean {
  const [last, behind] = [before.at(-1), tokens[at + length]];
  const isSlashed = isOp(behind, "/");
  if (length === 1) {
    const next = isSlashed || isOp(behind, "*") ? tokens[at + 2] : behind;
    return last?.kind === "number" && next?.kind === "word" && UNITS.has(unitNamed(next.text));
  }
  if (last?.kind === "number") return tokens[at]?.space === true || isSlashed;
  return last?.kind === "word" || isOp(last, "/") || (isOp(last, "{") && isFraction(before.at(-2)));
}

// 72 \frac{km}{h}

const isFraction = (token: Token | undefined): boolean => token?.kind === "op" && /^\\[dtc]?frac$/.test(token.text);

/** A fraction of units as "km / h"; of \frac{72 km}{1 h} the number comes first. */
function withFractions(tokens: readonly Token[]): readonly Token[] {
  const found: Token[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const top = isFraction(tokens[at]) ? unitsIn(tokens, at + 1) : undefined;
    const bottom = top && unitsIn(tokens, top.end);
    const isKnown =
      top !== undefined && bottom !== undefined && [...top.units, ...bottom.units].some(({ kind }) => kind === "word");
    const isOne = bottom?.number === undefined || (bottom.number.kind === "number" && bottom.number.digits === "1");
    if (!isKnown || !isOne) found.push(tokens[at] as Token);
    else {
      const [up, down] = [top.units, bottom.units].map((units) =>
        units.map((each) => (each.kind === "name" ? word(each.text) : each)),
      );
      found.push(...(top.number ? [top.number] : []), ...(up as readonly Token[]));
      for (const unit of down as readonly Token[]) found.push(...(unit.kind === "word" ? [op("/")] : []), unit);
      at = bottom.end - 1;
    }
  }
  return found;
}

interface Units {
  readonly number: Token | undefined;
  readonly units: readonly Token[];
  readonly end: number;
}

const UNIT_TOKENS_MAX = 12;

/** What braces hold that open there: a number or none, and units with their powers; undefined: something else. */
function unitsIn(tokens: readonly Token[], start: number): Units | undefined {
  if (!isOp(tokens[start], "{")) return undefined;
  const first = tokens[start + 1];
  const from = first?.kind === "number" ? start + 2 : start + 1;
  let depth = 1;
  for (let at = from; at < from + UNIT_TOKENS_MAX; at++) {
    const token = tokens[at];
    depth += isOp(token, "{") ? 1 : isOp(token, "}") ? -1 : 0;
    if (depth === 0) {
      const units = tokens.slice(from, at).filter((each) => !isOp(each, "*"));
      return isUnitToken(units[0]) ? { number: from > start + 1 ? first : undefined, units, end: at + 1 } : undefined;
    }
    const isPower = token?.kind === "number" || (token?.kind === "op" && "^{}-*".includes(token.text));
    if (!isPower && !isUnitToken(token)) return undefined;
  }
  return undefined;
}

// 5'3" and 7 hours and 25 minutes

/** The marks of feet and inches as words where both stand together: 5' alone may be an angle's. */
function withMarks(tokens: readonly Token[]): readonly Token[] {
  if (!tokens.some((token) => isOp(token, "'") || isOp(token, '"'))) return tokens;
  const found: Token[] = [];
  for (let at = 0; at < tokens.length; at++) {
    found.push(tokens[at] as Token);
    const isNumber = tokens[at]?.kind === "number" && !["°", "∘", "}"].some((text) => isOp(tokens[at - 1], text));
    const feet = isNumber ? markAt(tokens, at + 1) : NO_MARK;
    const inches = tokens[at + 1 + feet.length];
    const next = feet.name === "ft" && inches?.kind === "number" ? markAt(tokens, at + 2 + feet.length) : NO_MARK;
    if (inches === undefined || next.name !== "in") continue;
    found.push(word("ft"), inches, word("in"));
    at += feet.length + 1 + next.length;
  }
  return found;
}

interface Mark {
  readonly name: "" | "ft" | "in";
  /** Of the tokens that it takes. */
  readonly length: number;
}

const NO_MARK: Mark = { name: "", length: 0 };

/** One or two primes, plain or raised. */
function markAt(tokens: readonly Token[], start: number): Mark {
  const open = isOp(tokens[start], "^") ? (isOp(tokens[start + 1], "{") ? 2 : 1) : 0;
  let [at, primes] = [start + open, 0];
  for (; isOp(tokens[at], "'") || isOp(tokens[at], '"'); at++) primes += isOp(tokens[at], "'") ? 1 : 2;
  if (primes === 0 || primes > 2 || (open === 2 && !isOp(tokens[at], "}"))) return NO_MARK;
  return { name: primes === 1 ? "ft" : "in", length: at - start + (open === 2 ? 1 : 0) };
}

const JOINERS: readonly string[] = [",", "and", "+", "&"];
/** Dimensions whose parts are joined by words; "2 m and 50 cm" may be two lengths. */
const JOINED: readonly string[] = ["time", "month", "inch", "ounce", "money", "cup"];

/** "7 h and 25 min" without what joins it, and with its letters as units. */
function joinedParts(tokens: readonly Token[]): readonly Token[] {
  const found = [...tokens];
  for (let at = 1; at < found.length; at++) {
    const [first, second, joiner] = [found[at], found[at + 1], found[at + 1]];
    const skipped =
      joiner?.kind === "op" && JOINERS.includes(joiner.text)
        ? isOp(joiner, ",") && isOp(found[at + 2], "and")
          ? 2
          : 1
        : 0;
    const number = skipped > 0 ? found[at + 1 + skipped] : second;
    const last = found[at + 2 + skipped];
    if (found[at - 1]?.kind !== "number" || number?.kind !== "number") continue;
    const [large, small] = partsOf(first, last);
    const [one, other] = [UNITS.get(large), UNITS.get(small)];
    const isPart = one?.dimension === other?.dimension && one !== undefined && other !== undefined;
    // What is as much as the larger unit is no part of a sum.
    const isLess = isPart && number.value.num * other.num * one.den < one.num * other.den * number.value.den;
    if (!isLess || (skipped > 0 && !JOINED.includes(one.dimension))) continue;
    found.splice(at, 3 + skipped, word(large), { ...number, space: true }, word(small));
    at++;
  }
  return found;
}

/** The names of two units side by side: an m behind hours or before seconds is minutes. */
function partsOf(first: Token | undefined, last: Token | undefined): readonly [string, string] {
  const texts = [first, last].map((token) => (token === undefined || token.kind === "number" ? "" : token.text));
  const [one, other] = texts.map(unitNamed) as [string, string];
  const large = texts[0] === "m" && other === "s" ? "min" : besideUnit(one, other);
  const isMinutes = ["m", "分"].includes(texts[1] ?? "") && UNITS.get(large)?.dimension === "time";
  return [large, isMinutes ? "min" : other];
}
