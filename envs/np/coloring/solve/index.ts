/** Fewest colours: a maximum clique from below, a greedy colouring from above, and a search for each count between. */
import type { Graph } from "../../../lib/graph.ts";
import { maxClique } from "../../../lib/max-clique/index.ts";
import { complete, completeGreedily } from "./search.ts";
import type { Found } from "./search.ts";
import { coloringOf, give } from "./state.ts";
import type { Coloring } from "./state.ts";

export interface ColoringSolution {
  /** The colour of each vertex, from 0; vertex 0 has 0, and each colour comes first after all smaller ones have. */
  readonly colours: readonly number[];
  readonly value: number;
  /** Certified: no colouring has fewer. */
  readonly bound: number;
  readonly proven: boolean;
  /** Search nodes of cliques and of colourings. */
  readonly nodes: number;
}

interface Proof {
  readonly graph: Graph;
  readonly clique: readonly number[];
  /** The best colouring, of `value` colours. */
  colours: Int32Array;
  value: number;
  bound: number;
  nodes: number;
}

/**
 * The fewest colours of a graph with at least one vertex. Half of the nodes go to raising the bound: a count of colours
 * that a complete search finds no colouring for is too small. If they run out, the rest go to improving the colouring.
 */
export function solveColoring(graph: Graph, nodesMax: number): ColoringSolution {
  const { clique, nodes } = maxClique(graph, nodesMax >> 2);
  const first = precoloured(graph, clique);
  const value = completeGreedily(first, clique.length);
  const proof: Proof = { graph, clique, colours: first.colour, value, bound: clique.length, nodes };
  while (proof.bound < proof.value && attempt(proof, proof.bound, nodesMax >> 1) === "none") proof.bound++;
  while (proof.bound < proof.value) {
    const found = attempt(proof, proof.value - 1, nodesMax);
    if (found === "out_of_nodes") break;
    if (found === "none") proof.bound = proof.value;
  }
  return { ...proof, colours: inOrder(proof.colours), proven: proof.bound === proof.value };
}

/** Looks for a colouring of so many colours, and keeps it. */
function attempt(proof: Proof, limit: number, nodesMax: number): Found {
  const coloring = precoloured(proof.graph, proof.clique);
  const search = { coloring, limit, nodes: proof.nodes, nodesMax };
  const found = complete(search, proof.clique.length);
  proof.nodes = search.nodes;
  if (found !== "found") return found;
  proof.colours = coloring.colour;
  proof.value = 1 + coloring.colour.reduce((most, c) => Math.max(most, c));
  return found;
}

/** The clique's vertices have different colours whatever the colouring, so they may as well have the first ones. */
function precoloured(graph: Graph, clique: readonly number[]): Coloring {
  const coloring = coloringOf(graph);
  for (const [c, v] of clique.entries()) give(coloring, v, c);
  return coloring;
}

function inOrder(colours: Int32Array): readonly number[] {
  const names = new Map<number, number>();
  return Array.from(colours, (c) => names.get(c) ?? (names.set(c, names.size), names.size - 1));
}
