/**
 * Conditions of --where: a name, a comparison and a value, e.g. "reward>0.1", "problem_type=Algebra" or
 * "problem!~![](". Names, comparisons and what a missing value means are the same for graded completions and for rows. Pure.
 */

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
    if (order !== undefined) return typeof value === "number" && order(value, Number(bound));
    return comparison.endsWith("~") ? contains(value, bound) : equals(value, bound);
  };
  const isNegated = comparison.startsWith("!");
  const holds = (value: unknown): boolean => positive(value) !== isNegated;
  return { text, name, comparison: comparison as Comparison, bound, holds };
}

/** A value that is not there equals nothing, not even the empty text. */
function equals(value: unknown, bound: string): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === "number") return NUMBER.test(bound) && value === Number(bound);
  return textOf(value) === bound;
}

function contains(value: unknown, bound: string): boolean {
  return value !== undefined && value !== null && textOf(value).includes(bound);
}

/** A text as it is, and any other value as JSON. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
