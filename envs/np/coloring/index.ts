/** Defines the environment for graph colouring (FORGE A.5.10, NP-ENGINE A.4.10). README.md begins with an example. */
import { defineEnvironment } from "../../define.ts";
import { adjacencyText, canonicalGraph, type Graph, graphInvariant, graphMetadata, graphOf } from "../../lib/graph.ts";
import { inlineGraph } from "../../lib/encode-bits.ts";
import { formatIntList as format } from "../../lib/parse-lists.ts";
import { promptsOf, type TaskText } from "../../lib/task-prompt.ts";
import { generator } from "./generate.ts";
import { heuristic } from "./heuristic.ts";
import { solve, trivial } from "./solve.ts";
import { type Coloring, parse, verify } from "./verify.ts";

/**
 * Worked example in the prompts, from the paper FORGE (A.5.10). The paper's own answer, [1, 2, 1, 2], gives neighbours
 * the same colour.
 */
const EXAMPLE = graphOf([[1, 2], [3], [3], []]);
const EXAMPLE_COLORING = [1, 2, 2, 1] as const;
const EXAMPLE_COLORS = 2;

function textOf(graph: Graph): TaskText {
  return {
    question: `Color the vertices of a graph with as few colors as possible, such that no two vertices that are joined by an edge have the same color. The graph has ${graph.vertices} vertices, numbered from 0 to ${graph.vertices - 1}.`,
    answer: `Colors are whole numbers from 1. Write the coloring as a list of ${graph.vertices} colors, that of vertex 0 first, then that of vertex 1, and so on, in square brackets and separated by commas.`,
    notation: "Each line below gives a vertex and, after the colon, the vertices that it is joined to.",
    exampleTitle: `Example with ${EXAMPLE.vertices} vertices`,
    example: adjacencyText(EXAMPLE),
    exampleAnswer: `A coloring with fewest colors is ${format(EXAMPLE_COLORING)}, with ${EXAMPLE_COLORS} colors.`,
    instance: adjacencyText(graph),
  };
}

export const coloring = defineEnvironment<Graph, Coloring>({
  id: "np/coloring",
  version: 3,
  earlier: [2],
  description: "Color a graph with the fewest colors such that no two joined vertices have the same.",
  goal: "minimize",
  generator,
  solver: { solve, format, heuristic },
  trivial,
  inline: inlineGraph,
  canonical: canonicalGraph,
  invariant: graphInvariant,
  render: promptsOf(textOf),
  metadata: graphMetadata,
  answerNames: ["coloring", "colouring", "colors", "colours", "labels"],
  parse,
  verify,
  tries: true,
  shape: { kind: "labels", count: ({ vertices }) => vertices },
});
