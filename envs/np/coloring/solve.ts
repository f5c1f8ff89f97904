/** Solves graph colouring exactly, or with a bound if the nodes run out. */
import type { Solution } from "../../environment.ts";
import { type Graph, neighbours } from "../../lib/graph.ts";
import { maxClique } from "../../lib/max-clique.ts";
import type { Coloring } from "./verify.ts";

const UNCOLOURED = -1;

/** Partial colouring, with the counts by which the search chooses the next vertex. Colours count from 0. */
interface PartialColoring {
  readonly vertices: number;
  readonly neighbours: readonly (readonly number[])[];
  /** Colour of each vertex, or UNCOLOURED. */
  readonly colour: Int32Array;
  /** Number of a vertex's neighbours with a colour, at index vertex · vertices + colour. */
  readonly taken: Int32Array;
  /** Number of different colours among each vertex's neighbours. */
  readonly saturation: Int32Array;
  /** Number of uncoloured neighbours of each vertex. */
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
 * Returns the uncoloured vertex with the fewest colours left. Of several, returns the one with the most uncoloured
 * neighbours (Brélaz, "New methods to color the vertices of a graph", 1979). Returns UNCOLOURED if all vertices are
 * coloured.
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

/** Search for a colouring with few colours. */
export interface Search {
  readonly coloring: PartialColoring;
  /** Number of colours allowed. Colours are 0 to limit − 1. */
  readonly limit: number;
  nodes: number;
  /** Maximum number of nodes, at which the search stops. */
  readonly nodesMax: number;
}

type Found = "found" | "none" | "out_of_nodes";

/**
 * Colours the remaining vertices, given that exactly the colours below `used` are in use. If a colouring is found, it
 * stays in `s.coloring`.
 */
function complete(s: Search, used: number): Found {
  const { coloring } = s;
  const v = mostSaturated(coloring);
  if (v === UNCOLOURED) return "found";
  if (s.nodes >= s.nodesMax) return "out_of_nodes";
  s.nodes++;
  // Try one unused colour only, because unused colours are interchangeable.
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

/**
 * Colours the vertices in the order of saturation, each with the first colour that none of its neighbours has. Returns
 * the number of colours in use.
 */
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

// Functions that find the minimum number of colours. This number lies between the size of a maximum clique and the
// number of colours of a greedy colouring. For each number between these two, a search decides whether so many colours
// suffice.

/** Default maximum number of search nodes, about one second of CPU time. Graphs with 40 vertices never reach it. */
const NODES_MAX = 500_000;

interface Proof {
  readonly graph: Graph;
  readonly clique: readonly number[];
  /** Best colouring found, with `value` colours. */
  colours: Int32Array;
  value: number;
  bound: number;
  nodes: number;
}

/**
 * Finds the minimum number of colours of a graph with at least one vertex. First raises the lower bound: if a complete
 * search finds no colouring with that many colours, one more colour is needed. If half of the nodes are used up before
 * the minimum is known, the other half is spent on colourings with fewer colours.
 */
export function solve(graph: Graph, nodesMax = NODES_MAX): Solution<Coloring> {
  const { answer: clique, nodes } = maxClique(graph, nodesMax >> 2);
  const first = precoloured(graph, clique);
  const value = completeGreedily(first, clique.length);
  const proof: Proof = { graph, clique, colours: first.colour, value, bound: clique.length, nodes };
  while (proof.bound < proof.value && attempt(proof, proof.bound, nodesMax >> 1) === "none") proof.bound++;
  while (proof.bound < proof.value) {
    const found = attempt(proof, proof.value - 1, nodesMax);
    if (found === "out_of_nodes") break;
    if (found === "none") proof.bound = proof.value;
  }
  const { colours, bound, ...found } = proof;
  return { answer: inOrder(colours), value: found.value, bound, proven: bound === found.value, nodes: found.nodes };
}

/** Searches for a colouring with at most `limit` colours. Stores the colouring found in `proof`. */
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

/**
 * Returns a colouring of the clique alone. The clique's vertices have different colours in every colouring, so they may
 * have the first ones.
 */
function precoloured(graph: Graph, clique: readonly number[]): PartialColoring {
  const coloring = coloringOf(graph);
  for (const [c, v] of clique.entries()) give(coloring, v, c);
  return coloring;
}

/** Returns the answer with colours renumbered from 1 in the order in which they first appear. */
function inOrder(colours: Int32Array): Coloring {
  const names = new Map<number, number>();
  return Array.from(colours, (c) => names.get(c) ?? (names.set(c, names.size + 1), names.size));
}

/** Returns the number of colours if every vertex gets a colour of its own. */
export function trivial({ vertices }: Graph): number {
  return vertices;
}
