/** What the policy is asked. */
import type { AnswerFormat, ChatMessage } from "../../environment.ts";
import { taskPrompt } from "../../lib/task-prompt.ts";
import type { SubsetSumInstance } from "./instance.ts";
import { format } from "./parse.ts";

/** The worked example of FORGE A.5.2; its subset is the largest. */
const EXAMPLE: SubsetSumInstance = { target: 10, numbers: Int32Array.of(2, 3, 7, 8, 5), planted: [0, 1, 4] };

export function render(instance: SubsetSumInstance, answerFormat: AnswerFormat): readonly ChatMessage[] {
  const count = instance.numbers.length;
  const text = {
    question: `Choose as many as possible of ${count} numbers, which stand at the indices 0 to ${count - 1}, so that those chosen sum up to exactly a target. The same number may stand at several indices.`,
    answer:
      "Write your choice as a list of indices, in square brackets and separated by commas, in any order and each once.",
    notation: "The target comes first below; then come the numbers, as index=number.",
    exampleTitle: "Example with 5 numbers",
    example: list(EXAMPLE),
    exampleAnswer: `A largest choice is ${format(EXAMPLE.planted)}, of 3 numbers: 2 + 3 + 5 = 10.`,
    instance: list(instance),
  };
  return taskPrompt(text, answerFormat);
}

function list({ target, numbers }: SubsetSumInstance): string {
  return `target: ${target}\nnumbers: ${Array.from(numbers, (number, index) => `${index}=${number}`).join(" ")}`;
}
