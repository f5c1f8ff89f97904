import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { locateAnswers, type Thinking } from "../../../envs/answers/locate.ts";
import { scanAll } from "../../../envs/answers/scan-all.ts";
import { SPANS_MAX } from "../../../envs/answers/scan.ts";
import { stopStrings, wrapAnswer } from "../../../envs/answers/wording.ts";
import type { AnswerFormat } from "../../../envs/prompt.ts";
import { hostileTexts } from "../hostile.ts";

const FORMATS: readonly AnswerFormat[] = ["think_answer", "answer_line", "answer_tag", "boxed"];

const THINKINGS: readonly Thinking[] = ["required", "prefilled", "stripped"];

/** Returns the answers found, whether the format is valid, and whether the text looks cut. */
function found(
  text: string,
  format: AnswerFormat,
  thinking?: Thinking,
): readonly [readonly string[], boolean, boolean] {
  const { spans, formatValid, truncated } = locateAnswers(text, format, thinking);
  return [spans.map((span) => span.text), formatValid, truncated];
}

type Row = readonly [text: string, answers: readonly string[], formatValid: boolean, truncated: boolean];

const ROWS: Readonly<Record<AnswerFormat, readonly Row[]>> = {
  think_answer: [
    ["<think>a</think><answer>1</answer>", ["1"], true, false],
    ["<think>a</think>\n<answer> 1 </answer>", ["1"], true, false],
    ["<think><answer>0</answer></think><answer>1</answer> or <answer>2</answer>", ["1", "2"], true, false],
    ["<think>a</think>b</think><answer>1</answer>", ["1"], true, false],
    ["<think>a</think><answer>1</answer><answer>2", ["1"], true, true],
    ["<think>a</think><answer>1<answer>2</answer>3</answer>", ["2"], true, false],
    ["<think>a</think><answer></answer>", [], false, false],
    ["<think>a</think><answer>1</answer> (in <answer></answer> tags)", ["1"], true, false],
    ["<think>a</think><answer>1</answer> (in <answer>…</answer> tags)", ["1"], true, false],
    ["<think>a</think><answer>1</answer><answer>\n...\u200b</answer>", ["1"], true, false],
    ["<answer>1</answer>", ["1"], false, false],
    ["a</think><answer>1</answer>", ["1"], false, false],
    ["a</think><answer>1</answer><think></think>", [], false, false],
    ["<think>a<think>b</think><answer>1</answer>", ["1"], true, false],
    [
      "<think>the <think> tag, then <think>, </think> and <answer>2</answer></think><answer>1</answer>",
      ["1"],
      true,
      false,
    ],
    ["<think>a</think><answer>1</answer><think>", ["1"], false, true],
    ["<think>a<answer>1</answer>", [], false, true],
    ["<answer>1</answer></think>", [], false, false],
    ["<think>a</think></answer>1<answer>", [], false, true],
    ["<think>a</think><ANSWER>1</ANSWER>", ["1"], true, false],
    ["<Think>a</THINK >\n< answer >1</ answer>", ["1"], true, false],
    ['<think>a</think><answer lang="en">1</answer>', ["1"], true, false],
    ["<THINK>a <answer>1</answer>", [], false, true],
    ["<think>a</think><answers>1</answers>", [], false, false],
    ["<think>a</think><answer/>1</answer>", [], false, false],
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
    ["<answer>1</answer>\u00a0<answer>\ufeff</answer>", ["1"], true, false],
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
    ["**Answer**: 1", ["1"], true, false],
    ["**Final Answer:** 1", ["1"], true, false],
    ["Final Answer: 1", ["1"], true, false],
    ["final answer:1", ["1"], true, false],
    ["### Answer: 1", ["1"], true, false],
    ["a\r## **Final answer**: 1", ["1"], true, false],
    ["__Answer__: 1", ["1"], true, false],
    ["*Answer: 1*", ["1"], true, false],
    ["ANSWER： 1", ["1"], true, false],
    ["\u3000Answer:\u00a01", ["1"], true, false],
    ["Answer: 1\rAnswer: 2", ["1", "2"], true, false],
    ["Answer: 1\n(after 'Answer:' as asked)", ["1\n(after 'Answer:' as asked)"], true, false],
    ["Answer: 1\nAnswer: …", ["1"], true, true],
    ["**Answer*: 1", [], false, false],
    ["Answer**: 1", [], false, false],
    ["reanswer: 1", [], false, false],
    ["* Answer: 1", [], false, false],
    ["Answer: 1\nNo.\nAnswer:", ["1"], true, true],
    ["Answer:\nAnswer:", [], false, true],
    ["The Answer: 1", [], false, false],
    ["answer: 1", ["1"], true, false],
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
    ["\\boxed {1}", ["1"], true, false],
    ["$\\boxed{1}$", ["1"], true, false],
    ["\\boxed{1} in \\boxed{}", ["1"], true, false],
    ["\\boxed {a \\boxed  {1} b", ["1"], true, true],
    ["\\boxed \\boxed{1}", ["1"], true, false],
    ["\\boxed{}", [], false, false],
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
        if (answer.trim() === "") return;
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

describe("thinking, as the trainer declares it", () => {
  // Validity of the format when thinking is required, prefilled and stripped.
  type Valid = readonly [required: boolean, prefilled: boolean, stripped: boolean];
  const TABLE: readonly (readonly [text: string, thinkAnswer: Valid, others: Valid])[] = [
    ["<think>a</think>ANSWER", [true, true, true], [true, true, true]],
    ["a</think>ANSWER", [false, true, true], [true, true, true]],
    ["ANSWER", [false, false, true], [true, false, true]],
    // The text mentions the tags, or opens its thoughts although the prompt already did.
    ["<think>the <think> tag</think>ANSWER", [true, true, true], [true, true, true]],
    ["the <think> tag</think>ANSWER", [true, true, true], [true, true, true]],
    ["the </think> tag</think>ANSWER", [false, true, true], [true, true, true]],
    // The only answer is a thought, or was cut in mid-thought.
    ["<think>ANSWER</think>\nso", [false, false, false], [false, false, false]],
    ["ANSWER</think>\nso", [false, false, false], [false, false, false]],
    ["<think>ANSWER", [false, false, false], [false, false, false]],
    ["ANSWER<think>", [false, false, false], [true, false, true]],
    ["<think>a</think>ANSWER\n<think>", [false, false, false], [true, true, true]],
    ["<think>a</think>so", [false, false, false], [false, false, false]],
  ];

  test.each(TABLE)("%j", (text, thinkAnswer, others) => {
    for (const format of FORMATS) {
      // The mark of answer_line must start a line.
      const whole = text.replace("ANSWER", wrapAnswer("1", format, "", "stripped").replace("Answer", "\nAnswer"));
      const valid = THINKINGS.map((thinking) => locateAnswers(whole, format, thinking).formatValid);
      expect(valid, format).toEqual(format === "think_answer" ? thinkAnswer : others);
    }
  });

  test.each(THINKINGS)("%s: what is well formed is valid, and says where the answer is", (thinking) => {
    for (const format of FORMATS) {
      const mention = thinking === "prefilled" || format === "think_answer" ? "<think> and " : "";
      const text = wrapAnswer("[0, 1]", format, `hm, ${mention}so`, thinking);
      expect(found(text, format, thinking)).toEqual([["[0, 1]"], true, false]);
    }
  });

  test("a prefilled completion that never closes its thoughts was cut, and no answer in it counts", () => {
    for (const format of FORMATS) {
      expect(found(wrapAnswer("1", format, "", "stripped"), format, "prefilled")).toEqual([[], false, true]);
    }
  });

  test("what is wrong is said with its remedy", () => {
    expect(locateAnswers("a</think><answer>1</answer>", "think_answer").problem).toContain("thinking: prefilled");
  });
});

test("the stop strings are ends of well-formed completions", () => {
  for (const format of FORMATS) {
    for (const stop of stopStrings(format)) expect(wrapAnswer("1", format).endsWith(stop)).toBe(true);
  }
});

/** Texts that generation was stopped in, by the length limit, and the answers that still count. */
const CUT: Readonly<Record<AnswerFormat, readonly (readonly [text: string, answers: readonly string[]])[]>> = {
  answer_line: [
    ["Answer: 5", []],
    ["Answer: 5 ", []],
    ["Answer:\n5", []],
    ["Answer: [1,\n2", []],
    ["**Answer: 5**", []],
    ["**Answer:** $5$.", []],
    ["Final answer: B", []],
    ['Answer: {"answer": "5"}', []],
    ["a</think>\nAnswer: 5", []],
    ["Answer: 4\nNo.\nAnswer: 5", ["4"]],
    ["Answer: 5\n", ["5"]],
    ["Answer: 5\r\n", ["5"]],
    ["Answer: 5\u2028", ["5"]],
    ["**Answer: 5**\n", ["5"]],
    ["Answer:\n0\n1", []],
    ["```\nAnswer: 5\n```", ["5"]],
    ["Answer: 4\nAnswer: 5\n", ["4", "5"]],
  ],
  think_answer: [
    ["<think>a</think><answer>5", []],
    ["<think>a</think><answer>5</answer", []],
    ["<think>a</think><answer>5</answer>", ["5"]],
  ],
  answer_tag: [
    ["<answer>5", []],
    ["<answer>4</answer><answer>5", ["4"]],
    ["<answer>5</answer>", ["5"]],
  ],
  boxed: [
    ["\\boxed{5", []],
    ["\\boxed{\\frac{1}{2}", []],
    ["\\boxed{5}", ["5"]],
  ],
};

describe.each(FORMATS)("a completion that was cut, in %s", (format) => {
  test.each(CUT[format])("%j", (text, answers) => {
    const { spans, answer, problem } = locateAnswers(text, format, "required", true);
    expect(spans.map((span) => span.text)).toEqual(answers);
    expect(answer).toBe(answers.at(-1));
    expect(problem === undefined).toBe(answers.length > 0);
    expect(scanAll(text, format, true).map(({ start, end }) => text.slice(start, end))).toEqual(answers);
  });
});

test("new thoughts end an answer line too", () => {
  expect(locateAnswers("Answer: 5 <think>no", "answer_line", "required", true).answer).toBe("5");
});

test("a cut answer line says why it is no answer", () => {
  expect(locateAnswers("Answer: 5", "answer_line", "required", true)).toMatchObject({
    truncated: true,
    problem: expect.stringContaining("the completion was cut at its length limit in an answer") as unknown,
  });
});
