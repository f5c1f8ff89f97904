/**
 * Minimum vertex cover: the fewest vertices that touch every edge. A fixture that shows what a new environment takes. In
 * the path 0-1-2-3 a smallest cover is [1, 2].
 */
import { defineEnvironment } from "../../../../envs/define.ts";
import { adjacencyText, canonicalGraph, type Graph, graphMetadata, graphOf } from "../../../../envs/lib/graph.ts";
import { formatIntList as format, type IndexList, parseIntList as parse } from "../../../../envs/lib/parse-lists.ts";
import { promptsOf, type TaskText } from "../../../../envs/lib/task-prompt.ts";
import { generator } from "./generate.ts";
import { solve } from "./solve.ts";
import { verify } from "./verify.ts";

const EXAMPLE = graphOf([[1], [2], [3], []]);

function textOf(graph: Graph): TaskText {
  return {
    question: `Find a smallest vertex cover of a graph of ${graph.vertices} vertices, numbered from 0 to ${graph.vertices - 1}: as few vertices as possible such that every edge has at least one of them at an end.`,
    answer: "Write the cover as a list of its vertices, in square brackets and separated by commas, in any order.",
    notation: "Each line below gives a vertex and, after the colon, the vertices that it is joined to.",
    exampleTitle: "Example with 4 vertices",
    example: adjacencyText(EXAMPLE),
    exampleAnswer: `A smallest cover is ${format([1, 2])}, of 2 vertices.`,
    instance: adjacencyText(graph),
  };
}

export const vertexCover = defineEnvironment<Graph, IndexList>({
  id: "np/vertex-cover",
  version: 1,
  description: "Find the fewest vertices that touch every edge of a graph.",
  goal: "minimize",
  generator,
  solver: { solve, format },
  trivial: ({ vertices }) => vertices,
  canonical: canonicalGraph,
  render: promptsOf(textOf),
  metadata: graphMetadata,
  parse,
  verify,
  shape: { kind: "choice", count: ({ vertices }) => vertices },
});

export default [vertexCover];
