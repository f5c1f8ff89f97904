/** What the policy is asked. */
import type { AnswerFormat, ChatMessage } from "../../environment.ts";
import { adjacencyText, graphOf } from "../../lib/graph.ts";
import type { Graph } from "../../lib/graph.ts";
import { taskPrompt } from "../../lib/task-prompt.ts";
import { format } from "./parse.ts";

/** The worked example of FORGE A.5.8; its clique is the largest. */
const EXAMPLE = graphOf([[1, 2, 3, 4], [3, 4], [3], [4], []]);
const EXAMPLE_CLIQUE = [0, 1, 3, 4] as const;

export function render(graph: Graph, answerFormat: AnswerFormat): readonly ChatMessage[] {
  const text = {
    question: `Find a largest clique in a graph of ${graph.vertices} vertices, numbered from 0 to ${graph.vertices - 1}: as many vertices as possible such that every two of them are joined by an edge.`,
    answer:
      "Write the clique as a list of its vertices, in square brackets and separated by commas, in any order and each once.",
    notation: "Each line below gives a vertex and, after the colon, the vertices that it is joined to.",
    exampleTitle: `Example with ${EXAMPLE.vertices} vertices`,
    example: adjacencyText(EXAMPLE),
    exampleAnswer: `A largest clique is ${format(EXAMPLE_CLIQUE)}, of ${EXAMPLE_CLIQUE.length} vertices.`,
    instance: adjacencyText(graph),
  };
  return taskPrompt(text, answerFormat);
}
