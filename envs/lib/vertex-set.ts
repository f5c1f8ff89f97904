/**
 * Defines an environment whose task is to find a largest set of vertices in a graph. Either every two vertices of the
 * set are joined by an edge, or no two are. The environments for cliques and independent sets share this definition.
 */
import { defineEnvironment } from "../define.ts";
import type { Generator, Solution, SyncEnvironment } from "../environment.ts";
import { type Facts, infeasible } from "../facts.ts";
import {
  adjacencyText,
  adjacent,
  canonicalGraph,
  complement,
  type Graph,
  graphInvariant,
  graphMetadata,
} from "./graph.ts";
import { greedyClique } from "./greedy-clique.ts";
import { inlineGraph } from "./encode-bits.ts";
import { formatIntList as format, type IndexList, indexProblem, parseIntList as parse } from "./parse-lists.ts";
import { CLIQUE_NODES_MAX, maxClique } from "./max-clique.ts";
import { promptsOf, type TaskText } from "./task-prompt.ts";

export interface VertexSetProblem {
  readonly id: string;
  readonly version: number;
  readonly earlier: readonly number[];
  readonly generator: Generator<Graph>;
  /** True if every two vertices of the set must be joined by an edge, false if no two may be. */
  readonly joined: boolean;
  /** Name of the set that a task asks for, e.g. "independent set". */
  readonly name: string;
  /** Article before the set's name. */
  readonly article: "a" | "an";
  /** Single word for the set that a task asks for: "clique" or "set". */
  readonly word: string;
  readonly answerNames: readonly string[];
  readonly example: { readonly graph: Graph; readonly largest: IndexList };
}

export function vertexSetEnvironment(problem: VertexSetProblem): SyncEnvironment<Graph, IndexList> {
  const { id, version, earlier, generator, joined, answerNames } = problem;
  // The independent sets of a graph are the cliques of its complement.
  const searched = (graph: Graph): Graph => (joined ? graph : complement(graph));
  return defineEnvironment<Graph, IndexList>({
    id,
    version,
    earlier,
    description: `Find a largest set of vertices of which ${joined ? "every" : "no"} two are joined by an edge.`,
    goal: "maximize",
    generator,
    solver: {
      solve: (graph, nodesMax = CLIQUE_NODES_MAX): Solution<IndexList> => maxClique(searched(graph), nodesMax),
      format,
      // The greedy answer that reports compare with, similar to the one in the papers' public code.
      heuristic: (graph) => greedyClique(searched(graph)),
    },
    // A single vertex is always feasible.
    trivial: () => 1,
    inline: inlineGraph,
    canonical: canonicalGraph,
    invariant: graphInvariant,
    render: promptsOf((graph: Graph) => textOf(problem, graph)),
    metadata: graphMetadata,
    answerNames,
    parse,
    verify: (graph, set) => verify(problem, graph, set),
    tries: true,
    shape: { kind: "choice", count: ({ vertices }) => vertices },
  });
}

function textOf(
  { joined, name, word, example: { graph: example, largest } }: VertexSetProblem,
  graph: Graph,
): TaskText {
  return {
    question: `Find a largest ${name} in a graph of ${graph.vertices} vertices, numbered from 0 to ${graph.vertices - 1}: as many vertices as possible such that ${joined ? "every" : "no"} two of them are joined by an edge.`,
    answer: `Write the ${word} as a list of its vertices, in square brackets and separated by commas, in any order and each once.`,
    notation: "Each line below gives a vertex and, after the colon, the vertices that it is joined to.",
    exampleTitle: `Example with ${example.vertices} vertices`,
    example: adjacencyText(example),
    exampleAnswer: `A largest ${name} is ${format(largest)}, of ${largest.length} vertices.`,
    instance: adjacencyText(graph),
  };
}

/**
 * Verifies a set: it must not be empty or list a vertex twice, and every two vertices must satisfy the condition.
 * Otherwise the facts name the first fault.
 */
function verify(problem: VertexSetProblem, graph: Graph, set: IndexList): Facts {
  const violation = indexProblem(set, graph.vertices, "vertex", "vertices") ?? problemOf(problem, graph, set);
  return violation === undefined ? { kind: "feasible", objective: set.length } : infeasible(violation);
}

function problemOf({ joined, name, article }: VertexSetProblem, graph: Graph, set: IndexList): string | undefined {
  if (set.length === 0) return `${article} ${name} has at least one vertex`;
  for (const [i, b] of set.entries()) {
    const a = set.slice(0, i).find((other) => adjacent(graph, other, b) !== joined);
    if (a !== undefined) return `vertices ${a} and ${b} are ${joined ? "not " : ""}joined`;
  }
  return undefined;
}
