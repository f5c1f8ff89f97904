import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stripAnswer } from "../../../envs/answers/strip.ts";

test.each([
  ["[1, 2]", "[1, 2]"],
  ["", ""],
  [" \u00a0\u200b\ufeff\u3000\u2028[1]\u2060\r\n", "[1]"],
  ["\\,\\ \\quad [1]\\;\\ ", "[1]"],
  ["```python\n[1]\n```", "[1]"],
  ["```\r\n[1]\r\n```", "[1]"],
  ["`````c++\n[1]\n`````", "[1]"],
  ["```1\n+ 2```", "1\n+ 2"],
  ["~~~text\n[1]\n~~~", "[1]"],
  ["$$\n\\boxed{\\text{Answer: }\\mathrm{[1]}}.\n$$", "[1]"],
  ["\\( [1] \\)", "[1]"],
  ["\\[ [1] \\]", "[1]"],
  ["**Final Answer:** **`[1]`**.", "[1]"],
  ["**Answer: `[1]`**", "[1]"],
  ["**Answer: **[1]****", "[1]"],
  ["*Answer：***[1]***.*", "[1]"],
  ["***Answer:** [1].*", "[1]"],
  ["**Answer:** *The answer is:* **[1]**", "[1]"],
  ["**Answer: *Final answer:* [1]**", "[1]"],
  ["### The answer is: “[1].”", "[1]"],
  ["the FINAL answer is [1]", "[1]"],
  ["<answer>[1]</answer>", "[1]"],
  ["3.", "3"],
  ["3 .", "3"],
  ["[1],", "[1]"],
  ["[1]\\,.", "[1]"],
])("%j is %j", (text, stripped) => {
  expect(stripAnswer(text)).toBe(stripped);
});

test.each([
  "1 + 2",
  "[1]..",
  "[1] . .",
  "[1]…",
  "1.5",
  "$1$ or 2",
  "**1",
  '"1',
  '“1"',
  "(1)",
  "{1}",
  "\\{1\\}",
  "\\left[1\\right]",
  "\\frac{1}{2}",
  "\\sqrt{1}",
  "~~1~~",
  "[1],,",
  "[1].,",
  "[1]?",
  "x = [1]",
  "not [1]",
  "answers: [1]",
  "An answer: [1]",
  "The answer isn't [1]",
  "answer == [1]",
  "not the answer: [1]",
  "wrong answer: [1]",
  "La réponse n'est pas [1]",
  "答案不是[1]",
  '{"answers": [1]}',
  '{"question": 1, "answer": [1]}',
  "[1]です",
  "So: [1]",
  "- [1]",
  "1. [1]",
  "# [1]",
  "[1] is best",
  "<think>[1]</think>",
])("%j stays as it is", (text) => {
  expect(stripAnswer(text)).toBe(text);
});

test("a text that only looks wrapped keeps the marks within", () => {
  expect(stripAnswer("$1$ or $2$")).toBe("1$ or $2");
  expect(stripAnswer("**1** and **2**")).toBe("1** and **2");
  expect(stripAnswer("\\text{1} \\text{2}")).toBe("1} \\text{2");
});

const PIECES = [
  ..."`*$_\"'#.~ \n\\{}[]()1,。“”‘’",
  ...["```", "\\(", "\\)", "\\[", "\\]", "\\text{", "\\boxed {", "<answer>", "</answer>", "Answer:", "The answer is "],
  ...["**", "$$", "\\,", "\\ ", "\u200b", "[1, 2]"],
];

describe("whatever the text", () => {
  const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((pieces) => pieces.join(""));

  test("what is left is a part of it, and nothing more goes away", () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: "binary" })), (given) => {
        const left = stripAnswer(given);
        expect(given.includes(left)).toBe(true);
        expect(stripAnswer(left)).toBe(left);
      }),
      { numRuns: 5000 },
    );
  });

  // Quadratic time would take minutes.
  test.each(PIECES)("a quarter of a megabyte of %j around an answer", (piece) => {
    const half = piece.repeat((1 << 17) / piece.length);
    for (const whole of [
      `${half}[1]${half}`,
      `${half}[1]`,
      `[1]${half}`,
      `**${half}[1]${half}**`,
      `${half} x }${half}.`,
    ]) {
      expect(whole.includes(stripAnswer(whole))).toBe(true);
    }
  });
});
