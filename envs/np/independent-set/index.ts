/** The maximum independent set problem (FORGE A.5.9, NP-ENGINE A.4.9). README.md opens with an example. */
import { defineEnvironment } from "../../define.ts";
import type { Solution } from "../../environment.ts";
import type { AnswerFormat, ChatMessage } from "../../prompt.ts";
import {
  adjacencyText,
  canonicalGraph,
  complement,
  type Graph,
  graphInvariant,
  graphMetadata,
  graphOf,
} from "../../lib/graph.ts";
import { greedyClique } from "../../lib/greedy-clique.ts";
import { inlineGraph } from "../../lib/inline.ts";
import {
  formatIndexList as format,
  type IndexList as IndependentSet,
  parseIndexList as parse,
} from "../../lib/lists.ts";
import { CLIQUE_NODES_MAX, maxClique } from "../../lib/max-clique.ts";
import { taskPrompt } from "../../lib/task-prompt.ts";
import { generator } from "./generate.ts";
import { verify } from "./verify.ts";

// What the policy is asked.

/** The worked example of FORGE A.5.9; its set is the largest. */
const EXAMPLE = graphOf([[1, 2], [2, 3], [3], []]);
const EXAMPLE_SET = [0, 3] as const;

function render(graph: Graph, answerFormat: AnswerFormat): readonly ChatMessage[] {
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

// The exact solver, in the environment's words.

/** The independent sets of a graph are the cliques of its complement. */
function solve(graph: Graph, nodesMax = CLIQUE_NODES_MAX): Solution<IndependentSet> {
  const { clique, ...rest } = maxClique(complement(graph), nodesMax);
  return { answer: clique, value: clique.length, ...rest };
}

/** A large set without search, much as the papers' public code finds one. */
function heuristic(graph: Graph): IndependentSet {
  return greedyClique(complement(graph));
}

/** The size of any one vertex. */
function trivial(): number {
  return 1;
}

export const independentSet = defineEnvironment<Graph, IndependentSet>({
  id: "np/independent-set",
  version: 2,
  description: "Find a largest set of vertices of which no two are joined by an edge.",
  goal: "maximize",
  generator,
  solver: { solve, format, heuristic },
  trivial,
  inline: inlineGraph,
  canonical: canonicalGraph,
  invariant: graphInvariant,
  render,
  metadata: graphMetadata,
  answerNames: ["independent set", "set", "vertices", "s"],
  parse,
  verify,
  shape: { kind: "choice", count: ({ vertices }) => vertices },
});
