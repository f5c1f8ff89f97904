/**
 * Tests rows written by hand in the schemas of public sets on Hugging Face, and the refusal of some of these sets'
 * rows.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectationWords } from "../../../envs/code/expect.ts";
import type { CodeInstance } from "../../../envs/code/instance.ts";
import { callWords, inputWords } from "../../../envs/code/verify.ts";
import { openSandbox } from "../../../server/outside/sandbox/open-sandbox.ts";
import { readCodeRow } from "../../support/code-rows.ts";

let opened: Awaited<ReturnType<typeof openSandbox>>;
beforeAll(async () => {
  opened = await openSandbox({ kind: "embedded", python: "python3", concurrency: 2 });
});
afterAll(() => opened.kind === "opened" && opened.close());

async function parsed(row: unknown) {
  if (opened.kind === "missing") throw new Error(opened.why);
  return readCodeRow(opened.port, row);
}

async function read(row: unknown): Promise<CodeInstance> {
  const instance = await parsed(row);
  if (instance.kind !== "answer") throw new Error(instance.reason);
  return instance.answer;
}

async function refusal(row: unknown): Promise<string> {
  const instance = await parsed(row);
  return instance.kind === "malformed" ? instance.reason : "none";
}

const words = ({ tests }: CodeInstance): readonly string[] =>
  tests.map((each) =>
    each.kind === "script"
      ? `${inputWords(each.stdin)} → ${JSON.stringify(each.stdout)}`
      : `${callWords(each)} → ${expectationWords(each, 100)}`,
  );

describe("PrimeIntellect's verifiable-coding-problems", () => {
  const row = (info: unknown, more: object = {}) => ({
    problem_id: "vcp_1",
    source: "apps",
    task_type: "verifiable_code",
    in_source_id: "1",
    prompt: "Solve it in Python: print the sum.",
    gold_standard_solution: "```python\nprint(sum(map(int, input().split())))\n```",
    verification_info: info,
    metadata: "{'difficulty': 'MEDIUM', 'memory_limit': None, 'problem_url': 'x'}",
    ...more,
  });
  const scripts = [
    { type: "stdin_stdout", input: "1 2\n", output: "3\n" },
    { type: "stdin_stdout", input: "4 5\n", output: "9\n" },
  ];
  const wanted = ['"1 2\\n" → "3\\n"', '"4 5\\n" → "9\\n"'];

  test.each([
    ["JSON", JSON.stringify({ language: "python", test_cases: scripts })],
    ["an object", { language: "python", test_cases: scripts }],
    ["open-r1's objects", { language: "python", test_cases: scripts.map((each) => ({ ...each, fn_name: null })) }],
    [
      "a dict as Python prints it",
      "{'language': 'python', 'test_cases': [{'type': 'stdin_stdout', 'input': '1 2\\n', 'output': '3\\n', 'fn_name': None}, {'type': 'stdin_stdout', 'input': '4 5\\n', 'output': \"9\\n\"}]}",
    ],
    [
      "test cases as a text of inputs and outputs",
      { test_cases: JSON.stringify({ inputs: ["1 2\n", "4 5\n"], outputs: ["3\n", "9\n"] }) },
    ],
  ])("scripts, in %s", async (_, info) => {
    const instance = await read(row(info));
    expect(words(instance)).toEqual(wanted);
    expect(instance).toMatchObject({
      level: "medium",
      prompt: "Solve it in Python: print the sum.",
      references: ["print(sum(map(int, input().split())))"],
    });
  });

  test("quotes, backslashes and other letters of a dict that Python prints", async () => {
    const info = `{'language': 'python', 'test_cases': [{'type': 'stdin_stdout', 'input': "it's \\\\ \\x41 \\u00e9 \\U0001f600\\n", 'output': 'say "True" it\\'s\\tNone'}]}`;
    expect((await read(row(info))).tests).toEqual([
      { kind: "script", stdin: "it's \\ A é 😀\n", stdout: 'say "True" it\'s\tNone' },
    ]);
  });

  test.each([
    ["lists", [[1, 2], 3], [4]],
    ["texts of JSON", "[[1, 2], 3]", "[4]"],
  ])("calls, whose arguments are %s", async (_, input, output) => {
    const cases = [{ type: "function_call", fn_name: "count", input, output }];
    expect(words(await read(row(JSON.stringify({ language: "python", test_cases: cases }))))).toEqual([
      "count([1, 2], 3) → one of [[4], 4]",
    ]);
  });

  test("open-r1's copy has problem_statement for its prompt", async () => {
    const { prompt, ...others } = row({ language: "python", test_cases: scripts });
    expect((await read({ ...others, problem_statement: prompt })).prompt).toBe(prompt);
  });

  test.each([
    [
      "another language",
      { language: "javascript", test_cases: scripts },
      "it asks for a program in javascript, and the sandbox runs only Python",
    ],
    [
      "a verifier that is no test",
      { answer: "5" },
      "verification_info has neither inputs and outputs nor tests in Python",
    ],
    [
      "a call without a name",
      { language: "python", test_cases: [{ type: "function_call", input: [1], output: 2 }] },
      "a test of a function, but no column names the function",
    ],
    ["no test", { language: "python", test_cases: [] }, "no test can be read"],
    ["a text that is neither JSON nor a dict", "{'language': python}", "no tests"],
  ])("is refused with %s", async (_, info, why) => {
    expect(await refusal(row(info))).toContain(why);
  });
});

describe("open-r1's codeforces", () => {
  const row = {
    id: "1/A",
    aliases: null,
    contest_id: "1",
    title: "Sum",
    description: "Add two numbers.",
    input_format: "Two integers.",
    output_format: "Their sum.",
    interaction_format: null,
    note: "Small ones.",
    examples: [{ input: "1 2", output: "3" }],
    rating: 800,
    tags: ["math"],
    testset_size: 2,
    official_tests: [
      { input: "1 2\n", output: "3\n" },
      { input: "5 5\n", output: "10\n" },
    ],
    official_tests_complete: true,
    input_mode: "stdio",
    generated_checker: null,
    executable: true,
    generated_tests: 0,
    time_limit: 1,
    memory_limit: 256,
  };

  test("the statement with its parts, and the official tests", async () => {
    const instance = await read(row);
    expect(instance.prompt).toBe(
      "Add two numbers.\n\nInput\nTwo integers.\n\nOutput\nTheir sum.\n\nExample\nInput:\n1 2\nOutput:\n3\n\nNote\nSmall ones.",
    );
    expect(words(instance)).toEqual(['"1 2\\n" → "3\\n"', '"5 5\\n" → "10\\n"', '"1 2" → "3"']);
  });

  test("a text of JSON in place of a list", async () => {
    const texts = {
      ...row,
      official_tests: JSON.stringify(row.official_tests),
      examples: JSON.stringify(row.examples),
    };
    expect(await read(texts)).toEqual(await read(row));
  });

  test("verifiable-prompts: its prompt is the whole statement", async () => {
    expect((await read({ ...row, language: "python", prompt: "All of it." })).prompt).toBe("All of it.");
  });

  test.each([
    ["an interactor", { interaction_format: "Guess the number." }, "column interaction_format"],
    ["a checker", { generated_checker: "import sys\n" }, "column generated_checker: several outputs are right"],
    ["files", { input_mode: "file" }, "column input_mode: the program would read or write a file"],
    ["another language", { language: "cpp", prompt: "In C++." }, "it asks for a program in cpp"],
    ["no test", { official_tests: [], examples: [] }, "no tests: one of tests"],
  ])("is refused with %s", async (_, more, why) => {
    expect(await refusal({ ...row, ...more })).toContain(why);
  });
});

describe("DeepMind's code_contests", () => {
  const row = {
    name: "1_A. Sum",
    description: "Add two numbers.",
    public_tests: { input: ["1 2\n"], output: ["3\n"] },
    private_tests: { input: ["5 5\n"], output: ["10\n"] },
    generated_tests: { input: ["7 1\n", "0 0\n"], output: ["8\n", "0\n"] },
    source: 2,
    difficulty: 7,
    solutions: { language: [2, 3, 1], solution: ["int main() {}", "print(1)", "print 1"] },
    incorrect_solutions: { language: [3], solution: ["print(2)"] },
    cf_contest_id: 1,
    cf_index: "A",
    is_description_translated: false,
    untranslated_description: "",
    time_limit: { seconds: 1, nanos: 0 },
    memory_limit_bytes: 256000000,
    input_file: "",
    output_file: "",
  };
  const wanted = ['"1 2\\n" → "3\\n"', '"5 5\\n" → "10\\n"', '"7 1\\n" → "8\\n"', '"0 0\\n" → "0\\n"'];

  test("all tests, the shown ones first, and solutions in Python 3", async () => {
    const instance = await read(row);
    expect(words(instance)).toEqual(wanted);
    expect(instance).toMatchObject({ prompt: "Add two numbers.", references: ["print(1)"], level: "unrated" });
  });

  test("tests as a list of cases, or as a text of JSON", async () => {
    const cases = [{ input: "1 2\n", output: "3\n" }];
    expect(words(await read({ ...row, public_tests: cases }))).toEqual(wanted);
    expect(words(await read({ ...row, public_tests: JSON.stringify(row.public_tests) }))).toEqual(wanted);
  });

  test("names in place of numbers", async () => {
    const solutions = { language: ["PYTHON", "PYTHON3"], solution: ["print 1", "print(1)"] };
    expect((await read({ ...row, solutions })).references).toEqual(["print(1)"]);
  });

  test("tests that have no room are left out, the last ones first", async () => {
    const large = { input: ["x".repeat(1_500_000), "y".repeat(1_500_000)], output: ["1", "2"] };
    const { tests } = await read({ ...row, generated_tests: large });
    expect(tests).toHaveLength(3);
  });

  test.each([
    ["files", { input_file: "input.txt", output_file: "output.txt" }, "the program would read or write a file"],
    [
      "several right outputs",
      { description: "Print any such pair." },
      "several outputs are right, and the set has no checker",
    ],
    ["several answers", { description: "If there are multiple answers, print one." }, "several outputs are right"],
    ["an interactive problem", { description: "This is an interactive problem." }, "the problem is interactive"],
    [
      "outputs that are missing",
      { private_tests: { input: ["1", "2"], output: ["1"] } },
      "column private_tests must hold as many outputs as inputs",
    ],
  ])("is refused with %s", async (_, more, why) => {
    expect(await refusal({ ...row, ...more })).toContain(why);
  });
});

describe("AceCode", () => {
  const row = {
    id: "oss_1",
    source: "oss",
    question: "Write add(a, b).",
    test_cases: ["assert add(1, 2) == 3", "assert add(-1, 1) == 0"],
    inferences: [{ completion: "x", completion_id: 0, model_name: "m", pass_rate: 0.5 }],
    context_messages: [[{ role: "user", content: "Write add(a, b)." }]],
  };

  test("test_cases are assertions, also as a text of JSON", async () => {
    const wanted = ["add(1, 2) → 3", "add(-1, 1) → 0"];
    expect(words(await read(row))).toEqual(wanted);
    expect(words(await read({ ...row, test_cases: JSON.stringify(row.test_cases) }))).toEqual(wanted);
  });
});

describe("Skywork's code rows", () => {
  const row = (truth: unknown) => ({
    data_source: "train-code-leetcode-Easy",
    prompt: [{ role: "user", content: "Write pick." }],
    ability: "code",
    reward_model: { style: "rule", ground_truth: truth },
    extra_info: { index: 0 },
  });
  const leetcode = {
    entry_point: "Solution().pick",
    import_prefix: "from typing import *\nfrom math import inf\n",
    test_code:
      "def check(candidate):\n    assert candidate(nums = [2, 7], k = 9) == [0, 1]\n    assert candidate(nums = [1], k = 1) == []\n",
  };
  const wanted = ["Solution.pick(nums=[2, 7], k=9) → [0, 1]", "Solution.pick(nums=[1], k=1) → []"];

  test.each([
    ["JSON", JSON.stringify(leetcode)],
    ["an object", leetcode],
  ])("LeetCode's check of a method, in %s, with its own imports", async (_, truth) => {
    const instance = await read(row(truth));
    expect(words(instance)).toEqual(wanted);
    expect(instance.prefix).toBe(leetcode.import_prefix);
  });

  test("the reward model as a text", async () => {
    const text = { ...row(leetcode), reward_model: JSON.stringify(row(leetcode).reward_model) };
    expect(words(await read(text))).toEqual(wanted);
  });

  test("assertions", async () => {
    expect(words(await read(row(JSON.stringify({ assert_case: ["assert add(1, 2) == 3"] }))))).toEqual([
      "add(1, 2) → 3",
    ]);
  });

  test("inputs and outputs", async () => {
    expect(words(await read(row(JSON.stringify({ inputs: ["1\n"], outputs: ["2\n"] }))))).toEqual(['"1\\n" → "2\\n"']);
  });
});
