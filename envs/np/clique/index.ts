/** The maximum clique problem (FORGE A.5.8, NP-ENGINE A.4.8). README.md opens with an example. */
import { defineEnvironment } from "../../define.ts";
import type { Solution } from "../../environment.ts";
import type { AnswerFormat, ChatMessage } from "../../prompt.ts";
import { adjacencyText, canonicalGraph, type Graph, graphInvariant, graphMetadata, graphOf } from "../../lib/graph.ts";
import { greedyClique } from "../../lib/greedy-clique.ts";
import { inlineGraph } from "../../lib/inline.ts";
import { formatIndexList as format, type IndexList as Clique, parseIndexList as parse } from "../../lib/lists.ts";
import { CLIQUE_NODES_MAX, maxClique } from "../../lib/max-clique.ts";
import { taskPrompt } from "../../lib/task-prompt.ts";
import { generator } from "./generate.ts";
import { verify } from "./verify.ts";

// What the policy is asked.

/** The worked example of FORGE A.5.8; its clique is the largest. */
const EXAMPLE = graphOf([[1, 2, 3, 4], [3, 4], [3], [4], []]);
const EXAMPLE_CLIQUE = [0, 1, 3, 4] as const;

function render(graph: Graph, answerFormat: AnswerFormat): readonly ChatMessage[] {
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

// The exact solver, in the environment's words.

function solve(graph: Graph, nodesMax = CLIQUE_NODES_MAX): Solution<Clique> {
  const { clique, ...rest } = maxClique(graph, nodesMax);
  return { answer: clique, value: clique.length, ...rest };
}

/** A large clique without search, much as the papers' public code finds one. */
function heuristic(graph: Graph): Clique {
  return greedyClique(graph);
}

/** The size of any one vertex. */
function trivial(): number {
  return 1;
}

export const clique = defineEnvironment<Graph, Clique>({
  id: "np/clique",
  version: 2,
  description: "Find a largest set of vertices of which every two are joined by an edge.",
  goal: "maximize",
  generator,
  solver: { solve, format, heuristic },
  trivial,
  inline: inlineGraph,
  canonical: canonicalGraph,
  invariant: graphInvariant,
  render,
  metadata: graphMetadata,
  answerNames: ["clique", "vertices", "s", "c"],
  parse,
  verify,
  shape: { kind: "choice", count: ({ vertices }) => vertices },
});
