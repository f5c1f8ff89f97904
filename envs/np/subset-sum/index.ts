/**
 * Defines the environment for subset sum with as many numbers as possible (FORGE A.5.2, NP-ENGINE A.4.2). README.md
 * begins with an example.
 */
import { defineEnvironment } from "../../define.ts";
import { formatIntList as format, type IndexList as Subset, parseIntList as parse } from "../../lib/parse-lists.ts";
import { promptsOf, type TaskText } from "../../lib/task-prompt.ts";
import { invariant, generator, inline, type SubsetSumInstance } from "./generate.ts";
import { solve, trivial } from "./solve.ts";
import { verify } from "./verify.ts";

/** Worked example in the prompts, from the paper FORGE (A.5.2). The subset that it shows is the largest. */
const EXAMPLE: SubsetSumInstance = { target: 10, numbers: Int32Array.of(2, 3, 7, 8, 5), planted: [0, 1, 4] };

function textOf(instance: SubsetSumInstance): TaskText {
  const count = instance.numbers.length;
  return {
    question: `Choose as many as possible of ${count} numbers, which stand at the indices 0 to ${count - 1}, so that those chosen sum up to exactly a target. The same number may stand at several indices.`,
    answer:
      "Write your choice as a list of indices, in square brackets and separated by commas, in any order and each once.",
    notation: "The target comes first below; then come the numbers, as index=number.",
    exampleTitle: "Example with 5 numbers",
    example: list(EXAMPLE),
    exampleAnswer: `A largest choice is ${format(EXAMPLE.planted)}, of 3 numbers: 2 + 3 + 5 = 10.`,
    instance: list(instance),
  };
}

function list({ target, numbers }: SubsetSumInstance): string {
  return `target: ${target}\nnumbers: ${Array.from(numbers, (number, index) => `${index}=${number}`).join(" ")}`;
}

/**
 * Returns an optimal subset. The papers' public code also finds the optimum and measures answers against it. That
 * reference value therefore equals our baseline.
 */
function heuristic(instance: SubsetSumInstance): Subset {
  return solve(instance).answer;
}

export const subsetSum = defineEnvironment<SubsetSumInstance, Subset>({
  id: "np/subset-sum",
  version: 3,
  earlier: [2],
  description: "Choose as many numbers as possible that sum up to exactly a target.",
  goal: "maximize",
  generator,
  solver: { solve, format, heuristic },
  trivial,
  inline,
  canonical: ({ target, numbers }) => `${target} ${numbers.join(" ")}`,
  invariant,
  render: promptsOf(textOf),
  metadata: ({ numbers }) => ({ numbers: `${numbers.length}` }),
  answerNames: ["indices", "indexes", "choice", "selection", "subset", "s"],
  parse,
  verify,
  tries: true,
  shape: { kind: "choice", count: ({ numbers }) => numbers.length },
});
