/**
 * Reads the tests that a row stores after the sandbox extracted them from Python code
 * (server/outside/sandbox/python/reader.py). A row may hold anything, so everything is checked. The result does not
 * depend on the sandbox's Python version.
 */
import { readValue, type ValueBudget } from "../lib/python-values.ts";
import { type PyValue, type View, VIEW_NAMES } from "../ports.ts";
import type { Tolerance } from "./compare.ts";
import { type CallTest, type Expectation, LIMITS } from "./instance.ts";
import { isFields, type Truths } from "./ground-truth.ts";
import { isList, membersOf, numberOf, pyFloat, sequenceOf, tagged } from "./value.ts";

const PARTS_MAX = 1_000_000;
const PLACES_MAX = 20;
const NAME = /^[\p{L}_][\p{L}\p{M}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{M}\p{N}_]*)?$/u;

/** Reads the sandbox's JSON of extracted tests. Returns an error text if it has another form. */
export function readFound(found: unknown): Truths | string {
  if (!isFields(found)) return "holds no tests in the form that the sandbox returns";
  const { refused, tests, unread } = found;
  if (typeof refused === "string") return refused;
  if (!Array.isArray(tests) || !isNames(unread)) return "holds no tests in the form that the sandbox returns";
  const budget = { partsLeft: PARTS_MAX };
  const read = tests.slice(0, LIMITS.testsMax).map((test) => testOf(test, budget));
  const wrong = read.indexOf(undefined);
  if (wrong >= 0) return `holds a test, number ${wrong + 1}, that is not in the form that the sandbox returns`;
  return { tests: read as readonly CallTest[], unread };
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function testOf(test: unknown, budget: ValueBudget): CallTest | undefined {
  if (!isFields(test)) return undefined;
  const { name, kwargs = [] } = test;
  const args = valuesOf(test["args"], budget);
  const views = viewsOf(test["views"]);
  const expected = isFields(test["expected"]) ? expectationOf(test["expected"], budget) : undefined;
  if (typeof name !== "string" || !NAME.test(name) || !Array.isArray(kwargs)) return undefined;
  const given = kwargs.map((each) => argumentOf(each, budget));
  if (args === undefined || views === undefined || expected === undefined || given.includes(undefined))
    return undefined;
  const named = given as readonly (readonly [string, PyValue])[];
  return { kind: "call", name, args, ...(named.length > 0 && { kwargs: named }), views, expected };
}

function argumentOf(argument: unknown, budget: ValueBudget): readonly [string, PyValue] | undefined {
  const pair: readonly unknown[] = Array.isArray(argument) && argument.length === 2 ? argument : [];
  const [name, given] = pair;
  const value = valueOf(given, budget);
  return typeof name === "string" && value !== undefined ? [name, value] : undefined;
}

function viewsOf(views: unknown): readonly View[] | undefined {
  return Array.isArray(views) && views.every(isView) ? views : undefined;
}

function isView(view: unknown): view is View {
  if (!isFields(view)) return view === "bases" || VIEW_NAMES.some((each) => each === view);
  const { round, ...others } = view;
  return Number.isInteger(round) && Math.abs(round as number) <= PLACES_MAX && Object.keys(others).length === 0;
}

function expectationOf(
  { kind, value: given, values, names, tolerance: near }: Readonly<Record<string, unknown>>,
  budget: ValueBudget,
): Expectation | undefined {
  switch (kind) {
    case "equal": {
      const [value, tolerance] = [valueOf(given, budget), near === undefined ? undefined : toleranceOf(near, budget)];
      if (value === undefined || (near !== undefined && tolerance === undefined)) return undefined;
      return { kind, value, ...(tolerance && { tolerance }) };
    }
    case "unequal": {
      const value = valueOf(given, budget);
      return value === undefined ? undefined : { kind, value };
    }
    case "is":
      return given === null || typeof given === "boolean" ? { kind, value: given } : undefined;
    case "in": {
      const read = valuesOf(values, budget);
      return read && { kind, values: read };
    }
    case "<":
    case "<=":
    case ">":
    case ">=": {
      const number = numberOf(valueOf(given, budget) ?? null);
      return number === undefined ? undefined : { kind, value: number };
    }
    case "instance":
    case "raises":
      return isNames(names) && names.length > 0 ? { kind, names } : undefined;
    default:
      return undefined;
  }
}

function toleranceOf(near: unknown, budget: ValueBudget): Tolerance | undefined {
  const [relative, absolute] = (valuesOf(near, budget) ?? []).map(numberOf);
  return relative === undefined || absolute === undefined ? undefined : { relative, absolute };
}

function valuesOf(values: unknown, budget: ValueBudget): readonly PyValue[] | undefined {
  const read = Array.isArray(values) ? readValue(values, budget) : undefined;
  return read === undefined ? undefined : (written(read) as readonly PyValue[]);
}

function valueOf(value: unknown, budget: ValueBudget): PyValue | undefined {
  const read = readValue(value, budget);
  return read && written(read);
}

/**
 * Rewrites all floats in a value as this project writes them, e.g. 0.00001 for Python's 1e-05, because the text of a
 * float is part of a task's identity.
 */
function written(value: PyValue): PyValue {
  if (isList(value)) return value.map(written);
  const float = tagged(value, "float");
  if (float !== undefined) return pyFloat(numberOf(float) as number);
  const dict = tagged(value, "dict")?.dict;
  if (dict !== undefined) return { dict: dict.map(([key, item]) => [written(key), written(item)] as const) };
  const parts = (sequenceOf(value) ?? membersOf(value))?.map(written);
  if (parts === undefined) return value;
  if (tagged(value, "tuple")) return { tuple: parts };
  return tagged(value, "set") ? { set: parts } : { frozenset: parts };
}
