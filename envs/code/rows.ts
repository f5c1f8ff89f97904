/**
 * Reads rows of data pools: this project's columns, those of code-r1-12k, and columns of other public data sets with
 * the same content under other names. README.md lists them.
 */
import { cutInstructions } from "../answers/instructions.ts";
import type { RowRead } from "../environment.ts";
import { malformed } from "../facts.ts";
import { type CodeInstance, type CodeLevel, type CodeTest, LIMITS } from "./instance.ts";
import { exactJson, exactValue } from "./json.ts";
import { unpackText } from "./pickled.ts";
import { unpackedMessages } from "../row-columns.ts";
import { readProgram } from "./program.ts";
import { fitting } from "./result-limits.ts";
import { readFound } from "./found-tests.ts";
import { parseExact } from "../lib/exact-json.ts";
import { fieldsIn, SET_COLUMNS, setCases, setProblem, setPrompt } from "./public-sets.ts";
import { type Hints, isFields, pythonOf, readTruth } from "./ground-truth.ts";

/**
 * Columns that may hold the prompt. The lists below name those for the tests, the reference programs and the level. In
 * each list, the first column that a row has counts.
 */
const PROMPTS = [
  ...["problem_description", "prompt", "question", "question_content", "problem", "text", "problem_statement"],
  "description",
] as const;
const TRUTHS = ["tests", "test", "test_list", "test_cases", "input_output", "ground_truth"] as const;
const REFERENCES = [
  ...["solution", "canonical_solution", "reference", "code", "solutions", "gold_standard_solution"],
] as const;
const LEVELS = ["level", "difficulty"] as const;
/**
 * Column with the tests that the sandbox extracted from Python code. A row has it in place of the column with that
 * code.
 */
const FOUND = "tests_read";
const OTHERS = [
  FOUND,
  ...["reward_model", "extra_info", "public_test_cases", "private_test_cases", "metadata"],
  ...["entry_point", "fn_name", "starter_code", "prefix", "test_setup_code"],
] as const;

export const columns: readonly string[] = [...PROMPTS, ...TRUTHS, ...REFERENCES, ...LEVELS, ...OTHERS, ...SET_COLUMNS];

type Row = Readonly<Record<string, unknown>>;

export function readRow(value: unknown): RowRead<CodeInstance> {
  if (!isFields(value)) return malformed("the row must be an object");
  const row = value;
  const refused = setProblem(row);
  if (refused !== undefined) return malformed(refused);
  const prompt = promptOf(row);
  if (prompt === undefined) return malformed(`no prompt: one of ${PROMPTS.join(", ")} must be a text or chat messages`);
  if (prompt.length > LIMITS.promptCharsMax)
    return malformed(`the prompt has more than ${LIMITS.promptCharsMax} characters`);
  const { column, truth, problem } = truthOf(row);
  if (problem !== undefined) return malformed(`${column}: ${problem}`);
  if (truth === undefined) return malformed(`no tests: one of ${TRUTHS.join(", ")} or reward_model must hold them`);
  const isFound = isFields(row[FOUND]);
  const size = isFound ? 0 : typeof truth === "string" ? truth.length : JSON.stringify(truth, bigints).length;
  if (size > LIMITS.testCharsMax) return malformed(`${column}: more than ${LIMITS.testCharsMax} characters`);
  const read = isFound ? readFound(truth) : readTruth(truth, hintsOf(row));
  if (typeof read === "string") return malformed(`${column} ${read}`);
  const { tests, reasons } = fitting(read.tests);
  const unread = [...reasons, ...read.unread];
  if (tests.length === 0) return malformed(`${column}: no test can be read${unread[0] ? `: ${unread[0]}` : ""}`);
  if (unread.length > 0 && (tests.length < LIMITS.testsReadMin || unread.length > tests.length))
    return malformed(
      `${column}: ${unread.length} of ${tests.length + unread.length} tests cannot be read: ${unread[0]}`,
    );
  const answer = instanceOf(row, prompt, tests, unread);
  return { kind: "answer", answer, instructions: () => cutInstructions(answer.prompt, "code") };
}

/**
 * Returns the Python code of a row's tests, if the sandbox must still extract the tests from it. Undefined otherwise.
 */
function pythonIn(row: unknown): string | undefined {
  if (!isFields(row) || isFields(row[FOUND])) return undefined;
  if ((promptOf(row)?.length ?? Infinity) > LIMITS.promptCharsMax) return undefined;
  return pythonOf(truthOf(row).truth, hintsOf(row));
}

/** Returns the row with its Python code replaced by the tests that the sandbox extracted. */
function withFound(row: unknown, found: string): unknown {
  const { column } = truthOf(row as Row);
  const [name = ""] = column.split(".");
  const { [name]: truth, ...others } = row as Row;
  // LeetCode rows of Skywork store the imports of their programs beside the tests.
  const prefix = fieldsIn(fieldsIn(truth)?.["ground_truth"])?.["import_prefix"];
  return { ...(prefix !== undefined && { prefix }), ...others, [FOUND]: { column, ...(parseExact(found) as object) } };
}

export const python = { of: pythonIn, told: withFound };

function bigints(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? `${value}` : value;
}

function instanceOf(row: Row, prompt: string, tests: readonly CodeTest[], unread: readonly string[]): CodeInstance {
  const head = headOf(row);
  const publicTests = publicTestsOf(row, tests);
  return {
    prompt: head === "" ? prompt : "Complete this Python function. Your program holds all of it, imports included.",
    starter: (head || textOf(row["starter_code"])).slice(0, LIMITS.starterCharsMax),
    prefix: prefixOf(row, tests, head),
    tests,
    unread,
    references: referencesOf(row, head, tests),
    level: levelIn(row),
    ...(publicTests.length > 0 && { publicTests }),
  };
}

/**
 * Columns whose tests must not be shown to the policy, because the authors of a data set keep them from solvers, or may
 * do so.
 */
const PRIVATE: readonly string[] = [
  ...[...TRUTHS, FOUND, "reward_model", "verification_info"],
  ...["private_test_cases", "private_tests", "generated_tests", "official_tests"],
];

/** Returns the indices of the tests that stand in columns for public tests, such as public_test_cases and examples. */
function publicTestsOf(row: Row, tests: readonly CodeTest[]): readonly number[] {
  const open = Object.fromEntries(Object.entries(row).filter(([column]) => !PRIVATE.includes(column)));
  const { truth } = truthOf(open);
  const read = truth === undefined ? undefined : readTruth(truth, hintsOf(row));
  if (read === undefined || typeof read === "string") return [];
  const known = new Set(read.tests.map((test) => JSON.stringify(test)));
  return [...tests.keys()].filter((place) => known.has(JSON.stringify(tests[place])));
}

/**
 * Returns the column `prompt` if it is the beginning of the Python function that the column `entry_point` names, as in
 * HumanEval. Otherwise returns an empty string.
 */
function headOf(row: Row): string {
  const [prompt, entry] = [textOf(row["prompt"]), textOf(row["entry_point"])];
  const isPython = entry !== "" && prompt.includes(`def ${entry}(`) && /^(?:import|from|def|class|@|#|\s)/.test(prompt);
  return isPython ? prompt : "";
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function promptOf(row: Row): string | undefined {
  const whole = setPrompt(row);
  if (whole !== undefined && textOf(row["prompt"]) === "") return whole;
  for (const name of PROMPTS) {
    const value = unpackedMessages(row[name]);
    if (typeof value === "string" && value.trim() !== "") return value.trim();
    if (Array.isArray(value)) return userText(value);
  }
  return undefined;
}

/**
 * Returns the text of the user's messages. System messages are dropped, because the task's own prompt says how to
 * answer.
 */
function userText(messages: readonly unknown[]): string | undefined {
  const texts: string[] = [];
  for (const message of messages) {
    if (!isFields(message)) return undefined;
    const { role, content } = message;
    if (role === "assistant" || typeof content !== "string") return undefined;
    if (role === "user") texts.push(content.trim());
  }
  return texts.length === 0 ? undefined : texts.join("\n\n");
}

interface FoundTruth {
  readonly column: string;
  readonly truth?: unknown;
  /** Reason why the row has no tests. */
  readonly problem?: string;
}

function truthOf(row: Row): FoundTruth {
  const { [FOUND]: found } = row;
  if (isFields(found)) return { column: typeof found["column"] === "string" ? found["column"] : FOUND, truth: found };
  const { column, truth, problem } = givenTruth(row);
  return { column, truth: exactValue(truth), ...(problem !== undefined && { problem }) };
}

function givenTruth(row: Row): FoundTruth {
  const inModel = fieldsIn(row["reward_model"])?.["ground_truth"];
  if (inModel !== undefined) return { column: "reward_model.ground_truth", truth: inModel };
  const cases: unknown[] = [];
  for (const column of ["public_test_cases", "private_test_cases"]) {
    const found = casesIn(row[column]);
    if (typeof found === "string") return { column, problem: found };
    cases.push(...found);
  }
  if (cases.length > 0) return { column: "public_test_cases", truth: cases };
  const info = fieldsIn(row["verification_info"]);
  if (info !== undefined) return { column: "verification_info", truth: info };
  const column = TRUTHS.find((name) => row[name] !== undefined && row[name] !== null && row[name] !== "");
  if (column === undefined) {
    const ofSet = setCases(row);
    return typeof ofSet === "string" ? { column: "tests", problem: ofSet } : { column: "tests", truth: ofSet };
  }
  const setup = textOf(row["test_setup_code"]).trim();
  const tests = row[column];
  return { column, truth: setup !== "" && Array.isArray(tests) ? [setup, ...(tests as unknown[])] : tests };
}

/**
 * Returns test cases, or the reason why they cannot be read. LiveCodeBench stores test cases as JSON text, or, for many
 * of the private ones, as compressed pickles.
 */
function casesIn(value: unknown): readonly unknown[] | string {
  if (value === undefined || value === null || value === "") return [];
  let cases = typeof value === "string" ? exactJson(value) : value;
  if (typeof value === "string" && cases === undefined) {
    const unpacked = unpackText(value, LIMITS.testCharsMax);
    if (unpacked.kind === "refused") return unpacked.why;
    cases = exactJson(unpacked.text);
  }
  return Array.isArray(cases) ? cases : "no list of test cases";
}

function hintsOf(row: Row): Hints {
  const named = [row["entry_point"], row["fn_name"], fieldsIn(row["metadata"])?.["func_name"]];
  const name = named.map(textOf).find((each) => each !== "");
  const isMethod = /class Solution\b/.test(textOf(row["starter_code"]));
  if (name === undefined) return { entry: undefined, isMethod };
  const plain = name.trim().replace("Solution().", "Solution.");
  return { entry: isMethod && !plain.includes(".") ? `Solution.${plain}` : plain, isMethod };
}

/**
 * Imports that LeetCode puts before every program. The last line restores the builtin `pow` of three arguments, which
 * `from math import *` replaces.
 */
const LEETCODE = [
  "import bisect, collections, datetime, functools, heapq, itertools, math, operator, random, re, string",
  ...["typing", "functools", "collections", "itertools", "heapq", "bisect", "string", "operator", "math"].map(
    (module) => `from ${module} import *`,
  ),
  "from builtins import pow",
].join("\n");

function prefixOf(row: Row, tests: readonly CodeTest[], head: string): string {
  const extra = isFields(row["extra_info"]) ? row["extra_info"] : {};
  const given = textOf(row["prefix"]) || textOf(extra["prefix"]);
  if (given !== "") return given.slice(0, LIMITS.starterCharsMax);
  const imports = head.split("\n").filter((line) => /^(?:import|from) /.test(line));
  if (imports.length > 0) return imports.join("\n");
  return tests.some((test) => test.kind === "call" && test.name.startsWith("Solution.")) ? LEETCODE : "";
}

function referencesOf(row: Row, head: string, tests: readonly CodeTest[]): readonly string[] {
  const extra = isFields(row["extra_info"]) ? row["extra_info"] : {};
  const found = REFERENCES.map((name) => row[name]).find((value) => value !== undefined && value !== null);
  const programs = [pythonOnly(found), extra["reference"]].flatMap(programsIn).slice(0, LIMITS.referencesMax);
  return programs.flatMap((program) => {
    const read = readProgram(program, tests);
    if (read.kind !== "answer") return [];
    return [head === "" || read.answer.includes(head.trim()) ? read.answer : `${head}${program}`];
  });
}

/**
 * Returns only the Python 3 solutions of a code_contests row, which states the language of each solution: 3 or
 * "PYTHON3". Returns other values unchanged.
 */
function pythonOnly(found: unknown): unknown {
  const { language, solution } = fieldsIn(found) ?? {};
  if (!Array.isArray(language) || !Array.isArray(solution)) return found;
  return solution.filter((_, i) => language[i] === 3 || language[i] === "PYTHON3");
}

function programsIn(value: unknown): readonly string[] {
  const list: unknown = typeof value === "string" && /^\s*\[/.test(value) ? (exactJson(value) ?? value) : value;
  const items: readonly unknown[] = Array.isArray(list) ? list : [list];
  return items.filter((item) => typeof item === "string" && item.trim() !== "") as readonly string[];
}

/** Names that APPS, TACO, LeetCode, LiveCodeBench and KodCode give to each level. */
const LEVEL_NAMES: readonly (readonly [CodeLevel, readonly string[]])[] = [
  ["easy", ["easy", "introductory", "beginner"]],
  ["medium", ["medium", "interview", "medium_hard"]],
  ["hard", ["hard", "competition", "very_hard"]],
];

function levelIn(row: Row): CodeLevel {
  const extra = isFields(row["extra_info"]) ? row["extra_info"] : {};
  const rated = [...LEVELS.map((name) => row[name]), extra["difficulty"], fieldsIn(row["metadata"])?.["difficulty"]];
  const given = rated.map(textOf).find((each) => each !== "") ?? "";
  const name = given.trim().toLowerCase();
  return LEVEL_NAMES.find(([, names]) => names.includes(name))?.[0] ?? "unrated";
}
