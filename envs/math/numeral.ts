/**
 * Answers of generated tasks, which are values: whether a text is one, and not a calculation that is still to be done. An
 * expression equal to the value would be no answer, for the task itself is such an expression.
 */
import { equalsInteger, type Rational } from "../lib/rational.ts";
import type { Facts } from "../facts.ts";
import { narrow } from "../lib/text.ts";
import type { Comparison } from "./compare/outcome.ts";
import { compareMath, readMath } from "./value.ts";

/** A whole number or a fraction, with the sign before it. */
export function numeralOf({ num, den }: Rational): string {
  return equalsInteger({ num: den, den: 1 }, 1) ? `${num}` : `${num}/${den}`;
}

const LENGTH_MAX = 300;

/** Digits, perhaps with commas or spaces between thousands. */
const WHOLE = "\\d+(?:[, ]\\d{3})*";
const DECIMAL = `(?:${WHOLE}(?:\\.\\d*)?|\\.\\d+)(?:\\\\overline\\{\\d+\\})?`;
const PART = `(?:${WHOLE}|\\([+-]?${WHOLE}\\))`;
const SLASHED = `(?:\\d+ )?${PART}/${PART}`;
const BRACED = `(?:\\d|\\{[+-]?${WHOLE}\\})`;
const STACKED = `(?:\\d+)? ?\\\\frac${BRACED}${BRACED}`;
const NUMERAL = new RegExp(`^[+-]?(?:${DECIMAL}|${SLASHED}|${STACKED})$`);
const ENCLOSED = /^([+-]?)\((.*)\)$/;

/** Whether a text is a whole number, a decimal, a fraction or a mixed number, however it is written. */
export function isNumeral(text: string): boolean {
  if (text.length > LENGTH_MAX) return false;
  const bare = plain(text);
  if (NUMERAL.test(bare)) return true;
  const [, sign = "", inner = ""] = ENCLOSED.exec(bare) ?? [];
  return NUMERAL.test(`${sign}${inner}`);
}

/**
 * Marks of LaTeX that change nothing taken away, and one spelling for what has several. Of white space one space is left
 * between two digits, where it tells a mixed number from a fraction.
 */
export function plain(text: string): string {
  return Array.from(text, (each) => String.fromCodePoint(narrow(each.codePointAt(0) as number)))
    .join("")
    .replaceAll(/[¼-¾⅐-⅞]/g, (each) => ` ${each.normalize("NFKC").replace("⁄", "/")}`)
    .replaceAll(/[−–‐‑]/g, "-")
    .replaceAll("{,}", ",")
    .replaceAll(/\\(?:left|right)(?![a-z])|\\[,!]/g, "")
    .replaceAll(/\\[;: ]|\s+/g, " ")
    .replaceAll(/(?<!\d) +| +(?!\d| )/g, "")
    .replaceAll(/\\[dtc]frac/g, "\\frac");
}

/**
 * The facts of values against those expected, each compared as any answer of `math` is. The expected ones are not shown;
 * `wrong` says what is wrong with a value.
 */
export function gradeValues(
  expected: readonly Rational[],
  values: readonly string[],
  wrong: (value: string, i: number) => string,
): Facts {
  const compared = expected.map((value, i) => compareTexts(numeralOf(value), values[i] ?? ""));
  const at = compared.findIndex(({ kind }) => kind === "different");
  if (at >= 0) return wrongFacts(wrong((values[at] ?? "").slice(0, 100), at));
  const undecided = compared.find((each) => each.kind === "undecided");
  if (undecided !== undefined) {
    const components = [{ name: "correctness", value: undefined, reason: undecided.reason }];
    return { kind: "graded", components, solved: false, violation: `it cannot be told: ${undecided.reason}` };
  }
  return { kind: "graded", components: [{ name: "correctness", value: 1 }], solved: true };
}

export function wrongFacts(violation: string): Facts {
  return { kind: "graded", components: [{ name: "correctness", value: 0 }], solved: false, violation };
}

function compareTexts(expected: string, given: string): Comparison {
  const [gold, answer] = [readMath(expected), readMath(given)];
  if (gold.kind === "malformed") throw new Error(`bug: the value ${expected} cannot be read`);
  if (answer.kind === "malformed") return { kind: "different", reason: answer.reason };
  return compareMath(gold.answer, answer.answer);
}
