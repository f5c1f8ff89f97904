/** Tests rows of questions: which are refused and why, the order of options, and the pool that ships. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatInstruction } from "../../../envs/answers/wording.ts";
import { loadPool, rowOf } from "../../../envs/pool.ts";
import { qa, qaLetter } from "../../../envs/qa/index.ts";
import { normalized } from "../../../envs/qa/match.ts";
import { type Question, rows } from "../../../envs/qa/question.ts";
import { instanceHash, splitOf } from "../../../envs/splits.ts";

const SUPER_GPQA = {
  uuid: "0",
  question: "What is the capital of France?",
  options: ["Lyon", "Paris", "Nice", "Lille"],
  answer: "Paris",
  answer_letter: "B",
  discipline: "Geography",
  field: "Cities",
  subfield: "Capitals",
  difficulty: "easy",
  is_calculation: false,
};
const MMLU_PRO = {
  question_id: 1,
  question: "What is 2 + 2?",
  options: ["3", "4", "5", "22"],
  answer: "B",
  answer_index: 1,
  cot_content: "",
  category: "math",
  src: "x",
};

function questionOf(row: unknown): Question {
  const read = rows.read(row);
  if (read.kind === "malformed") throw new Error(read.reason);
  return read.answer;
}

const rightOf = ({ options, right }: Question): string | undefined => options[right];

describe("columns", () => {
  test("SuperGPQA's", () => {
    const question = questionOf(SUPER_GPQA);
    expect(question).toMatchObject({ level: "easy", category: "Geography", field: "Cities: Capitals" });
    expect(rightOf(question)).toBe("Paris");
    expect([...question.options].sort()).toEqual([...SUPER_GPQA.options].sort());
    expect(qa.metadata(question)).toEqual({
      category: "Geography",
      field: "Cities: Capitals",
      difficulty: "easy",
      options: "4",
    });
  });

  test("MMLU-Pro's, with its filling", () => {
    const question = questionOf({ ...MMLU_PRO, options: [...MMLU_PRO.options, "N/A", "N/A"] });
    expect(question).toMatchObject({ level: "unrated", category: "math", field: "" });
    expect([rightOf(question), question.options.length]).toEqual(["4", 4]);
  });

  test("line breaks in an option are spaces, and a wrong one that comes twice comes once", () => {
    const question = questionOf({ ...SUPER_GPQA, options: ["Lyon", "Paris", "Saint\n  Denis", "Lyon.", "lyon"] });
    expect([...question.options].sort()).toEqual(["Lyon.", "Paris", "Saint Denis", "lyon"].sort());
  });

  const changed = (row: object, ...changes: readonly object[]) => Object.assign({}, row, ...changes) as object;
  test.each<readonly [string, object | null | string, string]>([
    ["no object", null, "a row is an object"],
    ["no question", changed(SUPER_GPQA, { question: " " }), "column question"],
    ["no options", changed(SUPER_GPQA, { options: undefined }), "column options must be a list of 2 to 26"],
    ["one option", changed(SUPER_GPQA, { options: ["Paris"] }), "column options must be a list of 2 to 26"],
    ["27", changed(SUPER_GPQA, { options: Array.from({ length: 27 }, (_, i) => `${i}`) }), "column options"],
    ["a number", changed(SUPER_GPQA, { options: ["Paris", 5] }), "column options: 5 is not a text"],
    ["an empty one", changed(SUPER_GPQA, { options: ["Paris", "**"] }), 'column options: "**" is not a text'],
    ["a long one", changed(SUPER_GPQA, { options: ["Paris", "x".repeat(4097)] }), "column options"],
    [
      "by letters",
      changed(SUPER_GPQA, { options: ["Paris", "Nice", "Both A and B"] }),
      "names other options by letter",
    ],
    ["by letters", changed(SUPER_GPQA, { options: ["Paris", "Nice", "(A), (C) or (D) only."] }), "names other options"],
    ["only wrong", changed(SUPER_GPQA, { options: ["Lyon", "Nice"] }), "column answer must be one of the options"],
    ["no answer", changed(SUPER_GPQA, { answer: 5 }), "column answer must be one of the options: column answer is 5"],
    ["another letter", changed(SUPER_GPQA, { answer_letter: "A" }), 'column answer_letter is "A"'],
    ["no letter", changed(SUPER_GPQA, { answer_letter: "Z" }), 'column answer_letter is "Z"'],
    ["twice right", changed(SUPER_GPQA, { options: ["Paris", "$Paris$", "Nice"] }), "are equal after normalization"],
    [
      "powers",
      changed(SUPER_GPQA, { options: ["x²", "x2"], answer: "x²", answer_letter: "A" }),
      "equal after normalization",
    ],
    ["no wrong one", changed(SUPER_GPQA, { options: ["Paris", "N/A"], answer_letter: "A" }), "gradus pools distract"],
    [
      "a closing tag",
      changed(SUPER_GPQA, { options: ["a </answer> b", "c"], answer: "a </answer> b", answer_letter: "A" }),
      "column answer",
    ],
    [
      "half a pair",
      changed(SUPER_GPQA, { options: ["{x", "c"], answer: "{x", answer_letter: "A" }),
      "answer format boxed",
    ],
    [
      "difficulty",
      changed(SUPER_GPQA, { difficulty: "medium" }),
      'one of easy, middle, hard, or a number, and is "medium"',
    ],
    ["index", changed(MMLU_PRO, { answer_index: 4 }), "column answer_index"],
    ["letter", changed(MMLU_PRO, { answer: "C" }), 'column answer is "C", and answer_index says "4"'],
  ])("%s", (_, row, reason) => {
    const read = rows.read(row);
    expect(read.kind === "malformed" && read.reason).toContain(reason);
  });

  test("whatever a row holds, it is read or refused in words", () => {
    const anything = fc.record({ question: fc.anything(), options: fc.anything(), answer: fc.anything() });
    const texts = fc.record({ question: fc.string(), options: fc.array(fc.string()), answer: fc.string() });
    fc.assert(
      fc.property(fc.oneof(fc.anything(), anything, texts), (row) => {
        const read = rows.read(row);
        if (read.kind === "malformed") expect(read.reason).not.toBe("");
        else expect(read.answer.options).toContain(rightOf(read.answer));
      }),
      { numRuns: 500 },
    );
  });
});

describe("the order of options", () => {
  const question = (i: number, options: readonly string[]) =>
    questionOf({ question: `Which number is ${i}?`, options, answer: `${i}` });

  test("is that of the question, whatever it is in the row", () => {
    const options = ["7", "8", "9", "10", "11"];
    const first = question(7, options);
    for (const order of [options.toReversed(), ["9", "7", "11", "8", "10"]]) {
      expect(question(7, order)).toEqual(first);
    }
  });

  test("gives the right one each place as often", () => {
    const places = Array.from({ length: 4000 }, (_, i) => question(i, [i, i + 1, i + 2, i + 3].map(String)).right);
    const counts = [0, 1, 2, 3].map((place) => places.filter((each) => each === place).length);
    // Chi-square with three degrees of freedom: one in a hundred thousand is over 25.9.
    expect(counts.reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0)).toBeLessThan(25.9);
  });

  test("has no letter of the row's", () => {
    const fixed = Array.from({ length: 400 }, (_, i) => question(i, [`${i}`, "a", "b", "c"]).right);
    expect(fixed.filter((place) => place === 0).length).toBeLessThan(140);
  });
});

describe("one task", () => {
  test("by text and by letter is one task of one split", () => {
    const question = questionOf(SUPER_GPQA);
    expect(instanceHash(qaLetter, question)).toBe(instanceHash(qa, question));
    expect(splitOf(qaLetter, question)).toBe(splitOf(qa, question));
    const [text, letter] = [qa, qaLetter].map((each) => each.render(question, "answer_tag")[0]?.content ?? "");
    for (const [place, option] of question.options.entries()) {
      expect(text).toContain(`\n${option}\n`);
      expect(letter).toContain(`\n${"ABCD"[place]}) ${option}\n`);
    }
    expect(text?.endsWith(formatInstruction("answer_tag"))).toBe(true);
  });

  test("the same question with other options is another task of the same split", () => {
    const one = questionOf(SUPER_GPQA);
    const other = questionOf({
      ...SUPER_GPQA,
      question: "What is the capital of  FRANCE?",
      options: ["Paris", "Metz"],
      answer_letter: "A",
    });
    expect(instanceHash(qa, one)).not.toBe(instanceHash(qa, other));
    for (let i = 0; i < 50; i++) {
      const numbered = (question: Question) => ({ ...question, question: `${i}: ${question.question}` });
      expect(splitOf(qa, numbered(one))).toBe(splitOf(qa, numbered(other)));
    }
  });
});

test("the pool that ships: 60 questions and more of our own, none refused, of many disciplines, with 4 to 10 options", () => {
  const pool = loadPool(qa, "qa", readFileSync(rows.defaultPool.file, "utf8"));
  const all = Array.from({ length: pool.size }, (_, place) => rowOf(pool, place).instance);
  expect([pool.rejected, pool.reasons]).toEqual([0, []]);
  expect(all.length).toBeGreaterThanOrEqual(60);
  expect(new Set(all.map(({ category }) => category)).size).toBeGreaterThanOrEqual(10);
  for (const { options } of all) {
    expect(options.length >= 4 && options.length <= 10).toBe(true);
    expect(new Set(options.map(normalized)).size).toBe(options.length);
  }
});
