/** The exact solver, in the environment's words. */
import type { Solution } from "../../environment.ts";
import { type Graph, neighbours } from "../../lib/graph.ts";
import { maxClique } from "../../lib/max-clique.ts";
import type { Coloring } from "./verify.ts";

const UNCOLOURED = -1;

/** A partial colouring, with what the choice of the next vertex needs; colours are 0, 1, 2, … */
interface PartialColoring {
  readonly vertices: number;
  readonly neighbours: readonly (readonly number[])[];
  /** The colour of each vertex, or UNCOLOURED. */
  readonly colour: Int32Array;
  /** At vertex · vertices + colour: how many of the vertex's neighbours have that colour. */
  readonly taken: Int32Array;
  /** How many different colours the neighbours of each vertex have. */
  readonly saturation: Int32Array;
  /** How many neighbours of each vertex have no colour. */
  readonly open: Int32Array;
}

function coloringOf(graph: Graph): PartialColoring {
  const { vertices } = graph;
  const lists = Array.from({ length: vertices }, (_, v) => neighbours(graph, v));
  return {
    vertices,
    neighbours: lists,
    colour: new Int32Array(vertices).fill(UNCOLOURED),
    taken: new Int32Array(vertices * vertices),
    saturation: new Int32Array(vertices),
    open: Int32Array.from(lists, (list) => list.length),
  };
}

function give({ vertices, neighbours, colour, taken, saturation, open }: PartialColoring, v: number, c: number): void {
  colour[v] = c;
  for (const w of neighbours[v]!) {
    open[w]!--;
    if (taken[w * vertices + c]!++ === 0) saturation[w]!++;
  }
}

function takeBack({ vertices, neighbours, colour, taken, saturation, open }: PartialColoring, v: number): void {
  const c = colour[v]!;
  colour[v] = UNCOLOURED;
  for (const w of neighbours[v]!) {
    open[w]!++;
    if (--taken[w * vertices + c]! === 0) saturation[w]!--;
  }
}

/**
 * The vertex that the fewest colours are left for, and of those the one with the most neighbours still to colour
 * (Brélaz, "New methods to color the vertices of a graph", 1979); UNCOLOURED: all have one.
 */
function mostSaturated({ vertices, colour, saturation, open }: PartialColoring): number {
  let chosen = UNCOLOURED;
  let saturated = -1;
  let opened = -1;
  for (let v = 0; v < vertices; v++) {
    if (colour[v] !== UNCOLOURED || saturation[v]! < saturated) continue;
    if (saturation[v] === saturated && open[v]! <= opened) continue;
    chosen = v;
    saturated = saturation[v]!;
    opened = open[v]!;
  }
  return chosen;
}

/** A search for a colouring with few colours. */
export interface Search {
  readonly coloring: PartialColoring;
  /** Colours 0 … limit − 1 may be used. */
  readonly limit: number;
  nodes: number;
  /** The search stops at this count. */
  readonly nodesMax: number;
}

type Found = "found" | "none" | "out_of_nodes";

/** Colours the rest of the vertices, those with a colour using `used` of them. What is found stays in the colouring. */
function complete(s: Search, used: number): Found {
  const { coloring } = s;
  const v = mostSaturated(coloring);
  if (v === UNCOLOURED) return "found";
  if (s.nodes >= s.nodesMax) return "out_of_nodes";
  s.nodes++;
  // Colours not used yet are alike: one of them stands for all.
  const colours = Math.min(used + 1, s.limit);
  for (let c = 0; c < colours; c++) {
    if (coloring.taken[v * coloring.vertices + c] !== 0) continue;
    give(coloring, v, c);
    const found = complete(s, Math.max(used, c + 1));
    if (found !== "none") return found;
    takeBack(coloring, v);
  }
  return "none";
}

/** Gives each vertex in turn the first colour that none of its neighbours has; returns how many are used then. */
function completeGreedily(coloring: PartialColoring, used: number): number {
  let most = used;
  for (let v = mostSaturated(coloring); v !== UNCOLOURED; v = mostSaturated(coloring)) {
    let c = 0;
    while (coloring.taken[v * coloring.vertices + c] !== 0) c++;
    give(coloring, v, c);
    most = Math.max(most, c + 1);
  }
  return most;
}

// Fewest colours: a maximum clique from below, a greedy colouring from above, and a search for each count between.

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
function solveColoring(graph: Graph, nodesMax: number): ColoringSolution {
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
function precoloured(graph: Graph, clique: readonly number[]): PartialColoring {
  const coloring = coloringOf(graph);
  for (const [c, v] of clique.entries()) give(coloring, v, c);
  return coloring;
}

function inOrder(colours: Int32Array): readonly number[] {
  const names = new Map<number, number>();
  return Array.from(colours, (c) => names.get(c) ?? (names.set(c, names.size), names.size - 1));
}

/** About a second of CPU time, and never reached at 40 vertices. */
const NODES_MAX = 500_000;

export function solve(graph: Graph, nodesMax = NODES_MAX): Solution<Coloring> {
  const { colours, ...rest } = solveColoring(graph, nodesMax);
  return { answer: colours.map((colour) => colour + 1), ...rest };
}

/** The objective of a colour for each vertex. */
export function trivial({ vertices }: Graph): number {
  return vertices;
}
