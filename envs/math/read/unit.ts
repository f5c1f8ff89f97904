/** What stands behind a value: its unit, known or not, or what is said of a name in it. */
import { add, type Rational } from "../numbers/rational.ts";
import { type Node, symbol } from "../syntax.ts";
import { accept, type Cursor, fail, isAt, peek } from "./tokens.ts";
import { makesAnother } from "./amount-words.ts";
import { NUMBER_SETS, SYMBOLS, UNIT_LETTERS } from "./names.ts";

// Units behind a value: known ones by any of their names, other words as they stand.

/** What a unit measures, and how many of the first of its kind it is; rational, as two whole numbers. */
export interface UnitInfo {
  readonly dimension: string;
  readonly num: bigint;
  readonly den: bigint;
}

type Row = readonly [names: string, dimension: string, num: bigint, den?: bigint];

const ROWS: readonly Row[] = [
  ["m meter meters metre metres 米", "length", 1000n],
  ["cm centimeter centimeters centimetre centimetres 厘米", "length", 10n],
  ["mm millimeter millimeters millimetre millimetres 毫米", "length", 1n],
  ["dm decimeter decimeters 分米", "length", 100n],
  ["km kilometer kilometers kilometre kilometres 千米 公里", "length", 1_000_000n],
  ["in inch inches", "inch", 1n],
  ["ft foot feet", "inch", 12n],
  ["yd yard yards", "inch", 36n],
  ["mi mile miles", "inch", 63_360n],
  ["s sec secs second seconds 秒", "time", 1n],
  ["min mins minute minutes 分钟", "time", 60n],
  ["h hr hrs hour hours 小时", "time", 3600n],
  ["day days 天", "time", 86_400n],
  ["week weeks 周", "time", 604_800n],
  ["g gram grams 克", "mass", 1n],
  ["mg milligram milligrams 毫克", "mass", 1n, 1000n],
  ["kg kilogram kilograms 千克 公斤", "mass", 1000n],
  ["t ton tons tonne tonnes 吨", "mass", 1_000_000n],
  ["L l liter liters litre litres 升", "volume", 1000n],
  ["ml mL milliliter milliliters 毫升", "volume", 1n],
  ["$ dollar dollars usd", "money", 100n],
  ["¢ cent cents", "money", 1n],
  ["€ euro euros eur", "euro", 1n],
  ["¥ yuan rmb 元", "yuan", 1n],
  ["£ pound pounds", "pound", 1n],
  ["° degree degrees deg 度", "angle", 1n],
  ["rad radian radians", "radian", 1n],
  ["% percent pct prozent porciento パーセント 퍼센트 процент процента процентов", "percent", 1n],
];

export const UNITS: ReadonlyMap<string, UnitInfo> = new Map(
  ROWS.flatMap(([names, dimension, num, den = 1n]) =>
    names.split(" ").map((name) => [name, { dimension, num, den }] as const),
  ),
);

/** Units that are written in one word, and signs of some. */
const IN_ONE: Readonly<Record<string, string>> = {
  mph: "mi / h",
  kph: "km / h",
  kmh: "km / h",
  kmph: "km / h",
  newton: "N",
  newtons: "N",
  joule: "J",
  joules: "J",
  watt: "W",
  watts: "W",
  volt: "V",
  volts: "V",
};

const WORDS_MAX = 5;
/** Words that take part in a unit without being one. */
const SMALL = new Set(["of", "per", "the", "in", "a", "each", "total", "square", "cubic", "sq", "cu"]);

/** Words of sentences, which no unit has, in the languages of labels: "7 is not the answer", "7 è sbagliato". */
const NO_UNITS: ReadonlySet<string> = new Set(
  [
    "is are was not no never wrong incorrect if when where for than but because hence so then thus answer maybe either",
    "neither except unless without excluding",
    "es son está están est sont ist sind é são è sono это есть является",
    "ni nunca excepto salvo errado errada pas jamais sauf nicht kein keine nie niemals außer não nem exceto",
    "non né mai tranne sbagliato sbagliata errato errata scorretto не нет ни никогда кроме niet değil bukan không",
  ].flatMap((words) => words.split(" ")),
);
/** The same where words are not apart: "may be", "but not". */
const DOUBTING = /かもしれ|でしょう|だろう|빼고|말고|제외/;

/** The unit that stands here, up to a separator, in a spelling of our own; undefined: none. */
export function readUnit(cursor: Cursor): string | undefined {
  const token = peek(cursor);
  if (token?.kind !== "word" || startsRemark(cursor) || startsTo(cursor)) return undefined;
  const parts: string[] = [];
  for (let words = 0; ;) {
    const next = peek(cursor);
    if (next?.kind === "word" || (next?.kind === "name" && parts.length > 0)) {
      const isSaid = NO_UNITS.has(next.text.toLowerCase()) || DOUBTING.test(next.text);
      const isNone = isSaid || makesAnother(next.text);
      if (++words > WORDS_MAX || isNone || isVariable(next)) {
        fail(cursor, "words follow its value");
        return undefined;
      }
      parts.push(next.text);
      cursor.at++;
    } else if (isAt(cursor, "^")) parts.push(power(cursor));
    else if (isAt(cursor, "/") && (peek(cursor, 1)?.kind === "word" || peek(cursor, 1)?.kind === "name")) {
      parts.push("/");
      cursor.at++;
    } else if (isAt(cursor, "*") && peek(cursor, 1)?.kind === "word") cursor.at++;
    else if (isAt(cursor, ".")) cursor.at++;
    else break;
  }
  // "5 square" is 25, or lacks what it is a square of.
  if (RAISED.has(parts.at(-1)?.toLowerCase() ?? "")) {
    fail(cursor, "its unit ends where a length is missing");
    return undefined;
  }
  return spelling(parts);
}

/** The θ of "5 \text{θ}" and the x of "5 cm x". */
function isVariable({ kind, text }: { readonly kind: string; readonly text: string }): boolean {
  // 个 and 개 are what is counted.
  const isLetter = kind === "name" || /^[A-Za-zα-ω]$/.test(text) || SYMBOLS.has(text);
  return isLetter && !UNITS.has(text) && !UNIT_LETTERS.includes(text);
}

/** "3 to 4" is a ratio. */
export function startsTo(cursor: Cursor): boolean {
  const [word, next] = [peek(cursor), peek(cursor, 1)];
  return word?.kind === "word" && word.text === "to" && next?.kind === "number";
}

/** "^2" or "^{2}" behind a unit. */
function power(cursor: Cursor): string {
  const isBraced = isAt(cursor, "{", 1);
  const isNegative = isAt(cursor, "-", isBraced ? 2 : 1);
  const at = (isBraced ? 2 : 1) + (isNegative ? 1 : 0);
  const digit = peek(cursor, at);
  if (digit?.kind !== "number" || (isBraced && !isAt(cursor, "}", at + 1))) {
    fail(cursor, "its unit has a power that is no number");
    return "";
  }
  cursor.at += at + (isBraced ? 2 : 1);
  return `^${isNegative ? "-" : ""}${digit.value.num}`;
}

/** What the next word is raised to. */
const RAISED: ReadonlyMap<string, string> = new Map([
  ["square", "^2"],
  ["sq", "^2"],
  ["cubic", "^3"],
  ["cu", "^3"],
]);

/** Signs of units are told by their case: Mg is no mg, MW no mW, and H, S and T are no hours, seconds and tons. */
const IS_SIGN = /^(?:..?|.[A-Z].|..[A-Z])$/;
/** Signs that stand for nothing else in any case. */
const IN_ANY_CASE: ReadonlySet<string> = new Set(
  "cm dm km kg ft in yd hr hrs sec min usd eur rmb deg rad pct".split(" "),
);

/** A unit by any of its names, or a word as it stands, without its plural. */
function unitNamed(word: string): string {
  const lower = word.toLowerCase();
  if (IN_ONE[lower] !== undefined) return IN_ONE[lower];
  if (UNITS.has(word)) return word;
  const isSign = word !== lower && IS_SIGN.test(word) && !IN_ANY_CASE.has(lower);
  if (isSign) return word;
  return UNITS.has(lower) ? lower : lower.replace(/(?<=..)s$/, "");
}

/** 平方厘米 is cm^2. */
const RAISED_IN_ONE = /^(平方|立方)(.+)$/u;

/** "square feet" and "ft^2" are one; plurals of unknown words too. */
function spelling(parts: readonly string[]): string {
  if (/^(?:per cent|percentage|por ciento|por cento|pour cent|per cento)$/i.test(parts.join(" "))) return "percent";
  let raised = "";
  const words: string[] = [];
  for (const [i, part] of parts.entries()) {
    const lower = part.toLowerCase();
    // The "in" of "16 in^2" and "16 sq in" is an inch, and that of "16 boxes in total" none.
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
  // "square units" is no unit at all.
  return words.join(" ");
}

// Several units for one value.

/** Parts of a degree. */
const MARKS: readonly (readonly [mark: string, den: bigint])[] = [
  ["'", 60n],
  ['"', 3600n],
];

/** 22° 30' 36'', where a number of degrees was read. */
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

/** The C of 25 °C, at the end. */
function scaleOfDegrees(cursor: Cursor): string {
  const [letter, next] = [peek(cursor), peek(cursor, 1)];
  const isScale = letter !== undefined && letter.kind !== "number" && /^[CF]$/.test(letter.text) && next === undefined;
  if (isScale) cursor.at++;
  return isScale ? letter.text : "";
}

/** Seconds may be written with two marks of minutes. */
function isMark(cursor: Cursor, mark: string): boolean {
  return isAt(cursor, mark) || (mark === '"' && isAt(cursor, "'") && isAt(cursor, "'", 1));
}

function plus(a: Rational, b: Rational): Rational {
  return add(a, b, { left: Infinity }) ?? a;
}

/** "1 hour 30 minutes" as 90 minutes; undefined: what follows is no smaller unit of the same kind. */
export function joinedUnits(first: Node, second: Node): Node | undefined {
  if (first.kind !== "unit" || second.kind !== "unit") return undefined;
  const [large, small] = [UNITS.get(first.unit), UNITS.get(second.unit)];
  if (first.node.kind !== "number" || second.node.kind !== "number" || large?.dimension !== small?.dimension)
    return undefined;
  if (large === undefined || small === undefined || large.num * small.den <= small.num * large.den) return undefined;
  const { num, den } = first.node.value;
  const carried = { num: num * large.num * small.den, den: den * large.den * small.num };
  return { kind: "unit", node: { kind: "number", value: plus(second.node.value, carried) }, unit: second.unit };
}

// What is said of a name behind an answer: "for any constant c", "where k is an integer".

const STARTS: ReadonlySet<string> = new Set(["for", "where", "with"]);
const WORDS: ReadonlySet<string> = new Set(
  "any all every each some constant constants real reals number numbers integer integers positive negative nonnegative natural rational arbitrary is are be a an".split(
    " ",
  ),
);

export function startsRemark(cursor: Cursor): boolean {
  return remarkAt(cursor) !== undefined;
}

/** As a condition: that a name is a whole number, or, of a constant, any real one. */
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
  /** Where it says "x ∈ ℝ". */
  readonly set: string | undefined;
  readonly end: number;
}

/** Only of one name and words that are known, up to the end. */
function remarkAt(cursor: Cursor): Remark | undefined {
  const first = peek(cursor);
  const isBracketed = first?.kind === "op" && first.text === "(";
  const start = peek(cursor, isBracketed ? 1 : 0);
  const isIntroduced = start?.kind === "word" && STARTS.has(start.text.toLowerCase());
  const verb = peek(cursor, isBracketed ? 2 : 1);
  const isSentence = start?.kind === "name" && verb?.kind === "word" && verb.text === "is";
  if (!isIntroduced && !isBracketed && !isSentence) return undefined;
  const words: string[] = [];
  let name: string | undefined;
  let ahead = (isBracketed ? 1 : 0) + (isIntroduced ? 1 : 0);
  for (; ; ahead++) {
    const token = peek(cursor, ahead);
    const word = token?.kind === "word" ? token.text.toLowerCase() : "";
    if (WORDS.has(word)) words.push(word);
    else if ((token?.kind === "name" || /^[a-z]$/.test(word)) && name === undefined)
      name = (token as { text: string }).text;
    else break;
  }
  const [sign, letter] = [peek(cursor, ahead), peek(cursor, ahead + 1)];
  const isIn = sign?.kind === "op" && sign.text === "∈" && letter?.kind === "name";
  const set = isIn ? (NUMBER_SETS[letter.text] ?? letter.text) : undefined;
  if (isIn) ahead += 2;
  const last = peek(cursor, ahead);
  const isEnd = last === undefined || (last.kind === "op" && [",", ".", ")", "}", "\\}"].includes(last.text));
  return isEnd && name !== undefined && words.length > 0 ? { name, words, set, end: cursor.at + ahead } : undefined;
}
