/** Sets of vertices that an answer chooses, over the graph. */
import { adjacent, type Graph, pairs } from "../graph.ts";
import { boxFor, graphPoints, VERTEX_RADIUS } from "./layout.ts";
import { legendOf, noteOf, notesOf, type Picture, type Point, tally, timesText } from "./picture.ts";
import { circle, path, segment, shape, type Shape, text } from "./svg.ts";

// Vertices and edges as shapes.

export type Pair = readonly [a: number, b: number];

/** All the edges of one kind, as one shape; none if there are none. */
export function edgeShapes(
  edges: Iterable<Pair>,
  points: readonly Point[],
  className: string,
  width?: number,
): readonly Shape[] {
  const commands = Array.from(edges, ([a, b]) => between(points[a] as Point, points[b] as Point));
  return commands.length === 0 ? [] : [path(commands, className, width)];
}

export function between(a: Point, b: Point): string {
  return segment(a.x, a.y, b.x, b.y);
}

/** How a vertex is drawn. */
export interface VertexLook {
  /** Classes of its disc and of the label on it. */
  readonly disc: string;
  readonly label: string;
  /** Class of a ring around it; left out: none. */
  readonly ring?: string | undefined;
  /** A word beside it, such as "×2". */
  readonly beside?: string | undefined;
}

export const PLAIN_VERTEX: VertexLook = { disc: "gd-plain", label: "gd-label" };
export const CHOSEN_VERTEX: VertexLook = { disc: "gd-f0", label: "gd-on-dark" };

export function vertexShapes(points: readonly Point[], look: (vertex: number) => VertexLook): readonly Shape[] {
  const shapes = points.flatMap(({ x, y }, vertex) => {
    const { disc, label, ring, beside } = look(vertex);
    return [
      circle(x, y, VERTEX_RADIUS, disc),
      ...(ring === undefined ? [] : [circle(x, y, VERTEX_RADIUS + 3.5, ring)]),
      text(x, y, label, `${vertex}`),
      ...(beside === undefined ? [] : [text(x + VERTEX_RADIUS + 4, y - 7, "gd-text gd-bad gd-halo", beside)]),
    ];
  });
  return [shape("g", {}, shapes)];
}

export interface VertexSet {
  readonly graph: Graph;
  /** Numbers of vertices as listed, perhaps of none. */
  readonly chosen: readonly number[] | undefined;
  /** A best set, to show what the chosen one lacks. */
  readonly best: readonly number[] | undefined;
  /** Whether every two chosen vertices must be joined, or none may be. */
  readonly joined: boolean;
}

/** The graph with the chosen vertices filled, and red lines between each two that may not be chosen together. */
export function drawVertexSet({ graph, chosen = [], best = [], joined }: VertexSet): Picture {
  const box = boxFor(graph.vertices);
  const points = graphPoints(graph, box);
  const { times, outside, distinct } = tally(chosen, graph.vertices);
  const within = pairsOf(distinct);
  const right = within.filter(([a, b]) => joined && adjacent(graph, a, b));
  const wrong = within.filter(([a, b]) => adjacent(graph, a, b) !== joined);
  const wrongClass = joined ? "gd-missing" : "gd-wrong";
  const lacking = best.filter((v) => times[v] === 0);
  const repeated = distinct.some((v) => (times[v] as number) > 1);
  const edges = [...pairs(graph.vertices)].filter(([a, b]) => adjacent(graph, a, b));
  return {
    ...box,
    shapes: [
      ...edgeShapes(edges, points, "gd-edge"),
      ...edgeShapes(right, points, "gd-chosen"),
      ...edgeShapes(wrong, points, wrongClass),
      ...vertexShapes(points, (v) => ({
        ...((times[v] as number) > 0 ? CHOSEN_VERTEX : PLAIN_VERTEX),
        ring: ringOf(times[v] as number, lacking.includes(v)),
        beside: timesText(times[v] as number),
      })),
    ],
    legend: legendOf(
      [distinct.length > 0, "dot", "gd-f0", "chosen"],
      [right.length > 0, "line", "gd-chosen", "joined, as it must be"],
      [wrong.length > 0, "line", wrongClass, joined ? "chosen, but not joined" : "chosen, but joined"],
      [repeated, "dot", "gd-ring", "listed more than once"],
      [lacking.length > 0, "dot", "gd-best", "in a best answer, and not chosen"],
    ),
    notes: notesOf(noteOf("Not in the graph", outside)),
  };
}

function pairsOf(vertices: readonly number[]): readonly Pair[] {
  return [...pairs(vertices.length)].map(([i, j]) => [vertices[i] as number, vertices[j] as number]);
}

function ringOf(times: number, lacking: boolean): string | undefined {
  if (times > 1) return "gd-ring";
  return lacking ? "gd-best" : undefined;
}

// A graph of which nothing is said.

export function drawPlain(graph: Graph, edges: readonly Pair[]): Picture {
  const box = boxFor(graph.vertices);
  const points = graphPoints(graph, box);
  const shapes = [...edgeShapes(edges, points, "gd-edge"), ...vertexShapes(points, () => PLAIN_VERTEX)];
  return { ...box, shapes, legend: [], notes: [] };
}
