/** A right program is found whatever is around it, and is otherwise left as it is. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { locateAnswers } from "../../../envs/answers/locate.ts";
import { wrapAnswer } from "../../../envs/answers/wording.ts";
import { code } from "../../../envs/code/index.ts";
import { LIMITS } from "../../../envs/code/instance.ts";
import { readProgram } from "../../../envs/code/program.ts";

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
    ["a byte order mark", `\ufeff${PROGRAM}`],
  ])("%s", (_, text) => {
    expect(programOf(text)).toBe(PROGRAM);
  });

  test("single backticks, where it is short", () => {
    expect(programOf("`print(input())`")).toBe("print(input())");
  });
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
