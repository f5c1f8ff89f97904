/** Writes instructions for the answer formats in prompts, and well-formed completions. */
import type { AnswerFormat } from "../prompt.ts";
import { assertNever } from "../lib/assert-never.ts";
import type { Thinking } from "./locate.ts";

/** Returns the sentences at the end of a prompt that ask for an answer format. */
export function formatInstruction(format: AnswerFormat): string {
  switch (format) {
    case "think_answer":
      return "Think step by step between <think> and </think>. Then write your final answer, and nothing else, between <answer> and </answer>.";
    case "answer_line":
      return "Think step by step. End your response with a line that starts with 'Answer:' and goes on with your final answer, and write nothing after it.";
    case "answer_tag":
      return "Write your final answer, and nothing else, between <answer> and </answer>.";
    case "boxed":
      return "Write your final answer, and nothing else, inside \\boxed{}.";
    default:
      return assertNever(format);
  }
}

/**
 * Returns a correctly formatted completion with this answer. `thoughts` come before it, if the format and the mode of
 * thinking allow any.
 */
export function wrapAnswer(
  answer: string,
  format: AnswerFormat,
  thoughts = "",
  thinking: Thinking = "required",
): string {
  switch (thinking) {
    case "required":
      return `${thoughtsBefore(format, thoughts)}${marked(answer, format)}`;
    case "prefilled":
      return `\n${thoughts}\n</think>\n${marked(answer, format)}`;
    case "stripped":
      return marked(answer, format);
    default:
      return assertNever(thinking);
  }
}

/**
 * Returns the text that comes before an answer. It is empty without thoughts, so that a model does not learn to begin
 * with an empty line.
 */
function thoughtsBefore(format: AnswerFormat, thoughts: string): string {
  if (format === "think_answer") return `<think>\n${thoughts}\n</think>\n`;
  return thoughts === "" ? "" : `${thoughts}\n`;
}

function marked(answer: string, format: AnswerFormat): string {
  switch (format) {
    case "think_answer":
    case "answer_tag":
      return `<answer>${answer}</answer>`;
    case "answer_line":
      return `Answer: ${answer}`;
    case "boxed":
      return `\\boxed{${answer}}`;
    default:
      return assertNever(format);
  }
}

const CLOSING_TAG: readonly string[] = Object.freeze(["</answer>"]);
const NONE: readonly string[] = Object.freeze([]);

/**
 * Returns the strings after which generation may stop, because they end an answer. They are part of the format, so a
 * sampler must keep them in its output.
 */
export function stopStrings(format: AnswerFormat): readonly string[] {
  return format === "think_answer" || format === "answer_tag" ? CLOSING_TAG : NONE;
}
