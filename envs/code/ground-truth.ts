/**
 * Converts the ground truths of public data sets (columns with a row's tests) to tests. A ground truth holds inputs
 * with outputs, for a script or a function (APPS, TACO, LiveCodeBench, code-r1), or tests written in Python (HumanEval,
 * MBPP, LeetCode, KodCode's pytest).
 */
import { isRawNumber } from "../lib/exact-json.ts";
import type { PyValue } from "../ports.ts";
import { type CodeTest, type Expectation, LIMITS } from "./instance.ts";
import { allFromJson, exactJson, fromJson, valueIn } from "./json.ts";

/** Facts from other columns of the row about the function that the tests call. */
export interface Hints {
  /**
   * Name of the function: "add" or "Solution.add". Undefined if programs are scripts, or if the tests name the
   * function.
   */
  readonly entry: string | undefined;
  /** Whether the function is a method of a class Solution. */
  readonly isMethod: boolean;
}

export interface Truths {
  readonly tests: readonly CodeTest[];
  readonly unread: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unpacked(truth: unknown): unknown {
  return typeof truth === "string" && /^\s*[[{]/.test(truth) ? (valueIn(truth) ?? truth) : truth;
}

/**
 * Matches an assertion, which every Python test contains. Numbers and sentences, the ground truths of other data sets,
 * do not match.
 */
const ASSERTS = /\bassert|\braises\(/;

/**
 * Returns the Python code of a ground truth, from which the sandbox extracts the tests. Returns undefined if the ground
 * truth is not Python, or is too long.
 */
export function pythonOf(truth: unknown, hints: Hints): string | undefined {
  const value = unpacked(truth);
  const source = sourceOf(value);
  if (source === undefined || source.length > LIMITS.pythonCharsMax || !ASSERTS.test(source)) return undefined;
  // HumanEval's tests define check(candidate) but do not call it, so a call is appended.
  const isCalled = !/^def check\(/m.test(source) || /^check\(/m.test(source);
  const own = isFields(value) ? value["entry_point"] : undefined;
  const name = typeof own === "string" && own !== "" ? own : hints.entry?.replace(/^Solution\./, "Solution().");
  return isCalled || name === undefined ? source : `${source}\n\ncheck(${name})\n`;
}

function sourceOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (Array.isArray(value))
    return value.length > 0 && value.every((each) => typeof each === "string") ? value.join("\n") : undefined;
  if (!isFields(value)) return undefined;
  const source = value["functional"] ?? value["pytest"] ?? value["test_code"] ?? value["assert_case"];
  return typeof source === "string" || Array.isArray(source) ? sourceOf(source) : undefined;
}

/** Reads a ground truth in any known form except Python. Returns an error text if it cannot be read. */
export function readTruth(truth: unknown, hints: Hints): Truths | string {
  const value = unpacked(truth);
  const source = sourceOf(value);
  if (source !== undefined) return unreadPython(source);
  if (Array.isArray(value)) return fromList(value, hints);
  if (!isFields(value)) return "holds no tests";
  const cases = unpacked(value["test_cases"]);
  if (Array.isArray(cases)) return fromList(cases, hints);
  if (isFields(cases)) return readTruth({ fn_name: value["fn_name"], ...cases }, hints);
  const { inputs, outputs, fn_name: name }: Fields = value;
  if (!Array.isArray(inputs) || !Array.isArray(outputs)) return "has neither inputs and outputs nor tests in Python";
  if (inputs.length !== outputs.length) return `has ${inputs.length} inputs and ${outputs.length} outputs`;
  const own = typeof name === "string" && name !== "" ? inStyleOf(hints, name) : hints;
  const results: readonly unknown[] = outputs;
  return collect(inputs.map((input: unknown, i) => caseOf({ input, output: results[i] }, own)));
}

function inStyleOf({ isMethod }: Hints, name: string): Hints {
  return { entry: isMethod && !name.includes(".") ? `Solution.${name}` : name, isMethod };
}

function unreadPython(source: string): Truths | string {
  if (source.length > LIMITS.pythonCharsMax)
    return `is Python of ${source.length} characters, and at most ${LIMITS.pythonCharsMax} are read`;
  return ASSERTS.test(source) ? "is Python, which a sandbox has to read first" : { tests: [], unread: [] };
}

function fromList(items: readonly unknown[], hints: Hints): Truths | string {
  if (!items.every(isFields)) return "is a list with items that are not tests";
  return collect(
    items.slice(0, LIMITS.testsMax).map((item) => {
      const { input, output, fn_name: given, type, testtype, metadata } = item;
      const says = (start: string) =>
        [type, testtype].some((each) => typeof each === "string" && each.startsWith(start));
      const isScript = says("stdin");
      const name = given ?? (isFields(metadata) ? metadata["func_name"] : undefined);
      const named = typeof name === "string" && name !== "" ? inStyleOf(hints, name) : hints;
      if (named.entry === undefined && says("func")) return "a test of a function, but no column names the function";
      const test = says("function_call") ? { input: listIn(input), output: listIn(output) } : { input, output };
      return caseOf(test, isScript ? { entry: undefined, isMethod: false } : named);
    }),
  );
}

/**
 * Returns a list of arguments or results, parsed if it is stored as JSON text. APPS stores lists; tables derived from
 * APPS store JSON texts. Returns other values unchanged.
 */
function listIn(value: unknown): unknown {
  const read = unpacked(value);
  return Array.isArray(read) ? read : value;
}

function collect(read: readonly (CodeTest | string)[]): Truths {
  const first = read.slice(0, LIMITS.testsMax);
  return {
    tests: first.filter((each) => typeof each !== "string"),
    unread: first.filter((each) => typeof each === "string"),
  };
}

interface Case {
  readonly input: unknown;
  readonly output: unknown;
}

/** Converts an input and an output to a test. Returns the reason if they cannot be read. */
function caseOf({ input, output }: Case, { entry }: Hints): CodeTest | string {
  if (entry === undefined) {
    const [stdin, stdout] = [textOf(input), textOf(output)];
    return stdin === undefined || stdout === undefined
      ? "an input or output that is not a text"
      : { kind: "script", stdin, stdout };
  }
  const args = argsOf(input);
  const expected = args && expectationOf(output, Array.isArray(input));
  if (args === undefined || expected === undefined) return "an input or output of a function that is not JSON";
  return { kind: "call", name: entry, args, views: [], expected };
}

/**
 * Returns a script's input or output as text. Accepts a text, a number, or a list of lines. Returns undefined for other
 * values.
 */
function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint") return `${value}`;
  if (isRawNumber(value)) return value.rawJSON;
  if (!Array.isArray(value)) return undefined;
  const lines = value.map(textOf);
  return lines.includes(undefined) ? undefined : lines.join("\n");
}

/**
 * Returns the arguments of a call, given as a list, or as a text with one JSON value per line (LiveCodeBench). Returns
 * undefined for other values.
 */
function argsOf(input: unknown): readonly PyValue[] | undefined {
  if (Array.isArray(input)) return allFromJson(input);
  if (typeof input !== "string") return undefined;
  const lines = input.split("\n").filter((line) => line.trim() !== "");
  return allFromJson(lines.map((line) => exactJson(line)));
}

/**
 * Reads the expected result of a call. APPS sometimes wraps results in a list, so a list of one item also matches the
 * item alone. A text is parsed as JSON. If `areValues` is true (the arguments were given as a list), the unparsed text
 * matches too.
 */
function expectationOf(output: unknown, areValues: boolean): Expectation | undefined {
  const read = typeof output === "string" ? exactJson(output) : output;
  const whole = fromJson(read === undefined ? output : read);
  if (whole === undefined) return undefined;
  if (typeof output === "string")
    return areValues && read !== undefined
      ? { kind: "in", values: [output, whole], json: true }
      : { kind: "equal", value: whole, json: true };
  if (!Array.isArray(whole) || whole.length !== 1) return { kind: "equal", value: whole, json: true };
  return { kind: "in", values: [whole, (whole as readonly PyValue[])[0] as PyValue], json: true };
}
