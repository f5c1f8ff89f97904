/** Tests reading rows of public sets and of our own: the tasks they give, and refusals that name the column. */
import { execFileSync } from "node:child_process";
import { deflateSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { code } from "../../../envs/code/index.ts";
import { type CodeInstance, LIMITS } from "../../../envs/code/instance.ts";
import { inputWords, callWords } from "../../../envs/code/verify.ts";
import { expectationWords } from "../../../envs/code/expect.ts";
import type { RowRead } from "../../../envs/environment.ts";
import { openSandbox } from "../../../server/outside/sandbox/open-sandbox.ts";
import { readCodeRow } from "../../support/code-rows.ts";

let opened: Awaited<ReturnType<typeof openSandbox>>;
beforeAll(async () => {
  opened = await openSandbox({ kind: "embedded", python: "python3", concurrency: 2 });
});
afterAll(() => opened.kind === "opened" && opened.close());

function parsed(row: unknown): Promise<RowRead<CodeInstance>> {
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

const asked = async (row: unknown): Promise<string> => code.render(await read(row), "answer_tag")[0]?.content ?? "";

describe("code-r1-12k", () => {
  const prompt = [
    { role: "system", content: "Answer in <answer> tags, or else." },
    { role: "user", content: "Please solve the programming task below.\n\nAdd." },
  ];
  const row = (truth: object, extra: object = {}) => ({
    data_source: "code",
    prompt,
    ability: "coding",
    reward_model: { style: "rule", ground_truth: JSON.stringify(truth) },
    extra_info: { split: "train", index: 0, ...extra },
  });

  test("inputs and outputs", async () => {
    const instance = await read(
      row({ inputs: ["1 2\n", "3\n4\n"], outputs: ["3\n", "7\n"] }, { reference: "print(1)" }),
    );
    expect(words(instance)).toEqual(['"1 2\\n" → "3\\n"', '"3\\n4\\n" → "7\\n"']);
    expect(instance).toMatchObject({ references: ["print(1)"], level: "unrated", prefix: "", unread: [] });
    expect(instance.prompt).toBe("Please solve the programming task below.\n\nAdd.");
  });

  test("functional: LeetCode's check of a method, with what LeetCode imports", async () => {
    const functional =
      "def check(candidate):\n    assert candidate(nums = [2, 7],k = 9) == [0, 1]\n\ncheck(Solution().pick)";
    const instance = await read(
      row({ functional }, { difficulty: "Easy", reference: "```python\nclass Solution: ...\n```" }),
    );
    expect(words(instance)).toEqual(["Solution.pick(nums=[2, 7], k=9) → [0, 1]"]);
    expect(instance).toMatchObject({ level: "easy", references: ["class Solution: ..."] });
    expect(instance.prefix).toContain("from typing import *");
    expect(await asked(row({ functional }))).toContain("Write the class Solution with its method pick.");
  });

  test("pytest", async () => {
    const pytest =
      "from solution import add\n\ndef test_add():\n    assert add(1, 2) == 3\n    assert add(-1, 1) == 0\n";
    expect(words(await read(row({ pytest })))).toEqual(["add(1, 2) → 3", "add(-1, 1) → 0"]);
    expect(await asked(row({ pytest }))).toContain("Write the function add.");
  });
});

test("APPS and TACO: input_output, with a function's name or without", async () => {
  const common = { question: "Add.", difficulty: "introductory", solutions: JSON.stringify(["a = 1", "b", "c", "d"]) };
  const script = { ...common, input_output: JSON.stringify({ inputs: ["1\n", ["2", "3"]], outputs: ["1\n", ["5"]] }) };
  expect(words(await read(script))).toEqual(['"1\\n" → "1\\n"', '"2\\n3" → "5"']);
  expect(await read(script)).toMatchObject({ level: "easy", references: ["a = 1", "b", "c"] });
  const huge = '{"fn_name": "inc", "inputs": [[1], [12345678901234567890]], "outputs": [[2], 12345678901234567891]}';
  expect(words(await read({ ...common, input_output: huge }))).toEqual([
    "inc(1) → one of [[2], 2]",
    "inc(12345678901234567890) → 12345678901234567891",
  ]);
  const method = { ...common, input_output: huge, starter_code: "class Solution:\n    def inc(self, x):" };
  expect(words(await read(method))[0]).toContain("Solution.inc(1)");
  expect(await asked(method)).toContain("Start from this code:\n```python\nclass Solution:");
});

test("LiveCodeBench: cases of a script, or a line of JSON for each argument", async () => {
  const cases = (testtype: string, input: string, output: string): string =>
    JSON.stringify([{ input, output, testtype }]);
  const common = { question_title: "Sum", question_content: "Add.", difficulty: "hard", metadata: "{}" };
  const script = { ...common, public_test_cases: cases("stdin", "1 2\n", "3\n"), private_test_cases: "[]" };
  expect(words(await read(script))).toEqual(['"1 2\\n" → "3\\n"']);
  const metadata = JSON.stringify({ func_name: "total" });
  const starter = "class Solution:\n    def total(self, nums: List[int], k: int) -> int:\n        ";
  const method = {
    ...common,
    metadata,
    starter_code: starter,
    public_test_cases: cases("functional", "[1, 2]\n3", "6"),
  };
  expect(words(await read(method))).toEqual(["Solution.total([1, 2], 3) → 6"]);
});

test("a float that is whole stays a float, for 2.0 is no 2 to a program, and 2 ** 2147483648 no result", async () => {
  const cases = [{ input: "2.00000\n-2147483648", output: "0.00000", testtype: "functional" }];
  const metadata = JSON.stringify({ func_name: "myPow" });
  const live = await read({
    question_content: "Power.",
    public_test_cases: JSON.stringify(cases),
    metadata,
    starter_code: "class Solution:\n    def myPow(self, x: float, n: int) -> float:\n        ",
  });
  expect(words(live)).toEqual(["Solution.myPow(2.0, -2147483648) → 0.0"]);
  const apps = await read({
    question: "Q",
    input_output: '{"fn_name": "f", "inputs": [[2.0, [1e2, -0.0]]], "outputs": [{"a": 1024.0}]}',
  });
  expect(words(apps)).toEqual(['f(2.0, [100.0, 0.0]) → {"a": 1024.0}']);
  const scripts = await read({ prompt: "Q", tests: '[{"input": 2.50, "output": 2.0}]' });
  expect(words(scripts)).toEqual(['"2.5" → "2.0"']);
});

test("null in a text of JSON is None, and no text", async () => {
  const cases = [{ input: "null", output: "null", testtype: "functional" }];
  const common = { question_content: "Q", metadata: JSON.stringify({ func_name: "f" }) };
  const live = await read({ ...common, public_test_cases: JSON.stringify(cases) });
  expect(words(live)).toEqual(["f(None) → None"]);
  const text = await read({ ...common, public_test_cases: JSON.stringify([{ ...cases[0], output: "no JSON" }]) });
  expect(words(text)).toEqual(['f(None) → "no JSON"']);
});

test('beside arguments that are values a text is a value too: "101" is no 101 to bin(x)[2:]', async () => {
  const truth = { fn_name: "f", inputs: [[5], [6], [7]], outputs: ["101", "abc", ["110"]] };
  expect(words(await read({ question: "Q", input_output: JSON.stringify(truth) }))).toEqual([
    'f(5) → one of ["101", 101]',
    'f(6) → "abc"',
    'f(7) → one of [["110"], "110"]',
  ]);
});

describe("LiveCodeBench's private tests, which are packed", () => {
  const row = (packed: string) => ({
    question_content: "Add.",
    public_test_cases: JSON.stringify([{ input: "1", output: "1", testtype: "stdin" }]),
    private_test_cases: packed,
  });
  /** Returns the expression's value as Python's pickle packs it. */
  const packedBy = (expression: string, protocol = 4): string =>
    execFileSync("python3", ["-c", PACK, expression, String(protocol)], { encoding: "utf8" });
  const PACK = `
import base64, datetime, json, os, pickle, sys, zlib
class Runs:
    def __reduce__(self): return os.system, ("true",)
class Joins:
    def __reduce__(self): return str, ("[]",)
cases = [{"input": "é" + "2" * 300, "output": "3\\n", "testtype": "stdin"}]
many = [{"input": "x" * 1000, "output": "3", "testtype": "stdin"}] * 200
print(base64.b64encode(zlib.compress(pickle.dumps(eval(sys.argv[1]), int(sys.argv[2])))).decode(), end="")`;

  test.each([1, 2, 3, 4, 5])("are read: protocol %i", async (protocol) => {
    const { tests } = await read(row(packedBy("json.dumps(cases, ensure_ascii=False)", protocol)));
    expect(tests.slice(1)).toEqual([{ kind: "script", stdin: `é${"2".repeat(300)}`, stdout: "3\n" }]);
    expect((await read(row(packedBy("json.dumps(many)", protocol)))).tests).toHaveLength(LIMITS.testsMax);
  });

  test.each([
    ["Runs()", "a pickle of something other than a text, which is never loaded"],
    ["Joins()", "a pickle of something other than a text, which is never loaded"],
    ["cases", "a pickle of something other than a text, which is never loaded"],
    ["json.dumps(cases).encode()", "a pickle of something other than a text, which is never loaded"],
    ["['[]']", "a pickle of something other than a text, which is never loaded"],
    ["'x' * 10**8", "more than 2000000 bytes when it is unpacked"],
    ["'x'", "no list of test cases"],
    ["'{}'", "no list of test cases"],
    ["'\\ud800'", "a text that is not UTF-8"],
  ])("refuse the row, which says why: %s", async (expression, why) => {
    expect(await refusal(row(packedBy(expression)))).toBe(`private_test_cases: ${why}`);
  });

  test.each([
    ["eJxrYJmay", "base64 of data that zlib did not compress"],
    ["%%%", "neither JSON nor base64"],
    ["AAAA", "base64 of data that zlib did not compress"],
    ['{"a": 1}', "no list of test cases"],
    [
      deflateSync(Buffer.from([0x80, 4, 0x8d, 255, 255, 255, 255, 255, 255, 255, 255, 0x2e])).toString("base64"),
      "a pickle of something",
    ],
    [deflateSync(Buffer.from([0x80, 4, 0x58, 255, 0, 0, 0, 65, 0x2e])).toString("base64"), "a pickle of something"],
    [deflateSync(Buffer.from([0x80, 4, 0x8c])).toString("base64"), "a pickle of something"],
    [deflateSync(Buffer.from([0x95])).toString("base64"), "a pickle of something"],
    [deflateSync(Buffer.from([0x8c, 1, 65, 0x8c, 1, 66, 0x2e])).toString("base64"), "a pickle of something"],
  ])("refuse the row, which says why: %j", async (packed, why) => {
    expect(await refusal(row(packed))).toContain(`private_test_cases: ${why}`);
  });
});

test("HumanEval: the head of a function, gone on with by a program that holds all of it", async () => {
  const prompt = 'from typing import List\n\n\ndef most(numbers: List[int]) -> int:\n    """The largest."""\n';
  const row = {
    task_id: "X/0",
    prompt,
    entry_point: "most",
    canonical_solution: "    return max(numbers)\n",
    test: "METADATA = {}\n\ndef check(candidate):\n    assert candidate([1, 3]) == 3\n    assert True\n",
  };
  expect(words(await read(row))).toEqual(["most([1, 3]) → 3"]);
  expect(await read(row)).toMatchObject({
    prefix: "from typing import List",
    references: [`${prompt}    return max(numbers)\n`],
  });
  expect(await asked(row)).toContain(`\`\`\`python\n${prompt.trim()}\n\`\`\``);
});

test("MBPP: a list of assertions", async () => {
  const row = {
    text: "Write a function to add.",
    code: "def add(a, b): return a + b",
    test_setup_code: "",
    test_list: ["assert add(1, 2) == 3", "assert set(add(1, 2)) == set([3])"],
  };
  expect(words(await read(row))).toEqual(["add(1, 2) → 3", "set(add(1, 2)) → {3}"]);
  expect((await read(row)).references).toEqual(["def add(a, b): return a + b"]);
});

describe("our own", () => {
  test("inputs and outputs as lists of objects, in any of the levels", async () => {
    for (const [level, of] of [
      ["easy", "easy"],
      ["HARD", "hard"],
      ["nobody knows", "unrated"],
    ] as const)
      expect(await read({ prompt: "P", tests: [{ input: "1", output: 2 }], level })).toMatchObject({ level: of });
  });

  test("several functions are all asked for", async () => {
    const tests = ["assert f(1) == 1", "assert g(1) == 1"];
    expect(await asked({ prompt: "P", tests })).toContain("Write the functions f, g.");
  });

  test("neither the solution nor the tests are shown", async () => {
    const row = { prompt: "P", tests: ["assert f(123123) == 456456"], solution: "def f(x): return 456456" };
    const shown = JSON.stringify([await asked(row), code.metadata(await read(row))]);
    expect(shown).not.toMatch(/123123|456456/);
  });
});

describe("rows that are no tasks", () => {
  test.each([
    [7, "the row must be an object"],
    [{ tests: [] }, "no prompt"],
    [{ prompt: " ", tests: ["assert f(1) == 1"] }, "no prompt"],
    [{ prompt: [{ role: "assistant", content: "x" }], tests: "assert f(1)" }, "no prompt"],
    [{ prompt: "P" }, "no tests: one of tests, test"],
    [{ prompt: "P", tests: [] }, "tests: no test can be read"],
    [
      { prompt: "P", tests: ["assert f(x) == 1"] },
      "tests: no test can be read: a call of the program where a constant is wanted",
    ],
    [{ prompt: "P", tests: [7] }, "tests is a list with items that are not tests"],
    [{ prompt: "P", reward_model: { ground_truth: "34" } }, "reward_model.ground_truth: no test can be read"],
    [{ prompt: "P", input_output: '{"inputs": ["1"], "outputs": []}' }, "input_output has 1 inputs and 0 outputs"],
    [{ prompt: "P", input_output: '{"inputs": "1"}' }, "input_output has neither inputs and outputs nor tests"],
    [{ prompt: "x".repeat(LIMITS.promptCharsMax + 1), tests: ["assert f(1)"] }, "the prompt has more than 65536"],
    [{ prompt: "P", tests: [{ input: "x".repeat(LIMITS.testCharsMax), output: "" }] }, "tests: more than 2000000"],
    [
      { prompt: "P", tests: [{ input: {}, output: "" }] },
      "tests: no test can be read: an input or output that is not a text",
    ],
  ])("%j", async (row, reason) => {
    expect(await refusal(row)).toContain(reason);
  });

  test("tests that cannot be read are left out where five can be, and no fewer than cannot", async () => {
    const good = Array.from({ length: 5 }, (_, i) => `assert f(${i}) == ${i}`);
    const bad = (count: number): readonly string[] => Array.from({ length: count }, () => "assert f(open('x')) == 1");
    const kept = await read({ prompt: "P", tests: [...good, ...bad(5)] });
    expect([kept.tests.length, kept.unread.length, code.metadata(kept)["tests_unread"]]).toEqual([5, 5, "5"]);
    expect(code.rows?.remark?.(kept)).toBe("5 of its tests left out: 'open' of Python");
    expect(await refusal({ prompt: "P", tests: [...good, ...bad(6)] })).toBe(
      "tests: 6 of 11 tests cannot be read: 'open' of Python",
    );
    expect(await refusal({ prompt: "P", tests: [...good.slice(1), ...bad(1)] })).toContain(
      "1 of 5 tests cannot be read",
    );
  });

  test("a test that expects more than the sandbox takes of a program is left out, and the row says so", async () => {
    const megabyte = 1024 ** 2;
    const script = (output: string) => refusal({ prompt: "P", tests: [{ input: "", output }] });
    expect(await script("x".repeat(megabyte - 1))).toBe("none");
    expect(await script(`${"x".repeat(megabyte - 1)}\n\n`)).toBe("none");
    expect(await script("x".repeat(megabyte))).toBe(
      "tests: no test can be read: an output of 1048577 bytes, and a program may print 1048576",
    );
    expect(await script("é".repeat(megabyte / 2))).toContain("an output of 1048577 bytes");
    const call = (...outputs: readonly string[]) =>
      refusal({
        prompt: "P",
        input_output: `{"fn_name": "f", "inputs": [${outputs.map(() => "[1]").join()}], "outputs": [${outputs.join()}]}`,
      });
    const list = (count: number, item: string) => `[${Array(count).fill(item).join(",")}]`;
    expect(await call(list(240_000, "1"))).toBe("none");
    expect(await call(list(260_000, "1"))).toContain("a result of 260001 parts, and a program may return 250000");
    expect(await call(list(200_000, "0.25"))).toContain("bytes, and a program may return 2097152");
    expect(await call(`"${"x".repeat(1_100_000)}"`)).toContain("characters, and a program may return 1048576");
    expect(await call(...Array<string>(3).fill(list(200_000, "1")))).toContain(
      "1 of 3 tests cannot be read: all tests together expect more output than a program may return",
    );
    const five = Array.from({ length: 5 }, (_, i) => ({ input: `${i}`, output: "x" }));
    expect(await read({ prompt: "P", tests: [...five, { input: "", output: "x".repeat(megabyte) }] })).toMatchObject({
      unread: ["an output of 1048577 bytes, and a program may print 1048576"],
    });
  });

  test("of many tests the first count", async () => {
    const tests = Array.from({ length: 500 }, (_, i) => ({ input: `${i}`, output: `${i}` }));
    expect((await read({ prompt: "P", tests })).tests).toHaveLength(LIMITS.testsMax);
  });
});
