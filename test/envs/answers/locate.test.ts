import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { locateAnswers, SPANS_MAX } from "../../../envs/answers/locate.ts";
import { stopStrings, wrapAnswer } from "../../../envs/answers/wording.ts";
import type { AnswerFormat } from "../../../envs/environment.ts";
import { hostileTexts } from "../hostile.ts";

const FORMATS: readonly AnswerFormat[] = ["think_answer", "answer_line", "answer_tag", "boxed"];

/** What is found: the answers, whether the format is valid, whether the text looks cut. */
function found(text: string, format: AnswerFormat): readonly [readonly string[], boolean, boolean] {
  const { spans, formatValid, truncated } = locateAnswers(text, format);
  return [spans.map((span) => span.text), formatValid, truncated];
}

type Row = readonly [text: string, answers: readonly string[], formatValid: boolean, truncated: boolean];

const ROWS: Readonly<Record<AnswerFormat, readonly Row[]>> = {
  think_answer: [
    ["<think>a</think><answer>1</answer>", ["1"], true, false],
    ["a</think>\n<answer> 1 </answer>", ["1"], true, false],
    ["<answer>0</answer></think><answer>1</answer> or <answer>2</answer>", ["1", "2"], true, false],
    ["<think>a</think>b</think><answer>1</answer>", ["1"], true, false],
    ["<think>a</think><answer>1</answer><answer>2", ["1"], true, true],
    ["<think>a</think><answer>1<answer>2</answer>3</answer>", ["2"], true, false],
    ["<think>a</think><answer></answer>", [""], true, false],
    ["<answer>1</answer>", ["1"], false, false],
    ["<think>a<think>b</think><answer>1</answer>", ["1"], false, false],
    ["<think>a</think><answer>1</answer><think>", ["1"], false, true],
    ["<think>a<answer>1</answer>", [], false, true],
    ["<answer>1</answer></think>", [], false, false],
    ["<think>a</think></answer>1<answer>", [], false, true],
    ["<think>a</think><ANSWER>1</ANSWER>", [], false, false],
    ["", [], false, false],
  ],
  answer_tag: [
    ["<answer>1</answer>", ["1"], true, false],
    ["so\n<answer>\n[0, 1]\n</answer>\n", ["[0, 1]"], true, false],
    ["<think><answer>0</answer></think><answer>1</answer>", ["1"], true, false],
    ["<answer>1</answer><think>but <answer>2</answer>", ["1"], true, true],
    ["<think><answer>1</answer>", [], false, true],
    ["<answer>1</answer><think><answer>2</answer><think>", ["1"], true, true],
    ["<answer>1<think>2</answer>", [], false, true],
    ["<answer>1", [], false, true],
    ["<answer>1</answer", [], false, true],
    ["</answer>1", [], false, false],
  ],
  answer_line: [
    ["a\nAnswer: 1", ["1"], true, false],
    ["Answer: 1\nAnswer: 2\n", ["1", "2"], true, false],
    ["  \tAnswer:1  ", ["1"], true, false],
    ["a\r\nAnswer: [0,\r\n 1]\r\n", ["[0,\r\n 1]"], true, false],
    ["Answer:\n\n[0, 1]", ["[0, 1]"], true, false],
    ["**Answer:** 1", ["1"], true, false],
    ["**Answer: 1**", ["1"], true, false],
    ["a</think>**Answer:** 1", ["1"], true, false],
    ["* Answer: 1", [], false, false],
    ["Answer: 1\nNo.\nAnswer:", ["1"], true, true],
    ["Answer:\nAnswer:", [], false, true],
    ["The Answer: 1", [], false, false],
    ["answer: 1", [], false, false],
    ["Answer 1", [], false, false],
    ["Answer: 1</think>", [], false, false],
    ["**Answer:**", [], false, true],
  ],
  boxed: [
    ["so \\boxed{1}", ["1"], true, false],
    ["\\boxed{1} no, \\boxed{ \\frac{1}{2} }.", ["1", "\\frac{1}{2}"], true, false],
    ["}}{ \\boxed{1}", ["1"], true, false],
    ["\\boxed{\\{1\\}}", ["\\{1\\}"], true, false],
    ["\\boxed{\\boxed{1}}", ["1"], true, false],
    ["\\boxed{a \\boxed{1} b", ["1"], true, true],
    ["\\boxed{{1}", [], false, true],
    ["\\boxed{1\\}", [], false, true],
    ["\\boxed 1", [], false, false],
    ["<think>\\boxed{1}</think>", [], false, false],
  ],
};

describe.each(FORMATS)("%s", (format) => {
  test.each(ROWS[format])("%j", (text, answers, formatValid, truncated) => {
    expect(found(text, format)).toEqual([answers, formatValid, truncated]);
  });

  test("says what is wrong exactly if the format is not valid", () => {
    for (const [text] of ROWS[format]) {
      const located = locateAnswers(text, format);
      expect(located.problem === undefined, text).toBe(located.formatValid);
      if (located.formatValid) expect(located.answer).toBe(located.spans.at(-1)?.text);
    }
  });

  test("finds the answer of a well-formed completion, and where it is", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9+() ,[\]-]{0,40}$/), fc.constantFrom("", "hm", "é 𝟙"), (answer, thinking) => {
        const text = wrapAnswer(answer, format, thinking);
        const located = locateAnswers(text, format);
        if (format === "answer_line" && answer.trim() === "") return;
        expect(located.answer).toBe(answer.trim());
        expect(located.formatValid && !located.truncated).toBe(true);
        for (const span of located.spans) expect(text.slice(span.start, span.end)).toBe(span.text);
      }),
    );
  });

  test("keeps the last answers when there are many", () => {
    const many = Array.from({ length: 40 }, (_, i) => wrapAnswer(`${i}`, format)).join("\n");
    const { spans } = locateAnswers(format === "think_answer" ? many.replaceAll(/<\/?think>/g, "") : many, format);
    expect(spans.map((span) => Number(span.text))).toEqual(Array.from({ length: SPANS_MAX }, (_, i) => 24 + i));
  });

  test("takes any text", () => {
    const piece = fc.constantFrom(
      "<think>", "</think>", "<answer>", "</answer>", "\nAnswer:", "**", "\\boxed{", "{", "}", "\\", " ", "\n", "1", "é", "𝟙", "\ud800",
    ); // prettier-ignore
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join("");
        const { spans, answer, formatValid } = locateAnswers(text, format);
        let past = 0;
        for (const span of spans) {
          expect(span.start).toBeGreaterThanOrEqual(past);
          expect(text.slice(span.start, span.end)).toBe(span.text);
          past = span.end;
        }
        if (formatValid) expect(answer).toBeDefined();
      }),
      { numRuns: 300 },
    );
  });

  test("takes hostile texts of a megabyte", () => {
    for (const text of hostileTexts(1 << 20)) {
      expect(locateAnswers(text, format).spans.length).toBeLessThanOrEqual(SPANS_MAX);
    }
  });
});

test("the stop strings are ends of well-formed completions", () => {
  for (const format of FORMATS) {
    for (const stop of stopStrings(format)) expect(wrapAnswer("1", format).endsWith(stop)).toBe(true);
  }
});
