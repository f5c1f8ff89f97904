/** Builds the prompt of a task: the question, a worked example of another instance, and the instance. */
import { formatInstruction } from "../answers/wording.ts";
import type { AnswerFormat, ChatMessage } from "../prompt.ts";

export interface TaskText {
  readonly question: string;
  /** Instruction on how to write the answer. */
  readonly answer: string;
  /** Explanation of the notation in which the prompt states instances. */
  readonly notation: string;
  /** Title of the example, e.g. "Example with 4 vertices". */
  readonly exampleTitle: string;
  readonly example: string;
  readonly exampleAnswer: string;
  readonly instance: string;
}

/** Returns a function that writes the prompts of an environment. `textOf` returns the texts for an instance. */
export function promptsOf<Instance>(textOf: (instance: Instance) => TaskText) {
  return (instance: Instance, answerFormat: AnswerFormat): readonly ChatMessage[] => {
    const text = textOf(instance);
    const task = [text.question, text.answer, "", text.notation];
    // Omit the example if it equals the task, because the prompt would then contain the answer.
    const example = text.example === text.instance ? [] : exampleOf(text);
    const content = [...task, "", ...example, "Your task:", text.instance, "", formatInstruction(answerFormat)];
    return [{ role: "user", content: content.join("\n") }];
  };
}

function exampleOf({ exampleTitle, example, exampleAnswer }: TaskText): readonly string[] {
  return [`${exampleTitle}:`, example, exampleAnswer, ""];
}
