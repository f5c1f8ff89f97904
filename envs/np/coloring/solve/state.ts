import { neighbours } from "../../../lib/graph.ts";
import type { Graph } from "../../../lib/graph.ts";

export const UNCOLOURED = -1;

/** A partial colouring, with what the choice of the next vertex needs; colours are 0, 1, 2, … */
export interface Coloring {
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

export function coloringOf(graph: Graph): Coloring {
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

export function give({ vertices, neighbours, colour, taken, saturation, open }: Coloring, v: number, c: number): void {
  colour[v] = c;
  for (const w of neighbours[v]!) {
    open[w]!--;
    if (taken[w * vertices + c]!++ === 0) saturation[w]!++;
  }
}

export function takeBack({ vertices, neighbours, colour, taken, saturation, open }: Coloring, v: number): void {
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
export function mostSaturated({ vertices, colour, saturation, open }: Coloring): number {
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
