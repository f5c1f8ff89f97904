/** A graph of which nothing is said. */
import type { Graph } from "../graph.ts";
import { boxFor, graphPoints } from "./layout.ts";
import type { Picture } from "./picture.ts";
import { PLAIN_VERTEX, edgeShapes, vertexShapes } from "./vertices.ts";
import type { Pair } from "./vertices.ts";

export function drawPlain(graph: Graph, edges: readonly Pair[]): Picture {
  const box = boxFor(graph.vertices);
  const points = graphPoints(graph, box);
  const shapes = [...edgeShapes(edges, points, "gd-edge"), ...vertexShapes(points, () => PLAIN_VERTEX)];
  return { ...box, shapes, legend: [], notes: [] };
}
