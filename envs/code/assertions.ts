/** What an assertion expects of a call of the program. */
import type { PyValue } from "../ports.ts";
import type { Tolerance } from "./compare.ts";
import { itemsOf } from "./folding.ts";
import type { CallTest, Expectation } from "./instance.ts";
import {
  fail,
  type Gap,
  type Meaning,
  meaningOf,
  type Reading,
  type Result,
  type Scope,
  toleranceOf,
  valueOf,
} from "./meaning.ts";
import type { Binary, Call, Expression } from "./syntax.ts";
import { numberOf } from "./value.ts";

/** The tests of "assert <expression>"; undefined: they cannot be read, and `reading` says why. */
export function testsOfAssertion(test: Expression, scope: Scope, reading: Reading): readonly CallTest[] | undefined {
  switch (test.kind) {
    case "value":
      // "assert True" stands in many files, and tests nothing.
      return test.value === true ? [] : fail(reading, NO_CALL);
    case "and": {
      const all = test.items.map((item) => testsOfAssertion(item, scope, reading));
      return all.includes(undefined) ? undefined : all.flatMap((tests) => tests ?? []);
    }
    case "compare":
      return comparison(test, scope, reading);
    case "unary":
      return test.operator === "not" ? truth(test.operand, false, scope, reading) : fail(reading, "a sign");
    case "call":
      return closeness(test, scope, reading) ?? instanceTest(test, scope, reading) ?? truth(test, true, scope, reading);
    default:
      return truth(test, true, scope, reading);
  }
}

function testOf(
  { call, views, gap }: Result,
  expected: Expectation,
  reading: Reading,
): readonly CallTest[] | undefined {
  return gap === undefined ? [{ kind: "call", ...call, views, expected }] : fail(reading, DIFFERENCE);
}

function truth(tested: Expression, value: boolean, scope: Scope, reading: Reading): readonly CallTest[] | undefined {
  // "not a == b" is "a != b", and so on.
  if (!value && tested.kind === "compare") {
    const operator = OPPOSITES[tested.operator];
    return operator === undefined ? fail(reading, "'not'") : comparison({ ...tested, operator }, scope, reading);
  }
  const meaning = meaningOf(tested, scope, reading);
  if (meaning === undefined) return undefined;
  if (meaning.kind !== "result") return fail(reading, NO_CALL);
  return testOf({ ...meaning, views: [...meaning.views, "bool"] }, { kind: "is", value }, reading);
}

const DIFFERENCE = "a difference that is not held against a tolerance";

const NO_CALL = "an assertion that does not call the program";
const OPPOSITES: Readonly<Record<string, string>> = {
  ...{ "==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">" },
};
const MIRRORED: Readonly<Record<string, string>> = {
  "==": "==",
  "!=": "!=",
  "<": ">",
  ">": "<",
  "<=": ">=",
  ">=": "<=",
};

function comparison({ operator, left, right }: Binary, scope: Scope, reading: Reading) {
  const [a, b] = [meaningOf(left, scope, reading), meaningOf(right, scope, reading)];
  if (a === undefined || b === undefined) return undefined;
  if (a.kind === "result") return compared(a, operator, b, reading);
  const mirrored = MIRRORED[operator];
  if (b.kind !== "result" || mirrored === undefined) return fail(reading, NO_CALL);
  return compared(b, mirrored, a, reading);
}

function compared(result: Result, operator: string, other: Meaning, reading: Reading): readonly CallTest[] | undefined {
  if (other.kind !== "value") return fail(reading, "a result that is compared with another");
  if (result.gap !== undefined) return distance(result, result.gap, operator, other.value, reading);
  const expected = expectationOf(operator, other.value, other.tolerance, reading);
  return expected && testOf(result, expected, reading);
}

function expectationOf(
  operator: string,
  value: PyValue,
  tolerance: Tolerance | undefined,
  reading: Reading,
): Expectation | undefined {
  switch (operator) {
    case "==":
      return { kind: "equal", value, ...(tolerance && { tolerance }) };
    case "!=":
      return { kind: "unequal", value };
    case "is":
      if (value === null || typeof value === "boolean") return { kind: "is", value };
      return fail(reading, "'is' with something else than None, True or False");
    case "is not":
      return value === null ? { kind: "unequal", value } : fail(reading, "'is not' with something else than None");
    case "in": {
      const values = typeof value === "string" ? undefined : itemsOf(value);
      return values === undefined ? fail(reading, "'in' something that is no list") : { kind: "in", values };
    }
    case "<":
    case "<=":
    case ">":
    case ">=": {
      const number = numberOf(value);
      return number === undefined ? fail(reading, `'${operator}' of no number`) : { kind: operator, value: number };
    }
    default:
      return fail(reading, `'${operator}'`);
  }
}

/** "abs(f(x) - y) < e" is a test of f(x) == y with a tolerance, and so is "round(f(x) - y, 7) == 0". */
function distance(
  { call, views }: Result,
  { from, isAbsolute, places }: Gap,
  operator: string,
  limit: PyValue,
  reading: Reading,
): readonly CallTest[] | undefined {
  const number = numberOf(limit);
  const isBelow = isAbsolute && places === undefined && (operator === "<" || operator === "<=");
  const isNone = operator === "==" && number === 0;
  if (number === undefined || !(isBelow || isNone)) return fail(reading, DIFFERENCE);
  const absolute = isBelow ? number : places === undefined ? 0 : 0.5 * 10 ** -places;
  const expected: Expectation = { kind: "equal", value: from, tolerance: { relative: 0, absolute } };
  return [{ kind: "call", ...call, views, expected }];
}

/** "math.isclose(f(x), y)": within a relative billionth, unless it says otherwise. */
function closeness(test: Call, scope: Scope, reading: Reading): readonly CallTest[] | undefined {
  const { callee } = test;
  const name = callee.kind === "attribute" ? callee.name : callee.kind === "name" ? callee.name : "";
  if (!["isclose", "allclose"].includes(name) || test.args.length < 2) return undefined;
  const meanings = test.args.slice(0, 2).map((arg) => meaningOf(arg, scope, reading));
  const result = meanings.find((meaning) => meaning?.kind === "result");
  const value = meanings.find((meaning) => meaning?.kind === "value");
  if (result === undefined || value === undefined) return undefined;
  const module = callee.kind === "attribute" && callee.of.kind === "name" ? callee.of.name : "math";
  const isMath = module === "math";
  const relative = toleranceOf(test, ["rel_tol", "rtol"], scope, reading) ?? (isMath ? 1e-9 : 1e-5);
  const absolute = toleranceOf(test, ["abs_tol", "atol"], scope, reading) ?? (isMath ? 0 : 1e-8);
  return testOf(result, { kind: "equal", value: value.value, tolerance: { relative, absolute } }, reading);
}

/** "isinstance(f(x), list)", of a builtin type. */
function instanceTest(test: Call, scope: Scope, reading: Reading): readonly CallTest[] | undefined {
  const [first, second] = test.args;
  if (test.callee.kind !== "name" || test.callee.name !== "isinstance" || test.args.length !== 2) return undefined;
  const types = second?.kind === "tuple" ? second.items : second && [second];
  const names = types?.map((type) => (type.kind === "name" ? type.name : ""));
  if (first === undefined || names === undefined || !names.every((name) => TYPES.includes(name))) return undefined;
  const result = meaningOf(first, scope, reading);
  if (result?.kind !== "result") return undefined;
  return testOf({ ...result, views: [...result.views, "bases"] }, { kind: "instance", names }, reading);
}

const TYPES = ["bool", "int", "float", "str", "list", "tuple", "set", "frozenset", "dict", "bytes"];

/** unittest's: self.assertEqual(f(x), y) and its like. */
export function testsOfMethod(call: Call, scope: Scope, reading: Reading): readonly CallTest[] | undefined {
  const { callee, args } = call;
  const [first, second, third] = args;
  if (callee.kind !== "attribute" || first === undefined) return fail(reading, NO_CALL);
  const same = METHODS[callee.name];
  if (same !== undefined && second !== undefined)
    return comparison({ kind: "compare", operator: same, left: first, right: second }, scope, reading);
  if (callee.name === "assertTrue") return testsOfAssertion(first, scope, reading);
  if (callee.name === "assertFalse") return truth(first, false, scope, reading);
  const none: Expression = { kind: "value", value: null };
  if (callee.name === "assertIsNone")
    return comparison({ kind: "compare", operator: "is", left: first, right: none }, scope, reading);
  if (callee.name !== "assertAlmostEqual" || second === undefined) return fail(reading, `'${callee.name}'`);
  const [result, value] = [meaningOf(first, scope, reading), valueOf(second, scope, reading)];
  const places = third === undefined ? 7 : (numberOf(valueOf(third, scope, reading) ?? null) ?? 7);
  if (result?.kind !== "result" || value === undefined) return fail(reading, "'assertAlmostEqual' of these");
  const tolerance = { relative: 0, absolute: 0.5 * 10 ** -places };
  return testOf(result, { kind: "equal", value, tolerance }, reading);
}

const METHODS: Readonly<Record<string, string>> = {
  ...{ assertEqual: "==", assertEquals: "==", assertListEqual: "==", assertDictEqual: "==", assertTupleEqual: "==" },
  ...{ assertSetEqual: "==", assertNotEqual: "!=", assertIs: "is", assertIn: "in" },
  ...{ assertLess: "<", assertGreater: ">", assertLessEqual: "<=", assertGreaterEqual: ">=" },
};
