/** Parses the text after a value: its unit, known or unknown, or a remark about a variable. */
import { add, type Rational } from "../numbers/rational.ts";
import { type Node, symbol } from "../syntax.ts";
import { accept, type Cursor, fail, isAt, peek, type Token } from "./tokens.ts";
import { makesAnother } from "./amount-words.ts";
import { NUMBER_SETS, SYMBOLS, UNIT_LETTERS, wordSet } from "./names.ts";
import { besideUnit, UNITS, unitNamed } from "./unit-names.ts";

// Functions that read a unit after a value. Known units get their canonical name; other words are kept.

const WORDS_MAX = 5;
/** Words that may occur in the name of a unit without being a unit, as in "square cm per second". */
const SMALL = wordSet("of per the in a each total square cubic sq cu");

/**
 * Words of sentences that no unit contains, in the languages of envs/answers/label-words.ts: "7 is not the answer", "7
 * è sbagliato".
 */
const NO_UNITS: ReadonlySet<string> = new Set(
  [
    "approximately approx roughly about around nearly almost probably perhaps possibly ish",
    "environ ungefähr etwa circa aproximadamente около примерно приблизительно",
    "is are was not no never wrong incorrect if when where for than but because hence so then thus answer maybe either",
    "neither except unless without excluding",
    "es son está están est sont ist sind é são è sono это есть является",
    "ni nunca excepto salvo errado errada pas jamais sauf nicht kein keine nie niemals außer não nem exceto",
    "non né mai tranne sbagliato sbagliata errato errata scorretto не нет ни никогда кроме niet değil bukan không",
  ].flatMap((words) => words.split(" ")),
);
/**
 * Matches words that cast doubt on a value, such as "may be" and "but not", in languages without spaces between words.
 */
const DOUBTING = /左右|かもしれ|でしょう|だろう|빼고|말고|제외/;

/**
 * Reads the unit at the cursor, up to a separator. Returns its canonical spelling, or undefined if there is none.
 */
export function readUnit(cursor: Cursor): string | undefined {
  const token = peek(cursor);
  const isUnit = token?.kind === "word" || (isAt(cursor, "/") && peek(cursor, 1)?.kind === "word");
  if (!isUnit || startsRemark(cursor) || startsTo(cursor)) return undefined;
  const parts: string[] = [];
  for (let words = 0; ;) {
    const next = peek(cursor);
    if (next?.kind === "word" || (next?.kind === "name" && parts.length > 0)) {
      const isSaid = NO_UNITS.has(next.text.toLowerCase()) || DOUBTING.test(next.text);
      const isPower = POWERS.has(next.text) && parts.some((part) => part === "/" || part === "per");
      const isNone = isSaid || (makesAnother(next.text) && !isPower);
      if (++words > WORDS_MAX || isNone || isVariable(next)) {
        fail(cursor, "words that are no unit follow its value");
        return undefined;
      }
      parts.push(isPower ? (POWERS.get(next.text) as string) : next.text);
      cursor.at++;
    } else if (isAt(cursor, "^")) parts.push(power(cursor));
    else if (isAt(cursor, "/") && (peek(cursor, 1)?.kind === "word" || peek(cursor, 1)?.kind === "name")) {
      parts.push("/");
      cursor.at++;
    } else if (isAt(cursor, "*") && isUnitToken(peek(cursor, 1))) cursor.at++;
    else if (isAt(cursor, ".")) cursor.at++;
    else break;
  }
  // The unit "square" of "5 square" is ambiguous: it may mean 25, or a word such as "metres" may be missing.
  if (RAISED.has(parts.at(-1)?.toLowerCase() ?? "")) {
    fail(cursor, "a unit is missing after the word square or cubic");
    return undefined;
  }
  return spelling(parts);
}

/** Returns whether a token is a word, or a letter that is a unit, such as h in "km·h". */
export function isUnitToken(token: Token | undefined): boolean {
  return token?.kind === "word" || (token?.kind === "name" && UNITS.has(token.text));
}

/** Returns whether a token is a variable: θ in "5 \text{θ}" or x in "5 cm x". */
function isVariable({ kind, text }: { readonly kind: string; readonly text: string }): boolean {
  // 个 and 개 are counters ("pieces"), not variables.
  const isLetter = kind === "name" || /^[A-Za-zα-ω]$/.test(text) || SYMBOLS.has(text);
  return isLetter && !UNITS.has(text) && !UNIT_LETTERS.includes(text);
}

/** Returns whether "to" and a number follow, as in the ratio "3 to 4". */
export function startsTo(cursor: Cursor): boolean {
  const [word, next] = [peek(cursor), peek(cursor, 1)];
  return word?.kind === "word" && word.text === "to" && next?.kind === "number";
}

/** Reads the power of a unit, "^2" or "^{2}". */
function power(cursor: Cursor): string {
  const isBraced = isAt(cursor, "{", 1);
  const isNegative = isAt(cursor, "-", isBraced ? 2 : 1);
  const at = (isBraced ? 2 : 1) + (isNegative ? 1 : 0);
  const digit = peek(cursor, at);
  if (digit?.kind !== "number" || (isBraced && !isAt(cursor, "}", at + 1))) {
    fail(cursor, "its unit has a power that is not a number");
    return "";
  }
  cursor.at += at + (isBraced ? 2 : 1);
  return `^${isNegative ? "-" : ""}${digit.value.num}`;
}

/** Words that raise the unit before them to a power, as in "per second squared". */
const POWERS: ReadonlyMap<string, string> = new Map(Object.entries({ squared: "^2", cubed: "^3" }));

/** Words that raise the unit after them to a power, as in "square metre". */
const RAISED: ReadonlyMap<string, string> = new Map(Object.entries({ square: "^2", sq: "^2", cubic: "^3", cu: "^3" }));

/** Matches 平方厘米, which is cm^2, and similar words. */
const RAISED_IN_ONE = /^(平方|立方)(.+)$/u;

/**
 * Returns the canonical spelling of a unit: "square feet" and "ft^2" are equal, and unknown words lose their plural.
 */
function spelling(parts: readonly string[]): string {
  if (/^(?:per cent|percentage|por ciento|por cento|pour cent|per cento)$/i.test(parts.join(" "))) return "%";
  let raised = "";
  const words: string[] = [];
  for (const [i, part] of parts.entries()) {
    const lower = part.toLowerCase();
    // In "16 in^2" and "16 sq in", "in" is an inch. In "16 boxes in total" it is not.
    const isInch = lower === "in" && (parts.length === 1 || raised !== "" || parts[i + 1]?.startsWith("^"));
    if (RAISED.has(lower)) raised = RAISED.get(lower) as string;
    else if (lower === "per") words.push("/");
    else if (part.startsWith("^") && words.length > 0) words.push(`${words.pop()}${part}`);
    else if (!SMALL.has(lower) || isInch === true) {
      const [, power, base] = RAISED_IN_ONE.exec(part) ?? [];
      words.push(base !== undefined && UNITS.has(base) ? `${base}^${power === "平方" ? 2 : 3}` : unitNamed(part));
      if (raised !== "") words.push(`${words.pop()}${raised}`);
      raised = "";
    }
  }
  // "square units" becomes "", because it names no unit.
  return words.join(" ");
}

// Functions that read values of several units, e.g. 5 ft 3 in.

/** Signs for minutes and seconds of an angle, with their number per degree. */
const MARKS: readonly (readonly [mark: string, den: bigint])[] = [
  ["'", 60n],
  ['"', 3600n],
];

/** Reads the rest of 22° 30' 36'', after the number of degrees. */
export function inDegrees(cursor: Cursor, degrees: Node): Node {
  let node = degrees;
  for (let next = peek(cursor); next?.kind === "number" && node.kind === "number"; next = peek(cursor)) {
    const start = cursor.at++;
    accept(cursor, "^");
    const isBraced = accept(cursor, "{");
    const [mark, den] = MARKS.findLast(([each]) => isMark(cursor, each)) ?? ["", 1n];
    cursor.at += mark === '"' && !isAt(cursor, mark) ? 2 : 1;
    if (mark === "" || (isBraced && !accept(cursor, "}"))) {
      cursor.at = start;
      break;
    }
    node = { kind: "number", value: plus(node.value, { num: next.value.num, den: next.value.den * den }) };
  }
  return { kind: "unit", node, unit: `°${scaleOfDegrees(cursor)}` };
}

/** Reads C or F in 25 °C at the end of the answer. */
function scaleOfDegrees(cursor: Cursor): string {
  const [letter, next] = [peek(cursor), peek(cursor, 1)];
  const isScale = letter !== undefined && letter.kind !== "number" && /^[CF]$/.test(letter.text) && next === undefined;
  if (isScale) cursor.at++;
  return isScale ? letter.text : "";
}

/**
 * Returns whether this mark for minutes or seconds of an angle follows. Seconds may be written as two marks of minutes.
 */
function isMark(cursor: Cursor, mark: string): boolean {
  return isAt(cursor, mark) || (mark === '"' && isAt(cursor, "'") && isAt(cursor, "'", 1));
}

function plus(a: Rational, b: Rational): Rational {
  return add(a, b, { left: Infinity }) ?? a;
}

/**
 * Joins two quantities: "1 hour 30 minutes" becomes 90 minutes. Returns undefined if the second unit is not a smaller
 * unit of the same dimension.
 */
export function joinedUnits(first: Node, second: Node): Node | undefined {
  if (first.kind !== "unit" || second.kind !== "unit") return undefined;
  const [large, small] = [UNITS.get(besideUnit(first.unit, second.unit)), UNITS.get(second.unit)];
  if (first.node.kind !== "number" || second.node.kind !== "number" || large?.dimension !== small?.dimension)
    return undefined;
  if (large === undefined || small === undefined || large.num * small.den <= small.num * large.den) return undefined;
  const { num, den } = first.node.value;
  const carried = { num: num * large.num * small.den, den: den * large.den * small.num };
  return { kind: "unit", node: { kind: "number", value: plus(second.node.value, carried) }, unit: second.unit };
}

// Functions that skip remarks about a variable after an answer, e.g. "for any constant c" or "where k is an integer".

const STARTS = wordSet("for where with");
const WORDS = wordSet(
  "any all every each some constant constants real reals number numbers integer integers positive negative nonnegative natural whole rational arbitrary is are be being a an",
);

export function startsRemark(cursor: Cursor): boolean {
  return remarkAt(cursor) !== undefined;
}

/**
 * Reads a remark such as "where k is an integer" as a membership, k ∈ ℤ. The remark states the set in symbols, or its
 * words mean ℕ, ℤ, ℝ+ or ℝ.
 */
export function readRemark(cursor: Cursor): Node | undefined {
  const remark = remarkAt(cursor);
  if (remark === undefined) return undefined;
  cursor.at = remark.end;
  accept(cursor, ")");
  const isWhole = remark.words.some((word) => word.startsWith("integer") || word === "natural");
  const isPositive = remark.words.some((word) => ["positive", "nonnegative", "natural"].includes(word));
  const told = isWhole ? (isPositive ? "ℕ" : "ℤ") : remark.words.includes("positive") ? "ℝ+" : "ℝ";
  return { kind: "relation", parts: [symbol(remark.name), symbol(remark.set ?? told)], operators: ["∈"] };
}

interface Remark {
  readonly name: string;
  readonly words: readonly string[];
  /** The set that the remark states in symbols, as in "x ∈ ℝ". Undefined if it states none. */
  readonly set: string | undefined;
  readonly end: number;
}

/** Returns whether a token is one of the two letters of the word "an". */
const isArticle = (token: Token | undefined): boolean => token?.kind === "name" && token.run === "an";

/**
 * Reads the remark at the cursor, without moving it. A remark has one name and only known words, and a separator or the
 * end follows it. Returns undefined if there is none.
 */
function remarkAt(cursor: Cursor): Remark | undefined {
  const first = peek(cursor);
  const isBracketed = first?.kind === "op" && first.text === "(";
  const start = peek(cursor, isBracketed ? 1 : 0);
  const isIntroduced = start?.kind === "word" && STARTS.has(start.text.toLowerCase());
  const verb = peek(cursor, isBracketed ? 2 : 1);
  const isLetter = start?.kind === "name" || (start?.kind === "word" && /^[b-z]$/.test(start.text));
  const isSentence = isLetter && (isArticle(verb) || (verb?.kind === "word" && WORDS.has(verb.text)));
  if (!isIntroduced && !isBracketed && !isSentence) return undefined;
  const words: string[] = [];
  let name: string | undefined;
  let ahead = (isBracketed ? 1 : 0) + (isIntroduced ? 1 : 0);
  for (; ; ahead++) {
    const token = peek(cursor, ahead);
    const word = token?.kind === "word" ? token.text.toLowerCase() : "";
    if (isArticle(token)) continue;
    if (WORDS.has(word)) words.push(word);
    else if ((token?.kind === "name" || /^[a-z]$/.test(word)) && name === undefined)
      name = (token as { text: string }).text;
    else break;
  }
  const [sign, letter] = [peek(cursor, ahead), peek(cursor, ahead + 1)];
  const isIn = sign !== undefined && sign.kind !== "number" && /^(?:∈|in)$/.test(sign.text) && letter?.kind === "name";
  const set = isIn ? (NUMBER_SETS[letter.text] ?? letter.text) : undefined;
  if (isIn) ahead += 2;
  const last = peek(cursor, ahead);
  const isEnd = last === undefined || (last.kind === "op" && [",", ".", ")", "}", "\\}"].includes(last.text));
  return isEnd && name !== undefined && words.length + (isIn ? 1 : 0) > 0
    ? { name, words, set, end: cursor.at + ahead }
    : undefined;
}
