/** Defines the expression of an arithmetic task as a tree, and writes expressions for prompts and pictures. */
import { assertNever } from "../../lib/assert-never.ts";

export type Expression =
  | { readonly kind: "integer"; readonly value: number }
  /** A positive fraction in lowest terms, with a denominator above 1. */
  | { readonly kind: "fraction"; readonly num: number; readonly den: number }
  /** The decimal units / 10^places, whose last digit is not 0: units 275 and places 2 for 2.75. */
  | { readonly kind: "decimal"; readonly units: number; readonly places: number }
  | { readonly kind: Binary; readonly left: Expression; readonly right: Expression }
  | { readonly kind: "power"; readonly base: Expression; readonly exponent: number }
  | { readonly kind: "percentage"; readonly percent: number; readonly of: Expression }
  | { readonly kind: "remainder"; readonly of: Expression; readonly modulus: number };

/** Operations on two expressions. The operands of gcd and lcm are whole numbers. */
export type Binary = "sum" | "difference" | "product" | "quotient" | "gcd" | "lcm";

export function partsOf(expression: Expression): readonly Expression[] {
  if ("left" in expression) return [expression.left, expression.right];
  if (expression.kind === "power") return [expression.base];
  return "of" in expression ? [expression.of] : [];
}

/** Returns the text of each number in the expression, as the prompt writes it. */
export function literalsOf(expression: Expression): readonly string[] {
  const below = partsOf(expression).flatMap(literalsOf);
  switch (expression.kind) {
    case "integer":
    case "fraction":
    case "decimal":
      return [leafText(expression)];
    case "power":
      return [...below, `${expression.exponent}`];
    case "percentage":
      return [`${expression.percent}`, ...below];
    case "remainder":
      return [...below, `${expression.modulus}`];
    default:
      return below;
  }
}

type Leaf = Extract<Expression, { kind: "integer" | "fraction" | "decimal" }>;

function leafText(leaf: Leaf): string {
  if (leaf.kind === "integer") return `${leaf.value}`;
  return leaf.kind === "fraction" ? `${leaf.num}/${leaf.den}` : decimalText(leaf.units, leaf.places);
}

/** Writes a decimal: 275 with two places is 2.75. */
function decimalText(units: number, places: number): string {
  const digits = `${units}`.padStart(places + 1, "0");
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

// Precedence of operators: a greater number binds more tightly. An operand that binds less tightly than the operator
// around it is put in parentheses.

const SUM = 1;
const PRODUCT = 2;
const POWER = 3;
const ATOM = 4;

interface Written {
  readonly text: string;
  readonly tightness: number;
}

/**
 * Notation in which expressions are written: plain text or TeX. Operands already have the parentheses that they need,
 * except those of `quotient`, which adds them itself.
 */
interface Notation {
  readonly open: string;
  readonly close: string;
  readonly times: string;
  fraction(num: number, den: number): Written;
  quotient(left: Written, right: Written): Written;
  power(base: string, exponent: number): string;
  percentage(percent: number, of: string): string;
  remainder(of: string, modulus: number): string;
  divisor(kind: "gcd" | "lcm", left: string, right: string): string;
}

const PLAIN: Notation = {
  open: "(",
  close: ")",
  times: "*",
  fraction: (num, den) => ({ text: `${num}/${den}`, tightness: PRODUCT }),
  quotient: (left, right) => ({
    text: `${within(PLAIN, left, PRODUCT)} / ${within(PLAIN, right, POWER)}`,
    tightness: PRODUCT,
  }),
  power: (base, exponent) => `${base}^${exponent}`,
  percentage: (percent, of) => `(${percent}% of ${of})`,
  remainder: (of, modulus) => `(${of} mod ${modulus})`,
  divisor: (kind, left, right) => `${kind}(${left}, ${right})`,
};

const TEX: Notation = {
  open: "\\left(",
  close: "\\right)",
  times: "\\cdot",
  fraction: (num, den) => ({ text: `\\frac{${num}}{${den}}`, tightness: PRODUCT }),
  quotient: (left, right) => ({ text: `\\frac{${left.text}}{${right.text}}`, tightness: PRODUCT }),
  power: (base, exponent) => `${base}^{${exponent}}`,
  percentage: (percent, of) => `\\left(${percent}\\%\\text{ of }${of}\\right)`,
  remainder: (of, modulus) => `\\left(${of}\\bmod ${modulus}\\right)`,
  divisor: (kind, left, right) => `\\operatorname{${kind}}\\left(${left},\\ ${right}\\right)`,
};

/** Writes an expression as in the prompt: "(3/4 + 2.5) * 6 - (17^5 mod 9)". */
export function textOf(expression: Expression): string {
  return written(expression, PLAIN).text;
}

/** Writes an expression in TeX, for pictures. */
export function texOf(expression: Expression): string {
  return written(expression, TEX).text;
}

function within({ open, close }: Notation, { text, tightness }: Written, least: number): string {
  return tightness >= least ? text : `${open}${text}${close}`;
}

function written(expression: Expression, notation: Notation): Written {
  const inside = (part: Expression, least: number): string => within(notation, written(part, notation), least);
  const atom = (text: string): Written => ({ text, tightness: ATOM });
  switch (expression.kind) {
    case "integer":
      // A negative number always gets parentheses, because this function does not know which text comes before it.
      return atom(expression.value < 0 ? `(${expression.value})` : `${expression.value}`);
    case "fraction":
      return notation.fraction(expression.num, expression.den);
    case "decimal":
      return atom(leafText(expression));
    case "sum":
      return { text: `${inside(expression.left, SUM)} + ${inside(expression.right, PRODUCT)}`, tightness: SUM };
    case "difference":
      return { text: `${inside(expression.left, SUM)} - ${inside(expression.right, PRODUCT)}`, tightness: SUM };
    case "product": {
      const text = `${inside(expression.left, PRODUCT)} ${notation.times} ${inside(expression.right, POWER)}`;
      return { text, tightness: PRODUCT };
    }
    case "quotient":
      return notation.quotient(written(expression.left, notation), written(expression.right, notation));
    case "power":
      return { text: notation.power(inside(expression.base, ATOM), expression.exponent), tightness: POWER };
    case "percentage":
      return atom(notation.percentage(expression.percent, inside(expression.of, ATOM)));
    case "remainder":
      return atom(notation.remainder(inside(expression.of, POWER), expression.modulus));
    case "gcd":
    case "lcm":
      return atom(notation.divisor(expression.kind, inside(expression.left, SUM), inside(expression.right, SUM)));
    default:
      return assertNever(expression);
  }
}

/** Returns a key that is equal for expressions that differ only in the order of commutative operands. */
export function invariantOf(expression: Expression): string {
  switch (expression.kind) {
    case "integer":
    case "fraction":
    case "decimal":
      return leafText(expression);
    case "sum":
    case "product":
    case "gcd":
    case "lcm":
      return `${expression.kind}(${operandsOf(expression, expression.kind).map(invariantOf).sort().join(",")})`;
    case "difference":
    case "quotient":
      return `${expression.kind}(${invariantOf(expression.left)},${invariantOf(expression.right)})`;
    case "power":
      return `power(${invariantOf(expression.base)},${expression.exponent})`;
    case "percentage":
      return `percentage(${expression.percent},${invariantOf(expression.of)})`;
    case "remainder":
      return `remainder(${invariantOf(expression.of)},${expression.modulus})`;
    default:
      return assertNever(expression);
  }
}

/** Returns the operands of nested operations of the same kind: 2, 3 and 4 for 2 + (3 + 4). */
function operandsOf(expression: Expression, kind: Expression["kind"]): readonly Expression[] {
  if (expression.kind !== kind || !("left" in expression)) return [expression];
  return [...operandsOf(expression.left, kind), ...operandsOf(expression.right, kind)];
}
