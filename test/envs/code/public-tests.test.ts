/** Public tests: those that a row's author publishes, by the columns in which they stand. */
import { expect, test } from "vitest";
import { readRow } from "../../../envs/code/rows.ts";

const cases = (...inputs: readonly number[]) => inputs.map((n) => ({ input: `${n}\n`, output: `${2 * n}\n` }));
const lists = (...inputs: readonly number[]) => ({
  input: inputs.map((n) => `${n}\n`),
  output: inputs.map((n) => `${2 * n}\n`),
});

test.each<[string, object, readonly string[] | undefined]>([
  [
    "LiveCodeBench",
    {
      question_content: "Double it.",
      public_test_cases: JSON.stringify(cases(1, 2)),
      private_test_cases: JSON.stringify(cases(3, 4)),
    },
    ["1\n", "2\n"],
  ],
  [
    "code_contests",
    { description: "Double it.", public_tests: lists(1), private_tests: lists(2), generated_tests: lists(3) },
    ["1\n"],
  ],
  ["only private tests", { description: "Double it.", private_tests: lists(2), generated_tests: lists(3) }, undefined],
  ["our own columns", { prompt: "Double it.", tests: cases(1, 2) }, undefined],
  ["tests of a verifier", { prompt: "Double it.", reward_model: { ground_truth: cases(1) } }, undefined],
])("%s", (_, row, open) => {
  const read = readRow(row);
  if (read.kind !== "answer") throw new Error(read.reason);
  const { tests, publicTests } = read.answer;
  const inputs = publicTests?.map((place) => {
    const found = tests[place];
    return found?.kind === "script" ? found.stdin : "";
  });
  expect(inputs).toEqual(open);
});

test("a task with public tests has the hash that it had without the mark", async () => {
  const { code } = await import("../../../envs/code/index.ts");
  const read = readRow({ prompt: "P", public_test_cases: cases(1), private_test_cases: cases(2) });
  if (read.kind !== "answer") throw new Error(read.reason);
  const { publicTests, ...unmarked } = read.answer;
  expect(publicTests).toEqual([0]);
  expect(code.canonical(read.answer)).toBe(code.canonical(unmarked));
});
