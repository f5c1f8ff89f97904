/** What the policy is asked. */
import type { AnswerFormat, ChatMessage } from "../../environment.ts";
import { adjacencyText, graphOf } from "../../lib/graph.ts";
import type { Graph } from "../../lib/graph.ts";
import { taskPrompt } from "../../lib/task-prompt.ts";
import { format } from "./parse.ts";

/** The worked example of FORGE A.5.9; its set is the largest. */
const EXAMPLE = graphOf([[1, 2], [2, 3], [3], []]);
const EXAMPLE_SET = [0, 3] as const;

export function render(graph: Graph, answerFormat: AnswerFormat): readonly ChatMessage[] {
  const text = {
    question: `Find a largest independent set in a graph of ${graph.vertices} vertices, numbered from 0 to ${graph.vertices - 1}: as many vertices as possible such that no two of them are joined by an edge.`,
    answer:
      "Write the set as a list of its vertices, in square brackets and separated by commas, in any order and each once.",
    notation: "Each line below gives a vertex and, after the colon, the vertices that it is joined to.",
    exampleTitle: `Example with ${EXAMPLE.vertices} vertices`,
    example: adjacencyText(EXAMPLE),
    exampleAnswer: `A largest independent set is ${format(EXAMPLE_SET)}, of ${EXAMPLE_SET.length} vertices.`,
    instance: adjacencyText(graph),
  };
  return taskPrompt(text, answerFormat);
}
