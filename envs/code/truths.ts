/**
 * Ground truths of public data, read into tests. Inputs with outputs, for a script or for a function (APPS, TACO,
 * LiveCodeBench, code-r1), or tests written in Python (HumanEval, MBPP, LeetCode, KodCode's pytest).
 */
import { isRawNumber } from "../lib/exact-json.ts";
import type { PyValue } from "../ports.ts";
import { type CodeTest, type Expectation, LIMITS } from "./instance.ts";
import { allFromJson, exactJson, fromJson, valueIn } from "./json.ts";

/** What the rest of the row says of the function that is tested. */
export interface Hints {
  /** "add" or "Solution.add"; undefined: programs are scripts, or the tests name it. */
  readonly entry: string | undefined;
  /** Whether functions are methods of a class Solution. */
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

/** Without any of these there is no test in Python: numbers and sentences are the ground truths of other sets. */
const ASSERTS = /\bassert|\braises\(/;

/** The Python that a ground truth is, for a sandbox to read; undefined: it is none, or none that is read. */
export function pythonOf(truth: unknown, hints: Hints): string | undefined {
  const value = unpacked(truth);
  const source = sourceOf(value);
  if (source === undefined || source.length > LIMITS.pythonCharsMax || !ASSERTS.test(source)) return undefined;
  // HumanEval's tests define check(candidate), and leave it to the harness to call it.
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

/** A ground truth of any of the known forms but Python; a string: what is wrong with it. */
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
  if (!items.every(isFields)) return "is a list of other things than tests";
  return collect(
    items.slice(0, LIMITS.testsMax).map((item) => {
      const { input, output, fn_name: given, type, testtype, metadata } = item;
      const says = (start: string) =>
        [type, testtype].some((each) => typeof each === "string" && each.startsWith(start));
      const isScript = says("stdin");
      const name = given ?? (isFields(metadata) ? metadata["func_name"] : undefined);
      const named = typeof name === "string" && name !== "" ? inStyleOf(hints, name) : hints;
      if (named.entry === undefined && says("func")) return "a test of a function, and nothing names the function";
      const test = says("function_call") ? { input: listIn(input), output: listIn(output) } : { input, output };
      return caseOf(test, isScript ? { entry: undefined, isMethod: false } : named);
    }),
  );
}

/** APPS has lists of arguments, and tables that were made of it have such lists as texts. */
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

/** A string: why it is not read. */
function caseOf({ input, output }: Case, { entry }: Hints): CodeTest | string {
  if (entry === undefined) {
    const [stdin, stdout] = [textOf(input), textOf(output)];
    return stdin === undefined || stdout === undefined
      ? "an input or output that is no text"
      : { kind: "script", stdin, stdout };
  }
  const args = argsOf(input);
  const expected = args && expectationOf(output, Array.isArray(input));
  if (args === undefined || expected === undefined) return "an input or output of a function that is not JSON";
  return { kind: "call", name: entry, args, views: [], expected };
}

/** Lines may be given one by one. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint") return `${value}`;
  if (isRawNumber(value)) return value.rawJSON;
  if (!Array.isArray(value)) return undefined;
  const lines = value.map(textOf);
  return lines.includes(undefined) ? undefined : lines.join("\n");
}

/** A list of arguments, or a line of JSON for each (LiveCodeBench). */
function argsOf(input: unknown): readonly PyValue[] | undefined {
  if (Array.isArray(input)) return allFromJson(input);
  if (typeof input !== "string") return undefined;
  const lines = input.split("\n").filter((line) => line.trim() !== "");
  return allFromJson(lines.map((line) => exactJson(line)));
}

/**
 * APPS wraps what is returned in a list, and not everywhere: a list of one thing stands for the thing too. A text is JSON
 * where arguments are; beside arguments that are values it may also stand for itself.
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
