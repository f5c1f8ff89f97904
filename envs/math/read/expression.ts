/** Parses sums, products, powers and their parts, including mixed numbers. */
import { derivativeOf } from "./derivatives.ts";
import type { Factor, Node, Sign, Term } from "../syntax.ts";
import { readBars, readBraces, readBrackets, readCases, readMatrix, readPair } from "./groups.ts";
import { accept, type Cursor, fail, found, isAt, nested, NOTHING, peek } from "./tokens.ts";
import { readFunction } from "./functions.ts";
import { inBase, readBound, readLowered, readName, readScripted } from "./scripts.ts";
import { inDegrees, startsRemark } from "./unit.ts";
import { SCALES } from "./amount-words.ts";
import { ORDINALS } from "./letters.ts";
import { isConstant } from "./names.ts";
import { type Rational, reduced } from "../numbers/rational.ts";

const TERMS_MAX = 1_500;

export function readSum(cursor: Cursor): Node {
  const terms: Term[] = [];
  let sign: Sign | undefined = readSigns(cursor, true);
  do {
    const node = readProduct(cursor);
    terms.push({ sign, node });
    if (terms.length > TERMS_MAX) return fail(cursor, "it has too many terms");
    sign = readSigns(cursor, false);
  } while (sign !== undefined && cursor.problem === undefined);
  const [first] = terms as [Term];
  return terms.length === 1 && first.sign === "+" ? first.node : { kind: "add", terms };
}

/**
 * Reads the signs + and − before a term. Returns undefined if there are none and the term is not the first of its sum.
 */
function readSigns(cursor: Cursor, first: true): Sign;
function readSigns(cursor: Cursor, first: false): Sign | undefined;
function readSigns(cursor: Cursor, first: boolean): Sign | undefined {
  let sign: Sign | undefined = first ? "+" : undefined;
  for (;;) {
    const token = peek(cursor);
    // A word may be the sign: "negative 10".
    const isWord = first && token?.kind === "word" && /^(?:negative|minus)$/i.test(token.text);
    if (token?.kind !== "op" && !isWord) return sign;
    const text = isWord ? "-" : (token as { text: string }).text;
    if (text !== "+" && text !== "-" && text !== "±" && text !== "∓") return sign;
    if (!first && token?.gap === true) return sign;
    cursor.at++;
    sign = text === "+" ? (sign ?? "+") : text === "-" ? NEGATED[sign ?? "+"] : sign === "-" ? NEGATED[text] : text;
  }
}

const NEGATED: Readonly<Record<Sign, Sign>> = { "+": "-", "-": "+", "±": "∓", "∓": "±" };

/** Reads a product, with or without multiplication signs. */
export function readProduct(cursor: Cursor): Node {
  const factors: Factor[] = [{ inverse: false, node: readSigned(cursor) }];
  while (cursor.problem === undefined) {
    if (accept(cursor, "*")) factors.push({ inverse: false, node: readSigned(cursor) });
    else if (isAt(cursor, "/") && peek(cursor, 1)?.kind === "word") break;
    else if (accept(cursor, "/")) readDivisor(cursor, factors);
    else if (accept(cursor, "mod")) return { kind: "call", name: "mod", args: [productOf(factors), readPower(cursor)] };
    else if (peek(cursor)?.gap !== true && startsFactor(cursor)) {
      const isGroup = isAt(cursor, "{") || isAt(cursor, "}", -1);
      const node = readPower(cursor);
      // "3{1}" looks like 31, but could also be read as a product, so it is refused.
      if (isGroup && node.kind === "number" && factors.at(-1)?.node.kind === "number")
        return fail(cursor, "it has braces between its digits");
      factors.push({ inverse: false, node });
    } else break;
    if (factors.length > TERMS_MAX) return fail(cursor, "it has too many factors");
  }
  return productOf(factors);
}

/**
 * Maximum number of factors before a "/" that are searched for a "dy". The limit keeps the time linear for long
 * quotients.
 */
const DERIVED_MAX = 16;

/** Reads a divisor after "/". If it is a "dx" and a "dy" came before, the two become a derivative. */
function readDivisor(cursor: Cursor, factors: Factor[]): void {
  const near = factors.slice(-DERIVED_MAX);
  const place = near.findLastIndex(({ node }) => isDifferential(node.kind === "power" ? node.base : node));
  const start = place < 0 ? -1 : factors.length - near.length + place;
  const divisor = readDifferential(cursor, start >= 0) ?? readSigned(cursor);
  const derivative = start < 0 ? undefined : derivativeOf(cursor, productOf(factors.slice(start)), divisor);
  if (derivative === undefined) factors.push({ inverse: true, node: divisor });
  else factors.splice(start, factors.length, { inverse: false, node: derivative });
}

const isDifferential = (node: Node): boolean => node.kind === "symbol" && (node.name === "d" || node.name === "∂");

/** Reads the dx in "dy/dx" as one factor. */
function readDifferential(cursor: Cursor, isBehindOne: boolean): Node | undefined {
  const [token, next] = [peek(cursor), peek(cursor, 1)];
  if (token?.kind !== "name" || next?.kind !== "name" || !"d∂".includes(token.text)) return undefined;
  if (!isBehindOne && token.run?.length !== 2) return undefined;
  const factors = [readPower(cursor), readPower(cursor)].map((node) => ({ inverse: false, node }));
  return { kind: "multiply", factors };
}

function productOf(factors: readonly Factor[]): Node {
  return factors.length === 1 ? (factors[0] as Factor).node : { kind: "multiply", factors };
}

/** Reads a factor that may have its own signs, as in "2 * -3". */
function readSigned(cursor: Cursor): Node {
  if (!["-", "+", "±", "∓"].some((sign) => isAt(cursor, sign))) return readPower(cursor);
  const sign = readSigns(cursor, true);
  return { kind: "add", terms: [{ sign, node: readPower(cursor) }] };
}

const FACTOR_COMMANDS: ReadonlySet<string> = new Set(
  [
    String.raw`( [ { ⟨ √ ∛ ⌊ ⌈ ∑ ∏ ∫ \int \sum \prod \sqrt \frac \dfrac \tfrac \cfrac \binom \dbinom \tbinom \boxed`,
    String.raw`\operatorname \begin:pmatrix \begin:bmatrix \begin:matrix \begin:cases`,
  ].flatMap((commands) => commands.split(" ")),
);

/**
 * Returns whether a factor starts at the cursor without a multiplication sign before it. Two adjacent numbers are not a
 * product.
 */
export function startsFactor(cursor: Cursor): boolean {
  const token = peek(cursor);
  if (token === undefined || token.kind === "word") return false;
  if (token.kind === "name" || token.kind === "function") return token.text !== "∅";
  if (token.kind === "number") {
    const before = peek(cursor, -1);
    if (before?.kind !== "op") return false;
    // A number may follow a factorial if the number itself has a factorial: 3!7!.
    return before.text === ")" || before.text === "}" || (before.text === "!" && isAt(cursor, "!", 1));
  }
  if (token.text === "|") return cursor.bars === 0 && !token.space && barsClose(cursor);
  if (token.text === "[" && (cursor.turned || isAt(cursor, "mod", 1))) return false;
  if (token.text === "(" && (isAt(cursor, "mod", 1) || startsCondition(cursor) || startsRemark(cursor))) return false;
  return FACTOR_COMMANDS.has(token.text);
}

const CONDITIONS = "∈≠<>≤≥=";

/** Returns whether a condition in brackets, such as "(k ∈ ℤ)", starts at the cursor. */
export function startsCondition(cursor: Cursor): boolean {
  const [name, sign] = [peek(cursor, 1), peek(cursor, 2)];
  if (!isAt(cursor, "(") || name?.kind !== "name") return false;
  return sign?.kind === "op" && CONDITIONS.includes(sign.text);
}

/** Returns whether the bar at the cursor opens an absolute value: another bar must follow within 60 tokens. */
function barsClose(cursor: Cursor): boolean {
  for (let ahead = 1; ahead < 60; ahead++) if (isAt(cursor, "|", ahead)) return true;
  return false;
}

const POSTFIXES_MAX = 16;

/** Reads an operand and the signs after it: powers, factorials, degree and percent signs. */
export function readPower(cursor: Cursor): Node {
  return nested(cursor, (inner) => {
    const start = peek(inner);
    let node = readPrimary(inner);
    if (start?.kind === "number") node = scaledByWords(inner, mixedNumber(inner, node, start.digits));
    for (let marks = 0; ; marks++) {
      const next = readPostfix(inner, node);
      if (marks > POSTFIXES_MAX) return fail(inner, "too many signs such as ! or ^ follow a value");
      if (next === undefined || inner.problem !== undefined) return inner.problem === undefined ? node : NOTHING;
      node = next;
    }
  });
}

function readPostfix(cursor: Cursor, node: Node): Node | undefined {
  if (isAt(cursor, "^")) return raised(cursor, node);
  if (isAt(cursor, "!")) {
    cursor.at++;
    const isDouble = accept(cursor, "!");
    if (isAt(cursor, "!")) return fail(cursor, "it has three factorials in a row");
    return { kind: "call", name: isDouble ? "factorial2" : "factorial", args: [node] };
  }
  if (accept(cursor, "°") || accept(cursor, "∘")) return inDegrees(cursor, node);
  if (accept(cursor, "%")) return { kind: "unit", node, unit: "%" };
  if (isAt(cursor, "_") && node.kind === "number") return inBase(cursor, node);
  return undefined;
}

function raised(cursor: Cursor, base: Node): Node {
  cursor.at++;
  if (accept(cursor, "∘") || accept(cursor, "°")) return inDegrees(cursor, base);
  if (isAt(cursor, "'")) return fail(cursor, "it has a prime after something that is not a name");
  const mark = isAt(cursor, "{") && isAt(cursor, "}", 2) ? peek(cursor, 1) : undefined;
  const isDegree = isAt(cursor, "∘", 1) || isAt(cursor, "°", 1);
  if (mark !== undefined && (isDegree || (mark.kind === "word" && ORDINALS.has(mark.text)))) {
    cursor.at += 3;
    return isDegree ? inDegrees(cursor, base) : base;
  }
  if (base.kind !== "symbol" || isConstant(base.name)) return { kind: "power", base, exponent: readExponent(cursor) };
  // In TeX, "x^n_1" means x_1^n.
  const exponent = isAt(cursor, "_", 1) ? readBound(cursor) : readExponent(cursor);
  return isAt(cursor, "_") ? readLowered(cursor, base, exponent) : { kind: "power", base, exponent };
}

/** Reads the exponent after "^": a group in braces, or one operand with its sign. */
export function readExponent(cursor: Cursor): Node {
  const sign = isAt(cursor, "-") || isAt(cursor, "+") ? readSigns(cursor, true) : "+";
  const node = isAt(cursor, "{") ? readBraces(cursor, readSum) : nested(cursor, readExponentPrimary);
  return sign === "+" ? node : { kind: "add", terms: [{ sign, node }] };
}

/** Reads an exponent together with its own exponent, because 2^3^4 means 2^(3^4). */
function readExponentPrimary(cursor: Cursor): Node {
  const node = readPrimary(cursor);
  return isAt(cursor, "^") ? raised(cursor, node) : node;
}

/** Reads a number, a name, a function with its argument, or a bracketed expression. */
export function readPrimary(cursor: Cursor): Node {
  const token = peek(cursor);
  if (token === undefined) return fail(cursor, "it ends where a value is expected");
  switch (token.kind) {
    case "number": {
      cursor.at++;
      const { space: _, gap: __, ...written } = token;
      return written;
    }
    case "name":
      cursor.at++;
      return readName(cursor, token.text, token.run);
    case "function":
      return readFunction(cursor, token.text);
    case "word":
      return fail(cursor, `expected a value, found the word "${token.text.slice(0, 40)}"`);
    case "op":
      return readOpened(cursor, token.text);
  }
}

/** Reads an operand that starts with an operator token, e.g. "(" or "√". */
function readOpened(cursor: Cursor, text: string): Node {
  if (text === "^" || text === "_" || (text === "{" && isAt(cursor, "}", 1))) return nested(cursor, readScripted);
  if (text === "(" || text === "[" || text === "⟨" || text === "]") return nested(cursor, readBrackets);
  if (text === "{" || text === "\\{") return nested(cursor, (inner) => readBraces(inner, readSum, true));
  if (text === "|" || text === "⌊" || text === "⌈") return nested(cursor, readBars);
  if (text === "\\begin:cases") return nested(cursor, readCases);
  if (text.startsWith("\\begin:")) return nested(cursor, readMatrix);
  if (text.startsWith("\\") || "√∛∑∏∫".includes(text)) return readFunction(cursor, text);
  return fail(cursor, `expected a value${found(cursor)}`);
}

// Functions that read mixed numbers (2 1/2), and numbers followed by a word such as "million".

/** Reads the fraction of a mixed number: 1\frac{1}{2}, 1 1/2 or 1½. Returns the number unchanged if there is none. */
function mixedNumber(cursor: Cursor, node: Node, digits: string | undefined): Node {
  if (node.kind !== "number" || digits === undefined) return node;
  const isCommand = ["\\frac", "\\dfrac", "\\tfrac"].some((command) => isAt(cursor, command));
  const part = isCommand ? commandFraction(cursor) : slashFraction(cursor);
  if (part === undefined) return node;
  return { kind: "number", value: { num: node.value.num * part.den + part.num, den: part.den } };
}

/** Reads the fraction of a mixed number after its whole part: "1/2" after a space, or "½". */
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

/**
 * Reads \frac{1}{2} after a whole number. Only a proper fraction of whole numbers makes a mixed number; otherwise
 * returns undefined.
 */
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

/** Multiplies a number by the scale words after it: 3 million, 2.5 hundred thousand. */
function scaledByWords(cursor: Cursor, node: Node): Node {
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
