/** How tasks are put to the policy: what is asked, a worked example of another instance, and the instance. */
import { formatInstruction } from "../answers/wording.ts";
import type { AnswerFormat, ChatMessage } from "../prompt.ts";

export interface TaskText {
  readonly question: string;
  /** How the answer is to be written. */
  readonly answer: string;
  /** How instances are written. */
  readonly notation: string;
  /** "Example with 4 vertices" */
  readonly exampleTitle: string;
  readonly example: string;
  readonly exampleAnswer: string;
  readonly instance: string;
}

export function taskPrompt(text: TaskText, answerFormat: AnswerFormat): readonly ChatMessage[] {
  const task = [text.question, text.answer, "", text.notation];
  // A task that is the example itself goes without: its answer would stand in its prompt.
  const example = text.example === text.instance ? [] : exampleOf(text);
  const content = [...task, "", ...example, "Your task:", text.instance, "", formatInstruction(answerFormat)];
  return [{ role: "user", content: content.join("\n") }];
}

function exampleOf({ exampleTitle, example, exampleAnswer }: TaskText): readonly string[] {
  return [`${exampleTitle}:`, example, exampleAnswer, ""];
}
