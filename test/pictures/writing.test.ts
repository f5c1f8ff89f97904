/** Tests the picture with both texts, whatever they hold, and the judge's verdicts on them. */
import { expect, test } from "vitest";
import { wrapAnswer } from "../../envs/answers/wording.ts";
import { drawCompletion, drawTask } from "../../pictures/draw.ts";
import type { Conversation } from "../../envs/writing/conversation.ts";
import { writing } from "../../envs/writing/index.ts";
import { hostileTexts } from "../envs/hostile.ts";
import { expectWellFormed } from "./looks.ts";

const instance: Conversation = {
  system: "You are a poet.",
  request: "Write a line about rain.",
  reference: "Rain again,\nand the roof is a drum.",
};

test("the texts stand side by side, under what the judge said", () => {
  const info = { outcome: "loss", verdict_as_a: "loss", reason_as_a: "it is flat" };
  const completion = wrapAnswer("Wet & wet.", "think_answer");
  const verdict = { solved: false, words: "the judge prefers the reference", info };
  const svg = drawCompletion(writing, instance, "think_answer", completion, "required", { verdict }) ?? "";
  expectWellFormed(svg);
  for (const words of [
    "You are a poet.",
    "Rain again,",
    "and the roof is a drum.",
    "Wet &amp; wet.",
    "reason as a: it is flat",
  ])
    expect(svg).toContain(words);
  expect(svg).toContain("✗ the judge prefers the reference");
});

test("without a verdict none is drawn, and without an answer the task alone", () => {
  const svg = drawTask(writing, instance, "Wet.") ?? "";
  expect(svg).not.toMatch(/[✓✗]/);
  const task = drawTask(writing, instance) ?? "";
  expect(task).toContain("Rain again,");
  expect(task).not.toContain("the answer");
});

test("any text is drawn, and a long one is cut", () => {
  for (const content of hostileTexts(5000)) {
    const svg = drawTask(writing, instance, content) ?? "";
    expectWellFormed(svg);
    expect(svg.length).toBeLessThan(60_000);
  }
  expect(drawTask(writing, instance, "a line\n".repeat(99) + "a line")).toContain("40 more lines are left out.");
});
