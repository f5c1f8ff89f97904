/**
 * Defines the environment for the knapsack problem (FORGE A.5.3, NP-ENGINE A.4.3). README.md begins with an example.
 */
import { defineEnvironment } from "../../define.ts";
import { formatIntList as format, type IndexList as Choice, parseIntList as parse } from "../../lib/parse-lists.ts";
import { promptsOf, type TaskText } from "../../lib/task-prompt.ts";
import { invariant, generator, inline, type KnapsackInstance } from "./generate.ts";
import { solve, trivial } from "./solve.ts";
import { verify } from "./verify.ts";

/** Worked example in the prompts, from the paper FORGE (A.5.3). The paper's choice, of value 25, is not the best. */
const EXAMPLE: KnapsackInstance = {
  capacity: 20,
  weights: Int32Array.of(3, 4, 7, 8),
  values: Int32Array.of(4, 5, 10, 11),
};
const EXAMPLE_CHOICE = [1, 2, 3] as const;

function textOf(instance: KnapsackInstance): TaskText {
  const count = instance.weights.length;
  return {
    question: `Choose from ${count} items, numbered from 0 to ${count - 1}, those that are worth the most together and weigh no more than a capacity.`,
    answer:
      "Write your choice as a list of the items' numbers, in square brackets and separated by commas, in any order and each once.",
    notation:
      "The capacity comes first below; then each line gives an item and, after the colon, its weight and its value.",
    exampleTitle: "Example with 4 items",
    example: list(EXAMPLE),
    exampleAnswer: `A best choice is ${format(EXAMPLE_CHOICE)}, which weighs 4 + 7 + 8 = 19 and is worth 5 + 10 + 11 = 26.`,
    instance: list(instance),
  };
}

function list({ capacity, weights, values }: KnapsackInstance): string {
  const lines = Array.from(weights, (weight, item) => `${item}: weight=${weight} value=${values[item]}`);
  return [`capacity: ${capacity}`, ...lines].join("\n");
}

/**
 * Returns an optimal choice. The papers' public code also finds the optimum and measures answers against it. That
 * reference value therefore equals our baseline.
 */
function heuristic(instance: KnapsackInstance): Choice {
  return solve(instance).answer;
}

export const knapsack = defineEnvironment<KnapsackInstance, Choice>({
  id: "np/knapsack",
  version: 3,
  earlier: [2],
  description: "Choose the items of the largest total value that fit within a capacity.",
  goal: "maximize",
  generator,
  solver: { solve, format, heuristic },
  trivial,
  inline,
  canonical: ({ capacity, weights, values }) => `${capacity} ${weights.join(" ")} ${values.join(" ")}`,
  invariant,
  render: promptsOf(textOf),
  metadata: ({ capacity, weights }) => ({ items: `${weights.length}`, capacity: `${capacity}` }),
  answerNames: ["items", "choice", "selection", "s"],
  parse,
  verify,
  tries: true,
  shape: { kind: "choice", count: ({ weights }) => weights.length },
});
