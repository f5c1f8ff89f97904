/** Builds and queries undirected graphs without loops. */
import { bitMatrix, type BitMatrix, canonicalBits, countOnes, hasBit, onesOf, rowsText, setBit } from "./bit-matrix.ts";
import { refine } from "./structure-hash.ts";
import { type Rng, sample } from "./rng.ts";

/** Graph whose vertices are numbered from 0 to vertices − 1. */
export interface Graph {
  readonly vertices: number;
  /** Symmetric matrix with zeros on the diagonal. Row v has ones at the neighbours of v. */
  readonly adjacency: BitMatrix;
}

/** Creates a graph without edges. `join` adds edges while the graph is built. */
export function emptyGraph(vertices: number): Graph {
  return { vertices, adjacency: bitMatrix(vertices, vertices) };
}

/** Creates a graph from a list of neighbours for each vertex. An edge may be in one of its two lists or in both. */
export function graphOf(lists: readonly (readonly number[])[]): Graph {
  const graph = emptyGraph(lists.length);
  for (const [a, list] of lists.entries()) for (const b of list) join(graph, a, b);
  return graph;
}

/** Adds an edge between two different vertices. */
export function join({ adjacency }: Graph, a: number, b: number): void {
  setBit(adjacency, a, b);
  setBit(adjacency, b, a);
}

export function adjacent({ adjacency }: Graph, a: number, b: number): boolean {
  return hasBit(adjacency, a, b);
}

/** Returns the neighbours of a vertex, ascending. */
export function neighbours({ adjacency }: Graph, vertex: number): readonly number[] {
  return onesOf(adjacency, vertex);
}

export function degree({ adjacency }: Graph, vertex: number): number {
  return countOnes(adjacency, vertex);
}

export function edgeCount(graph: Graph): number {
  let ends = 0;
  for (let v = 0; v < graph.vertices; v++) ends += degree(graph, v);
  return ends / 2;
}

/** Returns the complement: the graph with exactly the edges that this graph lacks. */
export function complement(graph: Graph): Graph {
  const other = emptyGraph(graph.vertices);
  for (const [a, b] of pairs(graph.vertices)) if (!adjacent(graph, a, b)) join(other, a, b);
  return other;
}

/** Yields every pair of vertices a < b, in lexicographic order. */
export function* pairs(vertices: number): Generator<readonly [number, number]> {
  for (let a = 0; a < vertices; a++) for (let b = a + 1; b < vertices; b++) yield [a, b];
}

/** Returns whether an edge between two vertices is allowed. */
export type Allowed = (a: number, b: number) => boolean;

/** Joins each allowed pair independently with this probability. */
export function joinRandomly(graph: Graph, probability: number, rng: Rng, allowed: Allowed = always): void {
  for (const [a, b] of pairs(graph.vertices)) {
    if (allowed(a, b) && rng.float() < probability) join(graph, a, b);
  }
}

/** Joins every two of these vertices, which makes them a clique. */
export function joinAll(graph: Graph, vertices: readonly number[]): void {
  for (const [i, j] of pairs(vertices.length)) join(graph, vertices[i] as number, vertices[j] as number);
}

/** Returns the vertices reachable from `start`, itself included, in the order of their distance. */
export function reachable(graph: Graph, start: number): readonly number[] {
  const seen = new Uint8Array(graph.vertices);
  seen[start] = 1;
  const reached = [start];
  for (const v of reached) {
    for (const w of neighbours(graph, v)) {
      if (seen[w] === 1) continue;
      seen[w] = 1;
      reached.push(w);
    }
  }
  return reached;
}

export function isConnected(graph: Graph): boolean {
  return graph.vertices === 0 || reachable(graph, 0).length === graph.vertices;
}

/**
 * Adds allowed edges one at a time until the graph is connected. Each edge joins a random vertex that is not yet
 * reachable from vertex 0 to a random one that is.
 */
export function connect(graph: Graph, rng: Rng, allowed: Allowed = always): void {
  for (;;) {
    const inside = reachable(graph, 0);
    if (inside.length === graph.vertices) return;
    const within = new Set(inside);
    const outside = sample(graph.vertices, graph.vertices, rng).filter((v) => !within.has(v));
    const open = outside.find((b) => inside.some((a) => allowed(a, b)));
    if (open === undefined) throw new Error("bug: no edge that the generator allows connects the graph");
    join(graph, rng.pick(inside.filter((a) => allowed(a, open))), open);
  }
}

/**
 * Returns a text that is equal for two graphs exactly if they have the same vertices and edges. The numbering matters.
 */
export function canonicalGraph({ adjacency }: Graph): string {
  return canonicalBits(adjacency);
}

/** Returns a text that is equal for two graphs that differ only in the numbering of their vertices. */
export function graphInvariant({ vertices, adjacency }: Graph): string {
  const edges: number[] = [];
  for (let a = 0; a < vertices; a++) for (const b of onesOf(adjacency, a)) if (a < b) edges.push(a, b, 1);
  return `${vertices} ${refine({ colours: new Array<number>(vertices).fill(0), edges })}`;
}

/** Returns a line for each vertex with its number and its neighbours, such as "0: 1 3" or "2: none". */
export function adjacencyText({ adjacency }: Graph): string {
  return rowsText(adjacency);
}

/** Returns the facts about a graph that a trainer gets: the number of vertices. */
export function graphMetadata({ vertices }: Graph): Readonly<Record<string, string>> {
  return { vertices: `${vertices}` };
}

function always(): boolean {
  return true;
}
