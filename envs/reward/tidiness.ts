/**
 * Measures how well a completion keeps to its format, regardless of its answer (Omni-Thinker A.1, "auxiliary rewards").
 */
import type { Located, Thinking } from "../answers/locate.ts";
import type { AnswerFormat } from "../prompt.ts";
import type { Tidiness } from "./scheme.ts";

const THOUGHTS = ["<think>", "</think>"] as const;
const ANSWER = ["<answer>", "</answer>"] as const;

/**
 * Tags that a completion should contain (Omni-Thinker A.1). Leaves out tags that the chat template adds to the prompt,
 * or removes from the completion.
 */
const COUNTED: Readonly<Record<Thinking, readonly string[]>> = {
  required: [...THOUGHTS, ...ANSWER],
  prefilled: ["</think>", ...ANSWER],
  stripped: ANSWER,
};

export function tidinessOf(
  completion: string,
  located: Located,
  format: AnswerFormat,
  thinking: Thinking = "required",
): Tidiness {
  const counted = COUNTED[thinking];
  return {
    formatValid: located.formatValid,
    formatStrict: located.formatValid && located.spans.length === 1 && inOrder(completion, tagsOf(format, thinking)),
    tags: counted.filter((tag) => completion.includes(tag)).length / counted.length,
  };
}

/** Returns the tags that a completion in the format must contain, in order. */
function tagsOf(format: AnswerFormat, thinking: Thinking): readonly string[] {
  switch (format) {
    case "think_answer":
      return COUNTED[thinking];
    case "answer_tag":
      return thinking === "prefilled" ? COUNTED.prefilled : ANSWER;
    case "answer_line":
    case "boxed":
      return thinking === "prefilled" ? ["</think>"] : [];
  }
}

/** Returns whether each tag occurs exactly once, in the given order. */
function inOrder(completion: string, tags: readonly string[]): boolean {
  let last = -1;
  for (const tag of tags) {
    const at = completion.indexOf(tag);
    if (at <= last || completion.indexOf(tag, at + 1) >= 0) return false;
    last = at;
  }
  return true;
}
