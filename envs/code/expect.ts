/** Decides whether a program's result meets a test's expectation. */
import type { PyValue } from "../ports.ts";
import { equals, EXACTLY, ROUNDING } from "./compare.ts";
import type { CallTest, Expectation } from "./instance.ts";
import { isList, numberOf, show, tagged } from "./value.ts";

/**
 * Returns whether the result of a call meets the test's expectation. `value` is the result after the test's views, i.e.
 * conversions such as sorted().
 */
export function meets(expected: Expectation, value: PyValue): boolean {
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
    case "instance":
      return isList(value) && value.some((name) => typeof name === "string" && expected.names.includes(name));
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

/** Returns a test's expectation in words, for messages about a failed test. */
export function expectationWords({ expected }: CallTest, charsMax: number): string {
  switch (expected.kind) {
    case "equal":
      return show(expected.value, charsMax);
    case "unequal":
      return `anything but ${show(expected.value, charsMax)}`;
    case "is":
      return `${show(expected.value, charsMax)} itself`;
    case "in":
      return `one of ${show([...expected.values], charsMax)}`;
    case "instance":
      return `an instance of ${expected.names.join(" or ")}`;
    case "raises":
      return `${expected.names.join(" or ")} to be raised`;
    default:
      return `${expected.kind} ${expected.value}`;
  }
}
