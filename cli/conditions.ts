/**
 * Parses conditions of --where: a name, a comparison and a value, e.g. "reward>0.1", "problem_type=Algebra" or
 * "problem!~![](". Comparisons and missing values mean the same for graded completions and for rows.
 */
import { exactNumber, isRawNumber, numberText } from "../envs/lib/exact-json.ts";

export interface Condition {
  /** The condition as the user wrote it. */
  readonly text: string;
  readonly name: string;
  readonly comparison: Comparison;
  /** The right side of the comparison, as text. */
  readonly bound: string;
  holds(value: unknown): boolean;
}

type Comparison = ">=" | "<=" | ">" | "<" | "=" | "!=" | "~" | "!~";

const CONDITION = /^\s*([^\s<>=!~]+)\s*(>=|<=|!=|!~|>|<|=|~)(.*)$/s;

const NUMBER = /^-?\d+(?:\.\d+)?$/;

const ORDERS: Readonly<Record<string, (value: number, bound: number) => boolean>> = {
  ">=": (value, bound) => value >= bound,
  "<=": (value, bound) => value <= bound,
  ">": (value, bound) => value > bound,
  "<": (value, bound) => value < bound,
};

/**
 * Matches the character after "=" that makes a comparison of another language, such as "==" or "=>". A value that
 * begins with such a character needs a space before it.
 */
const FOREIGN = /^[=<>~]/;

/** Parses a condition. Returns undefined if the text is not a condition. Comparisons such as "<" need a number. */
export function readCondition(text: string): Condition | undefined {
  const [, name = "", comparison = "", given = ""] = CONDITION.exec(text) ?? [];
  const bound = given.trim();
  const order = ORDERS[comparison];
  if (/^!?=$/.test(comparison) && FOREIGN.test(given)) return undefined;
  if (name === "" || (order !== undefined && !NUMBER.test(bound))) return undefined;
  const positive = (value: unknown): boolean => {
    if (order !== undefined) return order(numberOf(value), Number(bound));
    return comparison.endsWith("~") ? contains(value, bound) : equals(value, bound);
  };
  const isNegated = comparison.startsWith("!");
  const holds = (value: unknown): boolean => positive(value) !== isNegated;
  return { text, name, comparison: comparison as Comparison, bound, holds };
}

/**
 * Returns a value as a number. A text of digits counts too, because all values of CSV are texts. Returns NaN for
 * anything else, for which no comparison such as "<" holds.
 */
function numberOf(value: unknown): number {
  if (isRawNumber(value)) return Number(value.rawJSON);
  if (typeof value === "string") return NUMBER.test(value) ? Number(value) : NaN;
  return typeof value === "number" ? value : NaN;
}

/**
 * Returns whether a value equals the right side of a condition. A missing value equals nothing, not even an empty text.
 */
function equals(value: unknown, bound: string): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value !== "number" && !isRawNumber(value)) return textOf(value) === bound;
  // Compare numbers by their digits, because JavaScript would round two different 64-bit ids to the same number.
  return NUMBER.test(bound) && numberText(value) === numberText(exactNumber(bound));
}

function contains(value: unknown, bound: string): boolean {
  return value !== undefined && value !== null && textOf(value).includes(bound);
}

/** Returns a text unchanged, and any other value as JSON text. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
