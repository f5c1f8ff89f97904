/** Format and tags as Omni-Thinker A.1 counts them, and the strict variant beside them. */
import { describe, expect, test } from "vitest";
import { locateAnswers, type Thinking } from "../../envs/answers/locate.ts";
import { wrapAnswer } from "../../envs/answers/wording.ts";
import type { AnswerFormat } from "../../envs/prompt.ts";
import { tidinessOf } from "../../envs/reward/tidiness.ts";

/** [format, format_strict, tags]. */
function tidy(completion: string, format: AnswerFormat = "think_answer", thinking: Thinking = "required") {
  const { formatValid, formatStrict, tags } = tidinessOf(
    completion,
    locateAnswers(completion, format, thinking),
    format,
    thinking,
  );
  return [Number(formatValid), Number(formatStrict), tags];
}

describe("tags of thinking and answer", () => {
  test.each<readonly [string, readonly number[]]>([
    ["<think>a</think><answer>b</answer>", [1, 1, 1]],
    ["So: <think>a</think> then <answer>b</answer> done", [1, 1, 1]],
    ["<think>a</think><answer>b</answer><answer>c</answer>", [1, 0, 1]],
    ["<think>a</think><think>b</think><answer>c</answer>", [1, 0, 1]],
    ["<think>the </think> tag</think><answer>b</answer>", [1, 0, 1]],
    ["<think>not <answer>yet</answer></think><answer>b</answer>", [1, 0, 1]],
    ["<think>a</think><answer></answer>", [0, 0, 1]],
    ["<answer>b</answer><think>a</think>", [0, 0, 1]],
    ["</answer><answer></think><think>", [0, 0, 1]],
    ["<think>a<answer>b</answer>", [0, 0, 0.75]],
    ["<answer>b</answer>", [0, 0, 0.5]],
    ["<think>a</think>", [0, 0, 0.5]],
    ["<think>", [0, 0, 0.25]],
    ["<THINK>a</THINK>", [0, 0, 0]],
    ["", [0, 0, 0]],
  ])("%j", (completion, wanted) => expect(tidy(completion)).toEqual(wanted));
});

describe("what the chat template moves", () => {
  test("a <think> in the prompt is not asked for", () => {
    expect(tidy("a</think><answer>b</answer>", "think_answer", "prefilled")).toEqual([1, 1, 1]);
    expect(tidy("a</think>", "think_answer", "prefilled")).toEqual([0, 0, 1 / 3]);
    expect(tidy("a</think><answer>b</answer>")).toEqual([0, 0, 0.75]);
  });

  test("thoughts that were taken away are not asked for", () => {
    expect(tidy("<answer>b</answer>", "think_answer", "stripped")).toEqual([1, 1, 1]);
    expect(tidy("<answer>b", "think_answer", "stripped")).toEqual([0, 0, 0.5]);
  });
});

test("every format's own completion is valid, strictly, however much of its thinking it holds", () => {
  for (const format of ["think_answer", "answer_line", "answer_tag", "boxed"] as const)
    for (const thinking of ["required", "prefilled", "stripped"] as const)
      expect(
        tidy(wrapAnswer("7", format, "hm", thinking), format, thinking).slice(0, 2),
        `${format} ${thinking}`,
      ).toEqual([1, 1]);
});

test("two answers are not strict in any format", () => {
  expect(tidy("\\boxed{1} \\boxed{2}", "boxed").slice(0, 2)).toEqual([1, 0]);
  expect(tidy("Answer: 1\nAnswer: 2", "answer_line").slice(0, 2)).toEqual([1, 0]);
});
