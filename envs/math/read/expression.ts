/** Sums, products, powers and what they are made of. */
import { type Rational, whole } from "../numbers/rational.ts";
import { type Factor, type Node, type Sign, symbol, type Term } from "../syntax.ts";
import { accept, type Cursor, fail, found, isAt, nested, NOTHING, peek } from "./cursor.ts";
import { readFunction } from "./functions.ts";
import { readBars, readBraces, readBrackets, readMatrix, readPair } from "./groups.ts";

const TERMS_MAX = 1_500;

/** A sum. */
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

/** Signs before a term; of the first there may be none. */
function readSigns(cursor: Cursor, first: true): Sign;
function readSigns(cursor: Cursor, first: false): Sign | undefined;
function readSigns(cursor: Cursor, first: boolean): Sign | undefined {
  let sign: Sign | undefined = first ? "+" : undefined;
  for (;;) {
    const token = peek(cursor);
    if (token?.kind !== "op") return sign;
    const { text } = token;
    if (text !== "+" && text !== "-" && text !== "±" && text !== "∓") return sign;
    cursor.at++;
    if (text === "±" || text === "∓") sign = sign === "-" ? (text === "±" ? "∓" : "±") : text;
    else if (text === "-") sign = negated(sign ?? "+");
    else sign ??= "+";
  }
}

function negated(sign: Sign): Sign {
  if (sign === "+" || sign === "-") return sign === "+" ? "-" : "+";
  return sign === "±" ? "∓" : "±";
}

/** A product: with signs for it, or none. */
export function readProduct(cursor: Cursor): Node {
  const factors: Factor[] = [{ inverse: false, node: readSigned(cursor) }];
  while (cursor.problem === undefined) {
    if (accept(cursor, "*")) factors.push({ inverse: false, node: readSigned(cursor) });
    else if (accept(cursor, "/")) factors.push({ inverse: true, node: readSigned(cursor) });
    else if (isAt(cursor, "mod")) return readModulo(cursor, productOf(factors));
    else if (startsFactor(cursor)) factors.push({ inverse: false, node: readPower(cursor) });
    else break;
    if (factors.length > TERMS_MAX) return fail(cursor, "it has too many factors");
  }
  return productOf(factors);
}

function productOf(factors: readonly Factor[]): Node {
  return factors.length === 1 ? (factors[0] as Factor).node : { kind: "multiply", factors };
}

function readModulo(cursor: Cursor, left: Node): Node {
  cursor.at++;
  return { kind: "call", name: "mod", args: [left, readPower(cursor)] };
}

/** A factor that may have signs of its own, as in "2 * -3". */
function readSigned(cursor: Cursor): Node {
  if (!isAt(cursor, "-") && !isAt(cursor, "+") && !isAt(cursor, "±") && !isAt(cursor, "∓")) return readPower(cursor);
  const sign = readSigns(cursor, true);
  return { kind: "add", terms: [{ sign, node: readPower(cursor) }] };
}

const FACTOR_COMMANDS: ReadonlySet<string> = new Set([
  ...[
    "(",
    "[",
    "{",
    "√",
    "∛",
    "⌊",
    "⌈",
    "\\sqrt",
    "\\frac",
    "\\dfrac",
    "\\tfrac",
    "\\cfrac",
    "\\binom",
    "\\dbinom",
    "\\tbinom",
    "∑",
    "∏",
  ],
  ...["\\sum", "\\prod", "\\begin:pmatrix", "\\begin:bmatrix", "\\begin:matrix", "\\boxed", "\\operatorname"],
]);

/** Whether a factor starts here without a sign of multiplication. Two numbers side by side are no product. */
export function startsFactor(cursor: Cursor): boolean {
  const token = peek(cursor);
  if (token === undefined || token.kind === "word") return false;
  if (token.kind === "name" || token.kind === "function") return !NAMES_THAT_END.has(token.text);
  if (token.kind === "number") {
    const before = peek(cursor, -1);
    return before?.kind === "op" && (before.text === ")" || before.text === "}");
  }
  if (token.text === "|") return cursor.bars === 0 && !token.space && barsClose(cursor);
  if (token.text === "[" && cursor.turned) return false;
  return FACTOR_COMMANDS.has(token.text);
}

const NAMES_THAT_END: ReadonlySet<string> = new Set(["∅"]);

/** Whether the bar here opens an absolute value: another one follows before the list goes on. */
function barsClose(cursor: Cursor): boolean {
  for (let ahead = 1; ahead < 60; ahead++) {
    const token = peek(cursor, ahead);
    if (token === undefined) return false;
    if (token.kind === "op" && token.text === "|") return true;
  }
  return false;
}

/** A thing with what follows it: powers, factorials, degrees, percents. */
export function readPower(cursor: Cursor): Node {
  return nested(cursor, (inner) => {
    const start = peek(inner);
    let node = readPrimary(inner);
    if (start?.kind === "number" && start.decimals === undefined) node = mixedNumber(inner, node, start.digits);
    for (;;) {
      const next = readPostfix(inner, node);
      if (next === undefined || inner.problem !== undefined) return inner.problem === undefined ? node : NOTHING;
      node = next;
    }
  });
}

function readPostfix(cursor: Cursor, node: Node): Node | undefined {
  if (isAt(cursor, "^")) return raised(cursor, node);
  if (isAt(cursor, "!") && !isAt(cursor, "=", 1)) {
    cursor.at++;
    const isDouble = accept(cursor, "!");
    if (isAt(cursor, "!")) return fail(cursor, "it has three factorials in a row");
    return { kind: "call", name: isDouble ? "factorial2" : "factorial", args: [node] };
  }
  if (accept(cursor, "°") || accept(cursor, "∘")) return { kind: "unit", node, unit: "°" };
  if (accept(cursor, "%")) return { kind: "unit", node, unit: "%" };
  if (isAt(cursor, "_") && node.kind === "number") return inBase(cursor, node);
  return undefined;
}

function raised(cursor: Cursor, base: Node): Node {
  cursor.at++;
  if (isAt(cursor, "{") && (isAt(cursor, "∘", 1) || isAt(cursor, "°", 1)) && isAt(cursor, "}", 2)) {
    cursor.at += 3;
    return { kind: "unit", node: base, unit: "°" };
  }
  if (accept(cursor, "∘") || accept(cursor, "°")) return { kind: "unit", node: base, unit: "°" };
  if (accept(cursor, "'")) return base;
  const exponent = readExponent(cursor);
  return { kind: "power", base, exponent };
}

/** After "^": braces, or one thing with its sign. */
export function readExponent(cursor: Cursor): Node {
  const sign = isAt(cursor, "-") || isAt(cursor, "+") ? readSigns(cursor, true) : "+";
  const node = isAt(cursor, "{") ? readBraces(cursor, readSum) : nested(cursor, readExponentPrimary);
  return sign === "+" ? node : { kind: "add", terms: [{ sign, node }] };
}

/** "2^3^4" is 2^(3^4). */
function readExponentPrimary(cursor: Cursor): Node {
  const node = readPrimary(cursor);
  return isAt(cursor, "^") ? raised(cursor, node) : node;
}

/** 1011_2 */
function inBase(cursor: Cursor, node: Extract<Node, { kind: "number" }>): Node {
  cursor.at++;
  const subscript = isAt(cursor, "{") ? readBraces(cursor, readSum) : readPrimary(cursor);
  const digits = node.digits;
  if (subscript.kind !== "number" || subscript.value.den !== 1n || digits === undefined)
    return fail(cursor, "its subscript is no base");
  const base = Number(subscript.value.num);
  if (!(base >= 2 && base <= 36)) return fail(cursor, "its base is not from 2 to 36");
  let value = 0n;
  for (const digit of digits) {
    if (Number(digit) >= base) return fail(cursor, `it has the digit ${digit} in base ${base}`);
    value = value * BigInt(base) + BigInt(digit);
  }
  return { kind: "number", value: whole(value), base, digits };
}

/** 1\frac{1}{2}, 1 1/2 and 1½. */
function mixedNumber(cursor: Cursor, node: Node, digits: string | undefined): Node {
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
  const fraction = readPair(cursor, readSum, isShort);
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

/** A number, a name, a function of something, or something in brackets. */
export function readPrimary(cursor: Cursor): Node {
  const token = peek(cursor);
  if (token === undefined) return fail(cursor, "it ends where something is missing");
  switch (token.kind) {
    case "number": {
      cursor.at++;
      const { kind, value, decimals, digits } = token;
      return { kind, value, ...(decimals !== undefined && { decimals }), ...(digits !== undefined && { digits }) };
    }
    case "name":
      cursor.at++;
      return readName(cursor, token.text);
    case "function":
      return readFunction(cursor, token.text);
    case "word":
      return fail(cursor, `expected a value, found the word "${token.text.slice(0, 40)}"`);
    case "op":
      return readOpened(cursor, token.text);
  }
}

/** A name with its subscript and primes. */
function readName(cursor: Cursor, letters: string): Node {
  let name = letters;
  if (accept(cursor, "_")) name += `_${subscriptText(cursor)}`;
  while (accept(cursor, "'")) name += "'";
  if (letters === "∠" || letters === "△")
    while (peek(cursor)?.kind === "name") name += (cursor.tokens[cursor.at++] as { text: string }).text;
  if ((name === "f" || name === "g") && isAt(cursor, "(") && peek(cursor)?.space === false) {
    const args = nested(cursor, readBrackets);
    return { kind: "call", name, args: args.kind === "bracket" ? args.items : [args] };
  }
  return symbol(name);
}

function subscriptText(cursor: Cursor): string {
  const text = (at: number): string => {
    const token = cursor.tokens[at];
    return token === undefined ? "" : token.kind === "number" ? (token.digits ?? "?") : token.text;
  };
  if (!isAt(cursor, "{")) return text(cursor.at++);
  let name = "";
  for (cursor.at++; cursor.at < cursor.tokens.length && !isAt(cursor, "}"); cursor.at++) name += text(cursor.at);
  cursor.at++;
  return name;
}

/** What starts with an operator. */
function readOpened(cursor: Cursor, text: string): Node {
  if (text === "(" || text === "[" || text === "⟨" || text === "]") return nested(cursor, readBrackets);
  if (text === "{" || text === "\\{") return nested(cursor, (inner) => readBraces(inner, readSum, true));
  if (text === "|" || text === "⌊" || text === "⌈") return nested(cursor, readBars);
  if (text.startsWith("\\begin:")) return nested(cursor, readMatrix);
  if (text.startsWith("\\") || text === "√" || text === "∛" || text === "∑" || text === "∏")
    return readFunction(cursor, text);
  if (text === "∑") return readFunction(cursor, "\\sum");
  return fail(cursor, `expected a value${found(cursor)}`);
}
