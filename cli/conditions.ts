/**
 * Conditions of --where: a name, a comparison and a value, e.g. "reward>0.1", "problem_type=Algebra" or
 * "problem!~![](". Names, comparisons and what a missing value means are the same for graded completions and for rows. Pure.
 */
import { exactNumber, isRawNumber, numberText } from "../envs/lib/exact-json.ts";

export interface Condition {
  /** As it was given. */
  readonly text: string;
  readonly name: string;
  readonly comparison: Comparison;
  /** What is compared with, as text. */
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

/** Comparisons of other languages, such as "==" and "=>": a value that begins so is told by a space before it. */
const FOREIGN = /^[=<>~]/;

/** Undefined: the text is no condition. What orders wants a number. */
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

/** A value that is one, or a text that says one, as all values of CSV do; NaN, which no order holds for: it is none. */
function numberOf(value: unknown): number {
  if (isRawNumber(value)) return Number(value.rawJSON);
  if (typeof value === "string") return NUMBER.test(value) ? Number(value) : NaN;
  return typeof value === "number" ? value : NaN;
}

/** A value that is not there equals nothing, not even the empty text. */
function equals(value: unknown, bound: string): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value !== "number" && !isRawNumber(value)) return textOf(value) === bound;
  // By their digits: two ids of 64 bits may be one number to JavaScript.
  return NUMBER.test(bound) && numberText(value) === numberText(exactNumber(bound));
}

function contains(value: unknown, bound: string): boolean {
  return value !== undefined && value !== null && textOf(value).includes(bound);
}

/** A text as it is, and any other value as JSON. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
