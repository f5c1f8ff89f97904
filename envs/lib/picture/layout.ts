/** Where vertices are drawn. */
import { neighbours } from "../graph.ts";
import type { Graph } from "../graph.ts";
import { embed } from "./embed.ts";
import type { Point } from "./picture.ts";

export interface Box {
  readonly width: number;
  readonly height: number;
}

/** An area in which this many vertices have room. */
export function boxFor(vertices: number): Box {
  const scale = Math.max(1, Math.sqrt(vertices / 50));
  return { width: Math.round(640 * scale), height: Math.round(480 * scale) };
}

/** The radius at which vertices are drawn. */
export const VERTEX_RADIUS = 11;

/** Vertices about as far apart as the number of edges between them. */
export function graphPoints(graph: Graph, box: Box): readonly Point[] {
  const hops = Array.from({ length: graph.vertices }, (_, v) => hopsFrom(graph, v));
  return spread(
    fitted(
      embed(graph.vertices, (a, b) => (hops[a] as Float64Array)[b] as number),
      box,
    ),
    box,
  );
}

/** Edges on a shortest walk from a vertex to each; one more than the most of any for those that no walk reaches. */
function hopsFrom(graph: Graph, start: number): Float64Array {
  const hops = new Float64Array(graph.vertices).fill(-1);
  hops[start] = 0;
  const queue = [start];
  for (const v of queue) {
    for (const w of neighbours(graph, v)) {
      if (hops[w] !== -1) continue;
      hops[w] = (hops[v] as number) + 1;
      queue.push(w);
    }
  }
  const far = Math.min(4, Math.sqrt(graph.vertices) + 1);
  return hops.map((each) => (each === -1 ? far : each));
}

/** The points scaled and moved to fill a box, with room for a vertex at its rim. */
export function fitted(points: readonly Point[], { width, height }: Box): readonly Point[] {
  const [left, right] = extent(points.map(({ x }) => x));
  const [top, bottom] = extent(points.map(({ y }) => y));
  const rim = VERTEX_RADIUS + 8;
  const across = (width - 2 * rim) / Math.max(right - left, 1e-9);
  const down = (height - 2 * rim) / Math.max(bottom - top, 1e-9);
  // What lies on a line stays on one, rather than have rounding errors blown up.
  const [scaleX, scaleY] = [Math.min(across, 2.5 * down), Math.min(down, 2.5 * across)];
  return points.map(({ x, y }) => ({
    x: width / 2 + scaleX * (x - (left + right) / 2),
    y: height / 2 + scaleY * (y - (top + bottom) / 2),
  }));
}

function extent(values: readonly number[]): readonly [number, number] {
  return [Math.min(...values), Math.max(...values)];
}

const SPREAD_SWEEPS = 60;

/** The points pushed apart until no two vertices lie on each other, or nearly so. */
export function spread(points: readonly Point[], { width, height }: Box): readonly Point[] {
  const apart = 2 * VERTEX_RADIUS + 6;
  const moved = points.map(({ x, y }) => ({ x, y }));
  for (let sweep = 0; sweep < SPREAD_SWEEPS; sweep++) {
    for (const [i, a] of moved.entries()) {
      for (const [j, b] of moved.entries()) {
        if (j <= i) continue;
        const [dx, dy] = [b.x - a.x, b.y - a.y];
        const gap = Math.hypot(dx, dy);
        if (gap >= apart) continue;
        const push = (apart - gap) / 2;
        const [ux, uy] = gap > 1e-6 ? [dx / gap, dy / gap] : [Math.cos(i + j), Math.sin(i + j)];
        a.x -= push * ux;
        a.y -= push * uy;
        b.x += push * ux;
        b.y += push * uy;
      }
    }
    for (const point of moved) {
      point.x = Math.min(width - VERTEX_RADIUS - 4, Math.max(VERTEX_RADIUS + 4, point.x));
      point.y = Math.min(height - VERTEX_RADIUS - 4, Math.max(VERTEX_RADIUS + 4, point.y));
    }
  }
  return moved;
}

/** The point of a circle at a share of its round, from the top and clockwise. */
export function onCircle(centre: Point, radius: number, share: number): Point {
  const angle = 2 * Math.PI * share - Math.PI / 2;
  return { x: centre.x + radius * Math.cos(angle), y: centre.y + radius * Math.sin(angle) };
}

/** The radius of a circle on which this many vertices stand side by side. */
export function circleRadius(vertices: number, least: number): number {
  return Math.max(least, (vertices * (2 * VERTEX_RADIUS + 5)) / (2 * Math.PI));
}
