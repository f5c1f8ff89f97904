/** Undirected graphs without loops. */
import { bitMatrix, type BitMatrix, canonicalBits, countOnes, hasBit, onesOf, rowsText, setBit } from "./bit-matrix.ts";
import { refine } from "./refinement.ts";
import { type Rng, sample } from "./rng.ts";

/** Vertices 0 … vertices − 1. */
export interface Graph {
  readonly vertices: number;
  /** Symmetric, with zeros on its diagonal: row v has ones at the neighbours of v. */
  readonly adjacency: BitMatrix;
}

/** A graph without edges, to be given some by `join` before it is handed on. */
export function emptyGraph(vertices: number): Graph {
  return { vertices, adjacency: bitMatrix(vertices, vertices) };
}

/** The graph of these neighbours, a list for each vertex; an edge may stand in one list or in both. */
export function graphOf(lists: readonly (readonly number[])[]): Graph {
  const graph = emptyGraph(lists.length);
  for (const [a, list] of lists.entries()) for (const b of list) join(graph, a, b);
  return graph;
}

/** Adds the edge between two different vertices. */
export function join({ adjacency }: Graph, a: number, b: number): void {
  setBit(adjacency, a, b);
  setBit(adjacency, b, a);
}

export function adjacent({ adjacency }: Graph, a: number, b: number): boolean {
  return hasBit(adjacency, a, b);
}

/** Ascending. */
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

/** The edges that the graph lacks. */
export function complement(graph: Graph): Graph {
  const other = emptyGraph(graph.vertices);
  for (const [a, b] of pairs(graph.vertices)) if (!adjacent(graph, a, b)) join(other, a, b);
  return other;
}

/** Every two vertices a < b, in lexicographic order. */
export function* pairs(vertices: number): Generator<readonly [number, number]> {
  for (let a = 0; a < vertices; a++) for (let b = a + 1; b < vertices; b++) yield [a, b];
}

/** Whether two vertices may be joined. */
export type Allowed = (a: number, b: number) => boolean;

/** Joins each pair that is allowed with this probability, independently. */
export function joinRandomly(graph: Graph, probability: number, rng: Rng, allowed: Allowed = always): void {
  for (const [a, b] of pairs(graph.vertices)) {
    if (allowed(a, b) && rng.float() < probability) join(graph, a, b);
  }
}

/** Makes a clique of these vertices. */
export function joinAll(graph: Graph, vertices: readonly number[]): void {
  for (const [i, j] of pairs(vertices.length)) join(graph, vertices[i] as number, vertices[j] as number);
}

/** The vertices that a walk from this one reaches, itself included, in order of their distance. */
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

/** Adds single allowed edges, each a random one of a random vertex, until the graph is connected. */
export function connect(graph: Graph, rng: Rng, allowed: Allowed = always): void {
  for (;;) {
    const inside = reachable(graph, 0);
    if (inside.length === graph.vertices) return;
    const within = new Set(inside);
    const outside = sample(graph.vertices, graph.vertices, rng).filter((v) => !within.has(v));
    const open = outside.find((b) => inside.some((a) => allowed(a, b)));
    if (open === undefined) throw new Error("no allowed edge connects the graph");
    join(graph, rng.pick(inside.filter((a) => allowed(a, open))), open);
  }
}

/** The same for two graphs exactly if they have the same vertices and edges: numbers matter, drawings do not. */
export function canonicalGraph({ adjacency }: Graph): string {
  return canonicalBits(adjacency);
}

/** The same for two graphs that differ only in how their vertices are numbered. */
export function graphInvariant({ vertices, adjacency }: Graph): string {
  const edges: number[] = [];
  for (let a = 0; a < vertices; a++) for (const b of onesOf(adjacency, a)) if (a < b) edges.push(a, b, 1);
  return `${vertices} ${refine({ colours: new Array<number>(vertices).fill(0), edges })}`;
}

/** A line for each vertex: its number and, after a colon, its neighbours: "0: 1 3", or "2: none". */
export function adjacencyText({ adjacency }: Graph): string {
  return rowsText(adjacency);
}

/** An environment's metadata of a graph: its number of vertices. */
export function graphMetadata({ vertices }: Graph): Readonly<Record<string, string>> {
  return { vertices: `${vertices}` };
}

function always(): boolean {
  return true;
}
