/** Draws the vertices and edges of graphs. */
import type { Picture, Shape } from "../../envs/picture.ts";
import type { Graph } from "../../envs/lib/graph.ts";
import { boxFor, graphPoints, VERTEX_RADIUS } from "./layout.ts";
import { isWithin, type Point } from "./picture.ts";
import { circle, path, segment, shape, text } from "./svg.ts";

export type Pair = readonly [a: number, b: number];

/** Draws all edges of one kind as one shape. Returns no shape if there are no edges. */
export function edgeShapes(
  edges: Iterable<Pair>,
  points: readonly Point[],
  className: string,
  width?: number,
): readonly Shape[] {
  const commands = Array.from(edges, ([a, b]) => between(points[a] as Point, points[b] as Point));
  return commands.length === 0 ? [] : [path(commands, className, width)];
}

/**
 * Returns the steps of a round trip, including the step back to the first vertex. Leaves out steps from or to vertices
 * that do not exist.
 */
export function stepsOf(trip: readonly number[], vertices: number): readonly Pair[] {
  const steps = trip.map((from, i): Pair => [from, trip[(i + 1) % trip.length] as number]);
  return steps.filter(([a, b]) => isWithin(a, vertices) && isWithin(b, vertices) && a !== b);
}

export function between(a: Point, b: Point): string {
  return segment(a.x, a.y, b.x, b.y);
}

export interface VertexLook {
  /** CSS class of the disc that stands for the vertex. */
  readonly disc: string;
  /** CSS class of the vertex's number, which is written on the disc. */
  readonly label: string;
  /** CSS class of a ring around the vertex. If omitted, there is no ring. */
  readonly ring?: string | undefined;
  /** Text beside the vertex, such as "×2". */
  readonly beside?: string | undefined;
}

export const PLAIN_VERTEX: VertexLook = { disc: "gd-plain", label: "gd-label" };
export const CHOSEN_VERTEX: VertexLook = { disc: "gd-f0", label: "gd-on-dark" };

export function vertexShapes(points: readonly Point[], look: (vertex: number) => VertexLook): readonly Shape[] {
  const right = Math.max(...points.map(({ x }) => x));
  const shapes = points.flatMap(({ x, y }, vertex) => {
    const { disc, label, ring, beside } = look(vertex);
    return [
      circle(x, y, VERTEX_RADIUS, disc),
      ...(ring === undefined ? [] : [circle(x, y, VERTEX_RADIUS + 3.5, ring)]),
      text(x, y, label, `${vertex}`),
      ...(beside === undefined ? [] : [besideShape(beside, x, y, x > right - BESIDE)]),
    ];
  });
  return [shape("g", {}, shapes)];
}

/** Space for a text beside a vertex, in pixels. */
const BESIDE = 2 * VERTEX_RADIUS;

/** Draws a text to the right of a vertex, or to the left of the rightmost vertices, where the text would be cut off. */
function besideShape(words: string, x: number, y: number, isLast: boolean): Shape {
  const away = VERTEX_RADIUS + 4;
  return isLast
    ? text(x - away, y - 7, "gd-end gd-bad gd-halo", words)
    : text(x + away, y - 7, "gd-text gd-bad gd-halo", words);
}

// Draws a graph without an answer.

export function drawPlain(graph: Graph, edges: readonly Pair[]): Picture {
  const box = boxFor(graph.vertices);
  const points = graphPoints(graph, box);
  const shapes = [...edgeShapes(edges, points, "gd-edge"), ...vertexShapes(points, () => PLAIN_VERTEX)];
  return { ...box, shapes, legend: [], notes: [] };
}
