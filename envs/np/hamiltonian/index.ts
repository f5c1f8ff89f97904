/**
 * Defines the environment for the longest cycle (FORGE A.5.6, NP-ENGINE A.4.6: "Hamiltonian cycle"). README.md begins
 * with an example.
 */
import { defineEnvironment } from "../../define.ts";
import { adjacencyText, canonicalGraph, edgeCount, type Graph, graphInvariant, graphOf } from "../../lib/graph.ts";
import { inlineGraph } from "../../lib/encode-bits.ts";
import { formatCycleList as format, parseCycleList as parse } from "../../lib/parse-lists.ts";
import { promptsOf, type TaskText } from "../../lib/task-prompt.ts";
import { generator } from "./generate.ts";
import { heuristic } from "./heuristic.ts";
import { solve, trivial } from "./solve/index.ts";
import { type Cycle, verify } from "./verify.ts";

/**
 * Worked example in the prompts. It is our own, because the papers have none. Vertex 4 has one neighbour, so that no
 * cycle holds all five vertices.
 */
const EXAMPLE = graphOf([[1, 3, 4], [2, 3], [3], [], []]);
const EXAMPLE_CYCLE = [0, 1, 2, 3] as const;

function textOf(graph: Graph): TaskText {
  const { vertices } = graph;
  return {
    question: `Find a cycle through as many vertices as possible in a graph of ${vertices} vertices, numbered from 0 to ${vertices - 1}. A cycle visits at least 3 vertices, none of them twice, goes along edges, and returns from its last vertex to its first. There may be no cycle through all vertices.`,
    answer:
      "Write the cycle as a list of its vertices in the order they are visited, in square brackets and separated by commas, with the first vertex again at the end.",
    notation:
      "Each line below gives a vertex and, after the colon, its neighbours: the vertices that an edge joins it to.",
    exampleTitle: `Example with ${EXAMPLE.vertices} vertices`,
    example: adjacencyText(EXAMPLE),
    exampleAnswer: `A longest cycle is ${format(EXAMPLE_CYCLE)}, with ${EXAMPLE_CYCLE.length} vertices.`,
    instance: adjacencyText(graph),
  };
}

export const hamiltonian = defineEnvironment<Graph, Cycle>({
  id: "np/hamiltonian",
  version: 3,
  earlier: [2],
  description: "Find a cycle through as many vertices of a graph as possible.",
  goal: "maximize",
  generator,
  solver: { solve, format, heuristic },
  trivial,
  inline: inlineGraph,
  canonical: canonicalGraph,
  invariant: graphInvariant,
  render: promptsOf(textOf),
  // Omit the number of vertices from the metadata, because it is often the optimum.
  metadata: (graph) => ({ edges: `${edgeCount(graph)}` }),
  answerNames: ["cycle", "hamiltonian cycle", "tour", "route", "path"],
  parse,
  verify,
  tries: true,
  shape: { kind: "route", count: ({ vertices }) => vertices },
});
