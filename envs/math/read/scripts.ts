/** Parses what may follow a name or a number: subscripts, primes and number bases, as in C_n^k, f' and 1011_2. */
import { whole } from "../numbers/rational.ts";
import { type Node, symbol } from "../syntax.ts";
import { valueInBase } from "./numeral.ts";
import { accept, type Cursor, fail, found, isAt, nested, NOTHING, peek, type Read, textOf } from "./tokens.ts";
import { readBraces, readBrackets } from "./groups.ts";
import { isNumberSet, NUMBER_SETS } from "./names.ts";
import { numberOfWords } from "./letters.ts";

const readSum: Read = (cursor) => cursor.grammar.sum(cursor);
const readSmall: Read = (cursor) => (isAt(cursor, "{") ? readBraces(cursor, readSum) : cursor.grammar.primary(cursor));

/** Reads a name with its subscript and primes. */
export function readName(cursor: Cursor, letters: string, run?: string): Node {
  const set = isNumberSet(letters) ? numberSet(cursor, letters) : undefined;
  if (set !== undefined) return symbol(set);
  const chosen = CHOICES[letters] === undefined ? undefined : chosenOf(cursor, letters);
  if (chosen !== undefined) return chosen;
  const applied = "∂Δ∇".includes(letters) ? appliedTo(cursor, letters) : undefined;
  if (applied !== undefined) return applied;
  let name = letters;
  if (accept(cursor, "_")) name += `_${apart(scriptText(cursor))}`;
  name += primes(cursor);
  if (letters === "∠" || letters === "△")
    while (peek(cursor)?.kind === "name") name += (cursor.tokens[cursor.at++] as { text: string }).text;
  if ((letters === "f" || letters === "g") && isInverse(cursor)) {
    name += "⁻¹";
    cursor.at += 5;
  }
  const fn = SPECIAL[name] ?? (letters === "f" || letters === "g" ? name : undefined);
  if (fn !== undefined && isAt(cursor, "(") && peek(cursor)?.space === false) {
    const args = nested(cursor, readBrackets);
    return { kind: "call", name: fn, args: args.kind === "bracket" ? args.items : [args] };
  }
  return run === undefined ? symbol(name) : { kind: "symbol", name, run };
}

/** Letters that commonly are indices of a sequence. With one of them as argument, a(n) = 2n is read as a_n = 2n. */
const INDICES = "nmkij";

/**
 * Reads the left side of a definition, "F(x, y) = x + y" or "a(n) = 2n", at the start of an item. Returns undefined if
 * the item is not a definition.
 */
export function readDefined(cursor: Cursor): Node | undefined {
  const [head, bracket] = [peek(cursor), peek(cursor, 1)];
  if (head?.kind !== "name" || head.run !== undefined || !isAt(cursor, "(", 1) || bracket?.space === true)
    return undefined;
  const args: Node[] = [];
  let ahead = 2;
  for (let token = peek(cursor, ahead); token?.kind === "name"; token = peek(cursor, ahead)) {
    args.push(symbol(token.text));
    ahead += isAt(cursor, ",", ahead + 1) ? 2 : 1;
  }
  const [only, ...others] = args;
  if (only?.kind !== "symbol" || !isAt(cursor, ")", ahead) || !isAt(cursor, "=", ahead + 1)) return undefined;
  const isSequence = others.length === 0 && INDICES.includes(only.name) && !/[fg]/.test(head.text);
  // P(x) and P(A) are read as products. The comparison of answers treats such products as names.
  if (others.length === 0 && !isSequence && /[A-Zuvyhpqrwzfg]/.test(head.text)) return undefined;
  cursor.at += ahead + 1;
  return isSequence ? symbol(`${head.text}_${only.name}`) : { kind: "call", name: head.text, args };
}

/** Reads an operator with its operand: Δx, ∇f, ∇·F, ∇²f or ∂_x f. Returns undefined if the sign is only a name. */
function appliedTo(cursor: Cursor, sign: string): Node | undefined {
  const start = cursor.at;
  let name = sign;
  const corners = [0, 1, 2]
    .map((ahead) => peek(cursor, ahead))
    .map((token) => (token?.kind === "name" ? token.text : ""));
  if (sign === "Δ" && /^[A-Z]{3}$/.test(corners.join(""))) {
    cursor.at += 3;
    return symbol(`△${corners.join("")}`);
  }
  for (const mark of sign === "∂" ? "_" : "_^") if (accept(cursor, mark)) name += `${mark}${scriptText(cursor)}`;
  const product = peek(cursor);
  if (sign === "∇" && accept(cursor, "*")) name += product?.kind === "op" ? (product.run ?? "·") : "";
  // A bare ∂ begins a quotient of differentials: ∂f/∂x.
  if (name !== "∂" && peek(cursor)?.gap !== true && cursor.grammar.startsFactor(cursor))
    return { kind: "call", name, args: [nested(cursor, cursor.grammar.power)] };
  cursor.at = start;
  return undefined;
}

/** Returns whether the mark ^{-1} of an inverse function and its argument follow, as in f^{-1}(x). */
function isInverse(cursor: Cursor): boolean {
  const one = peek(cursor, 3);
  const isOne = one?.kind === "number" && one.digits === "1";
  const isMinus = isAt(cursor, "^") && isAt(cursor, "{", 1) && isAt(cursor, "-", 2);
  return isMinus && isOne && isAt(cursor, "}", 4) && isAt(cursor, "(", 5);
}

/** Letters that mean a known function if brackets follow them. */
const SPECIAL: Readonly<Record<string, string>> = { Γ: "gamma", ζ: "zeta" };

/** Reads the primes of f', f^{\prime} and f^{\prime\prime}. */
function primes(cursor: Cursor): string {
  let marks = "";
  for (;;) {
    if (accept(cursor, "'")) marks += "'";
    else if (accept(cursor, '"')) marks += "''";
    else if (isAt(cursor, "^") && isAt(cursor, "'", 1)) cursor.at++;
    else if (isAt(cursor, "^") && isAt(cursor, "{", 1) && isAt(cursor, "'", 2)) {
      cursor.at += 2;
      while (accept(cursor, "'")) marks += "'";
      if (!accept(cursor, "}")) fail(cursor, `a brace is not closed${found(cursor)}`);
    } else return marks;
  }
}

/** Returns the text of the subscript or superscript at the cursor, and moves the cursor after it. */
export function scriptText(cursor: Cursor): string {
  const text = (at: number): string => {
    const token = cursor.tokens[at];
    if (token === undefined) return "";
    const isBesideDigits = token.kind === "number" && cursor.tokens[at - 1]?.kind === "number";
    return `${isBesideDigits ? " " : ""}${textOf(token)}`;
  };
  if (!isAt(cursor, "{")) return text(cursor.at++);
  let name = "";
  for (cursor.at++; cursor.at < cursor.tokens.length && !isAt(cursor, "}"); cursor.at++) name += text(cursor.at);
  cursor.at++;
  return name;
}

/** Puts a compound subscript in parentheses, so that x_{n^2} is not read as the square of x_n. */
const apart = (script: string): string => (/[\^*/]/.test(script) ? `(${script})` : script);

// Functions that read sub- and superscripts of number sets, as in ℕ^*, \mathbb{Z}_{>0} and ℝ^+.

/**
 * Canonical spelling of each number set with a mark, by all of its spellings: ℕ* for ℤ>0. Plain ℕ is missing, because
 * conventions differ on whether it contains 0.
 */
const SIGNED_SETS: ReadonlyMap<string, string> = new Map(
  "ℕ* ℕ+ ℕ>0 ℕ≥1 ℤ+ ℤ>0 ℤ≥1,ℕ0 ℕ≥0 ℤ≥0,ℤ* ℤ≠0,ℤ- ℤ<0,ℝ+ ℝ>0,ℝ- ℝ<0,ℝ* ℝ≠0,ℝ≥0,ℂ*,ℚ+ ℚ>0,ℚ- ℚ<0,ℚ* ℚ≠0,ℚ≥0"
    .split(",")
    .map((names) => names.split(" "))
    .flatMap(([own = "", ...others]) => [own, ...others].map((name) => [name, own] as const)),
);

/** Returns the name of a number set with its mark. Returns undefined if what follows is not a mark, as in ℝ^2. */
function numberSet(cursor: Cursor, letter: string): string | undefined {
  const start = cursor.at;
  let marks = "";
  while ((isAt(cursor, "^") || isAt(cursor, "_")) && cursor.at < cursor.tokens.length) {
    cursor.at++;
    marks += scriptText(cursor);
  }
  // The mark of a number set may lack its "^", as in "(n ∈ N*)".
  if (marks === "" && (isAt(cursor, "*") || isAt(cursor, "+")) && isLast(cursor, 1)) {
    marks = isAt(cursor, "*") ? "*" : "+";
    cursor.at++;
  }
  const name = marks === "" ? letter : SIGNED_SETS.get(`${letter}${marks}`);
  if (name === undefined) cursor.at = start;
  return name;
}

function isLast(cursor: Cursor, ahead: number): boolean {
  const token = peek(cursor, ahead);
  return token === undefined || (token.kind === "op" && ")],;}\\}".includes(token.text));
}

/** Reads the number set after "∈", where a plain N means ℕ. */
export function readSetBehind(cursor: Cursor): Node | undefined {
  const token = peek(cursor);
  const letter = token?.kind === "name" ? NUMBER_SETS[token.text.replace("⃗", "")] : undefined;
  if (letter === undefined) return undefined;
  cursor.at++;
  const name = numberSet(cursor, letter);
  return name === undefined ? fail(cursor, `expected a set${found(cursor)}`) : symbol(name);
}

// Functions that read binomial coefficients written as C_n^k.

/** Letters that stand for binomial coefficients and arrangements in school notation. */
const CHOICES: Readonly<Record<string, "binom" | "arrangements">> = {
  C: "binom",
  A: "arrangements",
  P: "arrangements",
};

/**
 * Reads a binomial coefficient or arrangement such as C_10^3. Returns undefined for a name with a power, such as C_1^2.
 */
function chosenOf(cursor: Cursor, letter: string): Node | undefined {
  const start = cursor.at;
  if (!accept(cursor, "_")) return undefined;
  const from = readSmall(cursor);
  const isPower = cursor.problem === undefined && accept(cursor, "^");
  const taken = isPower ? readSmall(cursor) : undefined;
  const choice = taken && choiceOf(cursor, letter, from, taken);
  if (choice === undefined && cursor.problem === undefined) cursor.at = start;
  return choice;
}

function choiceOf(cursor: Cursor, letter: string, from: Node, taken: Node): Node | undefined {
  const name = CHOICES[letter];
  const areCounts =
    from.kind === "number" && taken.kind === "number" && taken.value.den === 1n && from.value.num >= taken.value.num;
  if (name === undefined || cursor.problem !== undefined || !(areCounts || (letter === "C" && isCount(from))))
    return undefined;
  return { kind: "call", name, args: [from, taken] };
}

/** Reads the subscript after a superscript: 1 in "x^2_1" and 10 in "C^3_10". */
export function readLowered(cursor: Cursor, { name }: Extract<Node, { kind: "symbol" }>, exponent: Node): Node {
  const start = ++cursor.at;
  const choice = CHOICES[name] && choiceOf(cursor, name, readSmall(cursor), exponent);
  if (choice !== undefined || cursor.problem !== undefined) return choice ?? NOTHING;
  cursor.at = start;
  return { kind: "power", base: symbol(`${name}_${apart(scriptText(cursor))}`), exponent };
}

/**
 * Reads a bound such as n in "\sum^n_{k=1}". A bare letter takes no subscript, because the subscript belongs to the
 * sum.
 */
export function readBound(cursor: Cursor): Node {
  const token = peek(cursor);
  if (token?.kind !== "name") return cursor.grammar.exponent(cursor);
  cursor.at++;
  return symbol(token.text);
}

/**
 * Returns whether a node looks like a number of things, as n, n + 1 and 2n do. C with this subscript is a binomial
 * coefficient, not a name.
 */
function isCount(from: Node): boolean {
  return from.kind === "add" || from.kind === "multiply" || (from.kind === "symbol" && "nmNM".includes(from.name));
}

/** Reads ^{10}C_3 and {}_{10}C_3, starting at the script before the letter. */
export function readScripted(cursor: Cursor): Node {
  if (accept(cursor, "{")) cursor.at++;
  if (!accept(cursor, "^") && !accept(cursor, "_")) return fail(cursor, `expected a value${found(cursor)}`);
  const from = readSmall(cursor);
  const token = peek(cursor);
  const choice = token?.kind === "name" ? CHOICES[token.text] : undefined;
  cursor.at++;
  if (choice === undefined || (!accept(cursor, "_") && !accept(cursor, "^")))
    return fail(cursor, "it has a superscript or subscript with nothing before it");
  return { kind: "call", name: choice, args: [from, readSmall(cursor)] };
}

// Functions that read numbers whose subscript is their base, as in 1011_2.

export function inBase(cursor: Cursor, node: Extract<Node, { kind: "number" }>): Node {
  cursor.at++;
  const { digits } = node;
  const base = baseOf(cursor);
  if (base === undefined || digits === undefined) return fail(cursor, "its subscript names no base");
  if (!(base >= 2n && base <= 36n)) return fail(cursor, "its base is not from 2 to 36");
  const value = node.base === undefined ? valueInBase(digits, base) : undefined;
  if (value === undefined) return fail(cursor, `it has a digit that base ${base} does not have`);
  return { kind: "number", value: whole(value), base: Number(base), digits };
}

/** Reads a base written as "2", "{2}", "{(2)}" or "five". Returns undefined if there is none. */
function baseOf(cursor: Cursor): bigint | undefined {
  const word = peek(cursor, isAt(cursor, "{") ? 1 : 0);
  if (word?.kind === "word") {
    const isBraced = accept(cursor, "{");
    cursor.at++;
    return !isBraced || accept(cursor, "}") ? numberOfWords(word.text.toLowerCase()) : undefined;
  }
  const node = readSmall(cursor);
  return node.kind === "number" && node.value.den === 1n ? node.value.num : undefined;
}
