/** Draws the cycle of an answer as a circle, so that a person sees steps without an edge and vertices left out. */
import type { Picture } from "../../envs/picture.ts";
import { adjacent, type Graph, pairs } from "../../envs/lib/graph.ts";
import { CHOSEN_VERTEX, drawPlain, edgeShapes, type Pair, PLAIN_VERTEX, stepsOf, vertexShapes } from "../lib/graph.ts";
import { circleRadius, onCircle, spread, VERTEX_RADIUS } from "../lib/layout.ts";
import { legendOf, noteOf, notesOf, type Point, tally, type Tally, timesText } from "../lib/picture.ts";
import type { Cycle } from "../../envs/np/hamiltonian/verify.ts";

export function draw(graph: Graph, cycle?: Cycle, best?: Cycle): Picture {
  const edges = [...pairs(graph.vertices)].filter(([a, b]) => adjacent(graph, a, b));
  if (cycle === undefined) return drawPlain(graph, edges);
  const visits = tally(cycle, graph.vertices);
  const { times, outside, distinct } = visits;
  const { points, side } = placed(visits);
  const steps = stepsOf(cycle, graph.vertices);
  const [along, missing] = [
    steps.filter(([a, b]) => adjacent(graph, a, b)),
    steps.filter(([a, b]) => !adjacent(graph, a, b)),
  ];
  const detours = missing.length > 0 ? [] : detoursOf(graph, along, times);
  const repeated = distinct.some((v) => (times[v] as number) > 1);
  return {
    width: side,
    height: side,
    shapes: [
      ...edgeShapes(edges, points, "gd-edge"),
      ...edgeShapes(along, points, "gd-chosen"),
      ...edgeShapes(missing, points, "gd-missing"),
      ...edgeShapes(detours, points, "gd-hint"),
      ...vertexShapes(points, (v) => ({
        ...((times[v] as number) > 0 ? CHOSEN_VERTEX : PLAIN_VERTEX),
        ring: (times[v] as number) > 1 ? "gd-ring" : undefined,
        beside: timesText(times[v] as number),
      })),
    ],
    legend: legendOf(
      [along.length > 0, "line", "gd-chosen", "step along an edge"],
      [missing.length > 0, "line", "gd-missing", "step where there is no edge"],
      [repeated, "dot", "gd-ring", "visited more than once"],
      [distinct.length < graph.vertices, "dot", "gd-plain", "left out (in the middle)"],
      [detours.length > 0, "line", "gd-hint", "a way to visit one vertex more"],
    ),
    notes: notesOf(noteOf("Not in the graph", outside), best && `A longest cycle: ${best.join(" ")}`),
  };
}

/** Places the visited vertices on a circle, in the order of their first visits, and the other vertices inside it. */
function placed({ distinct, times }: Tally): { readonly points: readonly Point[]; readonly side: number } {
  const radius = circleRadius(distinct.length, 190);
  const side = 2 * (radius + VERTEX_RADIUS + 24);
  const centre = { x: side / 2, y: side / 2 };
  const points: Point[] = [];
  for (const [place, vertex] of distinct.entries()) points[vertex] = onCircle(centre, radius, place / distinct.length);
  const left = [...times.keys()].filter((v) => times[v] === 0);
  const rings = left.map((_, i) => onCircle(centre, radius * 0.75 * Math.sqrt((i + 0.5) / left.length), i * 0.381966));
  const apart = spread(rings, { width: side, height: side });
  for (const [i, vertex] of left.entries()) points[vertex] = apart[i] as Point;
  return { points, side };
}

/**
 * Returns two edges for each vertex left out, if a step of the cycle can be replaced by these two edges so that the
 * cycle passes through the vertex. Takes the first such step.
 */
function detoursOf(graph: Graph, along: readonly Pair[], times: Tally["times"]): readonly Pair[] {
  return [...times.keys()].flatMap((v): readonly Pair[] => {
    if (times[v] !== 0) return [];
    const step = along.find(([a, b]) => adjacent(graph, a, v) && adjacent(graph, v, b));
    return step === undefined
      ? []
      : [
          [step[0], v],
          [v, step[1]],
        ];
  });
}
