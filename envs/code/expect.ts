/** Whether what a program gave is what a test expects. */
import { assertNever } from "../lib/assert-never.ts";
import type { PyValue } from "../ports.ts";
import { equals, EXACTLY, ROUNDING, sameItems } from "./compare.ts";
import { distinct, fold, itemsOf, lengthOf, magnitude } from "./folding.ts";
import type { CallTest, Expectation, View } from "./instance.ts";
import { isList, numberOf, pyFloat, sequenceOf, show, tagged, typeName, wholeOf } from "./value.ts";

/** Whether a value is what the test expects of a call; one that its views cannot be taken of is not. */
export function meets({ views, expected }: CallTest, value: PyValue): boolean {
  let seen: PyValue | undefined = value;
  // What is expected of a sorted list is sorted, so that two lists of the same items are the same list.
  const sorts = views.at(-1) === "sorted" && expected.kind === "equal" && isList(expected.value);
  for (const view of sorts ? views.slice(0, -1) : views) seen = seen === undefined ? undefined : seenBy(view, seen);
  if (seen === undefined) return false;
  if (!sorts) return holds(expected, seen);
  const items = itemsOf(seen);
  return items !== undefined && sameItems(sequenceOf(expected.value) ?? [], items);
}

/** Undefined: Python would raise an exception. */
function seenBy(view: View, value: PyValue): PyValue | undefined {
  if (typeof view === "object") return "round" in view ? rounded(value, view.round) : fold("-", value, view.minus);
  switch (view) {
    case "len":
      return lengthOf(value);
    case "type":
      return typeName(value);
    case "abs":
      return numberOf(value) === undefined ? undefined : magnitude(value);
    case "list":
    case "sorted":
      return itemsOf(value) ?? keysOf(value);
    case "tuple": {
      const items = itemsOf(value) ?? keysOf(value);
      return items && { tuple: items };
    }
    case "set": {
      const items = itemsOf(value) ?? keysOf(value);
      return items && { set: distinct(items) };
    }
    default:
      return assertNever(view);
  }
}

function keysOf(value: PyValue): readonly PyValue[] | undefined {
  return tagged(value, "dict")?.dict.map(([key]) => key);
}

function rounded(value: PyValue, digits: number): PyValue | undefined {
  if (wholeOf(value) !== undefined) return value;
  const number = numberOf(value);
  if (number === undefined) return undefined;
  return Number.isFinite(number) ? pyFloat(Number(number.toFixed(digits))) : value;
}

function holds(expected: Expectation, value: PyValue): boolean {
  switch (expected.kind) {
    case "equal": {
      const { tolerance = ROUNDING, json = false } = expected;
      return equals(expected.value, value, { tolerance, json });
    }
    case "unequal":
      return tagged(value, "float") === undefined
        ? !equals(expected.value, value)
        : numberOf(expected.value) !== numberOf(value);
    case "is":
      return value === expected.value;
    case "in":
      return expected.values.some((one) => equals(one, value, { ...EXACTLY, json: expected.json === true }));
    case "truth":
      return isTrue(value) === expected.value;
    case "raises":
      return false;
    default:
      return lies(expected.kind, numberOf(value), expected.value);
  }
}

function lies(side: "<" | "<=" | ">" | ">=", value: number | undefined, limit: number): boolean {
  if (value === undefined) return false;
  if (side === "<") return value < limit;
  if (side === "<=") return value <= limit;
  return side === ">" ? value > limit : value >= limit;
}

/** What `if` makes of a value; undefined: nobody can tell, for it is of a type of its own. */
function isTrue(value: PyValue): boolean | undefined {
  if (value === null) return false;
  const number = numberOf(value);
  if (number !== undefined) return number !== 0;
  const length = lengthOf(value);
  return length === undefined ? undefined : wholeOf(length) !== "0";
}

/** Exceptions of Python that are others too (The Python Standard Library, Exception hierarchy). */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  ArithmeticError: ["ZeroDivisionError", "OverflowError", "FloatingPointError"],
  LookupError: ["IndexError", "KeyError"],
  ValueError: ["UnicodeDecodeError", "UnicodeEncodeError", "UnicodeError", "json.decoder.JSONDecodeError"],
  RuntimeError: ["RecursionError", "NotImplementedError"],
  OSError: ["FileNotFoundError", "PermissionError", "TimeoutError", "ConnectionError"],
  NameError: ["UnboundLocalError"],
};

/** What is no exception of the program's: it does not compile, or it ends. */
const NO_EXCEPTIONS: ReadonlySet<string> = new Set(["SyntaxError", "IndentationError", "TabError", "SystemExit"]);

/** Whether what was raised, as the sandbox words it, is one of these exceptions. */
export function isRaised(names: readonly string[], error: string): boolean {
  const raised = /^[\w.]+/.exec(error)?.[0] ?? "";
  return names.some(
    (name) =>
      name === raised ||
      (name === "Exception" && !NO_EXCEPTIONS.has(raised)) ||
      (Object.hasOwn(KINDS, name) && KINDS[name]?.includes(raised)),
  );
}

/** What a test expects, in words. */
export function expectationWords({ expected, views }: CallTest, charsMax: number): string {
  const seen = views
    .map((view) => (typeof view === "string" ? `${view} ` : "round" in view ? "rounded " : "gap "))
    .join("");
  switch (expected.kind) {
    case "equal":
      return `${seen}${show(expected.value, charsMax)}`;
    case "unequal":
      return `${seen}anything but ${show(expected.value, charsMax)}`;
    case "is":
      return `${seen}${show(expected.value, charsMax)} itself`;
    case "in":
      return `${seen}one of ${show([...expected.values], charsMax)}`;
    case "truth":
      return `${seen}something that is ${expected.value ? "true" : "false"}`;
    case "raises":
      return `${expected.names.join(" or ")} to be raised`;
    default:
      return `${seen}${expected.kind} ${expected.value}`;
  }
}
