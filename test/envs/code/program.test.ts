/** Tests that a program is found in any surrounding text and is otherwise left unchanged. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { locateAnswers } from "../../../envs/answers/locate.ts";
import { wrapAnswer } from "../../../envs/answers/wording.ts";
import { code } from "../../../envs/code/index.ts";
import { type CodeTest, LIMITS } from "../../../envs/code/instance.ts";
import { withPrefix } from "../../../envs/code/prefix.ts";
import { readProgram } from "../../../envs/code/program.ts";
import { readRow } from "../../../envs/code/rows.ts";

function testsOf(row: object): readonly CodeTest[] {
  const read = readRow({ prompt: "P", ...row });
  if (read.kind !== "answer") throw new Error(read.reason);
  return read.answer.tests;
}

const callsOf = (...names: readonly string[]): readonly CodeTest[] => {
  const test = { args: [1], views: [], expected: { kind: "equal", value: 1 } };
  return testsOf({ tests_read: { tests: names.map((name) => ({ name, ...test })), unread: [] } });
};

const PROGRAM =
  'def f(x):\n    """Says so: `x`."""\n    if x:\n        return {"a": [x]}\n\n\treturn None  # \\boxed{1}';

function programOf(text: string): string {
  const read = readProgram(text);
  return read.kind === "answer" ? read.answer : `malformed: ${read.reason}`;
}

describe("a program is read out of", () => {
  test.each([
    ["nothing around it", PROGRAM],
    ["a fence", `\`\`\`python\n${PROGRAM}\n\`\`\``],
    ["a fence of another language name", `\`\`\`py\n${PROGRAM}\n\`\`\``],
    ["a fence with a version", `\`\`\`Python3.11\n${PROGRAM}\n\`\`\``],
    ["a fence without a language", `\`\`\`\n${PROGRAM}\n\`\`\``],
    ["a fence of tildes", `~~~python\n${PROGRAM}\n~~~`],
    ["a longer fence", `\`\`\`\`python\n${PROGRAM}\n\`\`\`\``],
    ["a fence with more on its line", `\`\`\`python title="a.py"\n${PROGRAM}\n\`\`\``],
    ["a fence in braces", `\`\`\`{.python}\n${PROGRAM}\n\`\`\``],
    ["a fence that nothing closes", `\`\`\`python\n${PROGRAM}`],
    ["a fence that is closed on the last line", `\`\`\`python\n${PROGRAM}\`\`\``],
    ["prose", `Here it is:\n\n\`\`\`python\n${PROGRAM}\n\`\`\`\nIt is fast.`],
    ["a list", `1. Here:\n   \`\`\`python\n${PROGRAM.replaceAll(/^/gm, "   ")}\n   \`\`\``],
    [
      "several blocks, of which it is the last",
      `\`\`\`python\nx = 1\n\`\`\`\nBetter:\n\`\`\`python\n${PROGRAM}\n\`\`\``,
    ],
    ["blocks of other things", `\`\`\`python\n${PROGRAM}\n\`\`\`\nOutput:\n\`\`\`\n5\n\`\`\`\n\`\`\`text\n6\n\`\`\``],
    ["lines that end as on Windows", `\`\`\`python\r\n${PROGRAM.replaceAll("\n", "\r\n")}\r\n\`\`\`\r\n`],
    ["a fence in a fence", `\`\`\`\`markdown\nSo:\n\`\`\`python\n${PROGRAM}\n\`\`\`\n\`\`\`\``],
    ["a byte order mark", `\ufeff${PROGRAM}`],
    ["a byte order mark in a fence", `\`\`\`python\n\ufeff${PROGRAM}\n\`\`\``],
  ])("%s", (_, text) => {
    expect(programOf(text)).toBe(PROGRAM);
  });

  test("single backticks, where it is short", () => {
    expect(programOf("`print(input())`")).toBe("print(input())");
  });
});

describe("of several blocks of Python the last that can be the program counts", () => {
  const call: readonly CodeTest[] = callsOf("f", "f");
  const script: readonly CodeTest[] = testsOf({ tests: [{ input: "1", output: "1" }] });
  const silent: readonly CodeTest[] = testsOf({ tests: [{ input: "", output: "1" }] });
  const method: readonly CodeTest[] = callsOf("Solution.f");
  const two: readonly CodeTest[] = callsOf("f", "g");
  const f = "def f(x):\n    return x";
  const reading = "n = int(input())\nprint(n)";
  const cls = "class Solution:\n    def f(self, x):\n        return x";
  test.each<readonly [string, readonly CodeTest[], string, readonly string[]]>([
    ["a call that is shown after it", call, f, [f, "print(f(3))"]],
    ["a session that is shown after it", call, f, [f, ">>> f(3)\n3"]],
    ["tests of its own after it", call, f, [f, "def test_f():\n    assert f(1) == 1\n    assert f == f"]],
    ["a result that is kept", call, f, [f, "y = f(1)\nassert f(1) == 1"]],
    ["a better one after it", call, "def f(x): return 2", [f, "def f(x): return 2"]],
    [
      "one that is made by an expression",
      call,
      "f: object = lambda x: x",
      ["x = 1", "f: object = lambda x: x", "f(1)"],
    ],
    ["one within a condition", call, "if True:\n    def f(x): pass", ["if True:\n    def f(x): pass", "f(1)"]],
    ["one that is async", call, "async def f(x): pass", ["async def f(x): pass", "await f(1)"]],
    ["none that defines it", call, "g(1)", ["x = 1", "g(1)"]],
    ["others with names like it", call, f, [f, "def f2(x): pass\nff = 1\nself.f = 2"]],
    ["a class", method, cls, [cls, "s = Solution()\nprint(s.f(1))"]],
    ["both of two functions", two, `${f}\ng = f`, [`${f}\ng = f`, "def g(x): pass"]],
    ["one of two functions, where no block has both", two, "def g(x): pass", [f, "def g(x): pass", "g(1)"]],
    ["a script that reads", script, reading, [reading, "# Input: 5\n# Output: 5", "print(5)"]],
    [
      "a script that reads otherwise",
      script,
      "import sys\nprint(sys.stdin.read())",
      ["import sys\nprint(sys.stdin.read())", "print(5)"],
    ],
    ["a script, and not words of its input", script, reading, [reading, "# input: 5\nprint('the input is', 5)"]],
    ["a script that opens 0", script, "print(open(0).read())", ["print(open(0).read())", "print(5)"]],
    ["a script where there is nothing to read", silent, "print(5)", [reading, "print(5)"]],
    ["a script that reads nothing", script, "print(5)", ["print(4)", "print(5)"]],
  ])("%s", (_, tests, program, blocks) => {
    for (const language of ["python", ""]) {
      const text = blocks.map((block) => `So:\n\`\`\`${language}\n${block}\n\`\`\``).join("\n\n");
      expect(readProgram(text, tests)).toEqual({ kind: "answer", answer: program });
    }
  });

  test("blocks of other languages stand for it only where there are no others", () => {
    const text = `\`\`\`\n${f}\n\`\`\`\n\`\`\`python\nprint(f(1))\n\`\`\``;
    expect(readProgram(text, call)).toEqual({ kind: "answer", answer: "print(f(1))" });
    expect(readProgram("```text\nx\n```", call)).toEqual({ kind: "answer", answer: "x" });
  });
});

test("a fence in a docstring closes nothing", () => {
  const indented = 'def f(x):\n    """For example:\n\n    ```\n    f(1)\n    ```\n    """\n    return x';
  const flush = "'''\n```python\nf(1)\n```\n'''\ndef f(x):\n    return x";
  for (const program of [indented, flush]) expect(programOf(`\`\`\`python\n${program}\n\`\`\`\nSo.`)).toBe(program);
  // Text that only looks like a closing fence counts as one if there is no other.
  expect(programOf("```python\nx = 1\n      ```\nSo.")).toBe("x = 1");
  expect(programOf('```python\nx = """\n```\nSo.')).toBe('x = """');
});

test("many fences that are closed far to the right are read soon", () => {
  const text = "```py\nx\n      ```\n".repeat(14_000);
  expect(programOf(text)).toBe("x");
  // A naive search would look for each fence's end up to the end of the text.
  const far = "```py\nx\n    ```\n".repeat(256);
  for (const rest of ["\n", "\"\"\"'''"])
    expect(programOf(far + rest.repeat((4 * LIMITS.programCharsMax - far.length) / rest.length))).toBe("x");
});

test("marks of no width in the middle of a line are read soon", () => {
  const text = `x${"\u200b".repeat(LIMITS.programCharsMax - 2)}y`;
  expect(programOf(text)).toBe(text);
});

test("a program of many texts before its imports from __future__ is read soon", () => {
  const program = `${'""\n'.repeat(100_000)}from __future__ import annotations\nx = 1`;
  expect(withPrefix("y = 2", program).linesBefore).toBe(100_001);
});

test("fences longer than those inside of them hold them", () => {
  const inner = '"""\n```\nexample\n```\n"""\nx = 1';
  expect(programOf(`\`\`\`\`python\n${inner}\n\`\`\`\``)).toBe(inner);
});

test("what has no program is malformed", () => {
  for (const text of ["", "```python\n```", "```\n\n   \n```", " \n"])
    expect(programOf(text)).toBe("malformed: the program is empty");
  expect(programOf("x".repeat(LIMITS.programCharsMax + 1))).toContain("malformed: the program has more than 65536");
  expect(programOf("x".repeat(LIMITS.programCharsMax))).toHaveLength(LIMITS.programCharsMax);
});

test("any program comes back from every format as it was", () => {
  const line = fc.stringMatching(/^[ \t]{0,8}[a-z(){}[\]:=+*'"\\ .,$_*#]{1,30}$/);
  const program = fc.array(line, { minLength: 1, maxLength: 12 }).map((lines) => `pass\n${lines.join("\n")}\npass`);
  const property = fc.property(program, fc.constantFrom(...code.answerFormats), (source, format) => {
    const completion = wrapAnswer(`\`\`\`python\n${source}\n\`\`\``, format, "thoughts");
    expect(programOf(locateAnswers(completion, format).answer ?? "")).toBe(source);
  });
  fc.assert(property, { seed: 5, numRuns: 500 });
});
