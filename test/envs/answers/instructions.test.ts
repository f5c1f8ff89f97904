/**
 * Instructions about the form of an answer are cut from problems, and problems are not. Before the rule had seen any of
 * `apart`, it cut 23 of those 28 whole and found something in all 28; it was then widened by the five classes it had missed.
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { cutInstructions, type ProblemKind } from "../../../envs/answers/instructions.ts";
import { apart } from "./instructions/apart.ts";
import { problems } from "./instructions/problems.ts";
import { tuned } from "./instructions/tuned.ts";

const PROBLEM: Readonly<Record<ProblemKind, string>> = {
  math: "Let $x$ be a positive integer with $x^2 = 16$. Find $x$.",
  qa: "Which planet is nearest to the Sun?",
  code: "Given an array of integers, print the sum of its elements.\n\nInput:\n\nThe first line holds n.\n\nOutput:\n\nPrint the sum.",
};

/** Matches text that would contradict the answer instruction; no prompt may hold it beside that instruction. */
const CONTRADICTION =
  /boxed|####|<\/?(?:answer|think|reasoning)|["']answer|answer:|letter|```|delimiter|\|>|\[\/?INST|assistant:|human:|### |｜/i;

describe.each([
  ["tuned", tuned],
  ["apart", apart],
])("of %s", (_, wrappings) => {
  test.each(wrappings)("%s", (_source, kind, wrapping) => {
    const problem = PROBLEM[kind];
    const { text, cut } = cutInstructions(wrapping.replace("@@", problem), kind);
    expect(text).toContain(problem);
    expect(text.replace(problem, "")).not.toMatch(CONTRADICTION);
    expect(cut.length).toBeGreaterThan(0);
  });
});

test("there are 50 instructions or more, of which a third was set apart", () => {
  expect(tuned.length + apart.length).toBeGreaterThanOrEqual(50);
  expect(apart.length).toBeGreaterThanOrEqual((tuned.length + apart.length) / 3);
});

test.each(problems)("%s: nothing is cut of %j", (kind, text) => {
  expect(cutInstructions(text, kind)).toMatchObject({ text, cut: [] });
});

test.each([
  ["math", "problem"],
  ["qa", "question"],
  ["code", "prompt"],
] as const)("nothing is cut of the pool that ships with %s", (kind, column) => {
  const pool = readFileSync(new URL(`../../../envs/${kind}/pool.jsonl`, import.meta.url), "utf8");
  const rows = pool.split("\n").filter((line) => line !== "");
  const texts = rows.map((line) => (JSON.parse(line) as Readonly<Record<string, unknown>>)[column]);
  const known = texts.filter((text) => typeof text === "string");
  expect(known.length).toBeGreaterThan(40);
  for (const text of known) expect(cutInstructions(text, kind)).toEqual({ text, cut: [], left: [] });
});

test("a sentence that holds the problem keeps it, and loses the clause about its form", () => {
  expect(cutInstructions("Find the sum of 3 and 4, and put your final answer in \\boxed{}.", "math")).toMatchObject({
    text: "Find the sum of 3 and 4.",
    cut: [", and put your final answer in \\boxed{}"],
  });
});

test("an instruction that cannot be told from the problem stays, and is found", () => {
  const text = "With your final answer as \\boxed{n}, n being the number of primes below 100, what is n?";
  expect(cutInstructions(text, "math")).toEqual({ text, cut: [], left: [text] });
});

test("a text that is nothing but an instruction stays", () => {
  const text = "Put your answer in \\boxed{}.";
  expect(cutInstructions(text, "math")).toEqual({ text, cut: [], left: [text] });
});

test("an assistant's reply behind a template goes with it, and several turns stay and are found", () => {
  const one = "<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n<|im_start|>assistant\nThe answer is 4.<|im_end|>";
  expect(cutInstructions(one, "math").text).toBe("What is 2 + 2?");
  const two = `${one}\n<|im_start|>user\nAnd 3 + 3?<|im_end|>`;
  const { text, left } = cutInstructions(two, "math");
  expect(text).toBe(two);
  expect(left.length).toBeGreaterThan(0);
});

test.each([
  "put your answer ",
  "in to you that and ",
  "(A, B, C ",
  "\\boxed{".repeat(4),
  "Human:\n\nAssistant:\n",
  "```\n",
  "<|user|>",
])("a text of 64,000 characters is read to its end: %j", (piece) => {
  const text = piece.repeat(64_000 / piece.length);
  for (const kind of ["math", "qa", "code"] as const)
    expect(cutInstructions(text, kind).text.length).toBeLessThanOrEqual(text.length);
});
