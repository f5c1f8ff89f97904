/**
 * Draws the two sides of a bisection face to face, so that a person sees the cut and the vertices that should change
 * sides.
 */
import type { Picture, Shape } from "../../envs/picture.ts";
import { edgeShapes, PLAIN_VERTEX, type VertexLook, vertexShapes } from "../lib/graph.ts";
import { boxFor, circleRadius, embed, fitted, onCircle, spread, VERTEX_RADIUS } from "../lib/layout.ts";
import { isWithin, legendOf, noteOf, notesOf, type Point, tally, timesText } from "../lib/picture.ts";
import { text } from "../lib/svg.ts";
import { type BisectionInstance, cutWeight, type Edge } from "../../envs/np/bisection/generate.ts";
import type { Sides } from "../../envs/np/bisection/verify.ts";

/** Side of each vertex: the index, 0 or 1, of the answer's first list that holds it, or −1 if neither does. */
type SideOf = readonly number[];

export function draw(instance: BisectionInstance, sides?: Sides, best?: Sides): Picture {
  if (sides === undefined) return drawPlain(instance);
  const { vertices, edges } = instance;
  const { times, outside } = tally(sides.flat(), vertices);
  const side = sideOf(vertices, sides);
  const cut = edges.filter(({ a, b }) => isCut(side, a, b));
  const { points, width, height } = faced(instance, side);
  const movers = best === undefined ? new Set<number>() : moversOf(side, sideOf(vertices, best));
  const [missed, repeated] = [side.includes(-1), times.some((each) => each > 1)];
  return {
    width,
    height,
    shapes: [
      ...weighted(
        edges.filter(({ a, b }) => !isCut(side, a, b)),
        points,
        "gd-edge",
      ),
      ...weighted(cut, points, "gd-cut"),
      ...vertexShapes(points, (v) => lookOf(side[v] as number, times[v] as number, movers.has(v))),
      ...captions(sides, width, height, cutWeight({ vertices, edges: cut }, side)),
    ],
    legend: legendOf(
      [cut.length > 0, "line", "gd-cut", "cut; the wider, the heavier"],
      [cut.length < edges.length, "line", "gd-edge", "not cut"],
      [missed, "dot", "gd-missing", "on neither side"],
      [repeated, "dot", "gd-ring", "listed more than once"],
      [movers.size > 0, "dot", "gd-best", "on the other side in a best answer"],
    ),
    notes: notesOf(noteOf("Not in the graph", outside)),
  };
}

/**
 * Draws the graph without an answer. Vertices with similar neighbours are close together, which shows the communities.
 */
function drawPlain({ vertices, edges }: BisectionInstance): Picture {
  const box = boxFor(vertices);
  const weights = Array.from({ length: vertices }, () => new Float64Array(vertices));
  for (const { a, b, weight } of edges) {
    (weights[a] as Float64Array)[b] = weight;
    (weights[b] as Float64Array)[a] = weight;
  }
  const far = (a: number, b: number): number =>
    unlikeness(weights[a] as Float64Array, weights[b] as Float64Array, a, b);
  const points = spread(fitted(embed(vertices, far), box), box);
  const shapes = [...weighted(edges, points, "gd-edge"), ...vertexShapes(points, () => PLAIN_VERTEX)];
  return {
    ...box,
    shapes,
    legend: legendOf([edges.length > 0, "line", "gd-edge", "edge; the wider, the heavier"]),
    notes: [],
  };
}

/**
 * Returns how differently two vertices are joined: about one minus the share of weight that their edges have in common
 * (Jaccard). An edge between the two counts as common.
 */
function unlikeness(one: Float64Array, other: Float64Array, a: number, b: number): number {
  let [common, all] = [2 * (one[b] as number), 2 * (one[b] as number)];
  for (let v = 0; v < one.length; v++) {
    if (v === a || v === b) continue;
    common += Math.min(one[v] as number, other[v] as number);
    all += Math.max(one[v] as number, other[v] as number);
  }
  return all === 0 ? 1 : 1.05 - common / all;
}

function sideOf(vertices: number, sides: Sides): SideOf {
  const side = Array.from({ length: vertices }, () => -1);
  for (const [i, list] of sides.entries()) {
    for (const v of list) if (isWithin(v, vertices) && side[v] === -1) side[v] = i;
  }
  return side;
}

function isCut(side: SideOf, a: number, b: number): boolean {
  return side[a] !== side[b] && side[a] !== -1 && side[b] !== -1;
}

/**
 * Returns the vertices that must change sides to give the best answer. Which of the two sides comes first does not
 * matter, so the smaller of the two possible sets is returned.
 */
function moversOf(side: SideOf, best: SideOf): ReadonlySet<number> {
  const differing = side.flatMap((own, v) => (own !== -1 && own !== best[v] ? [v] : []));
  const same = side.flatMap((own, v) => (own !== -1 && own === best[v] ? [v] : []));
  return new Set(differing.length <= same.length ? differing : same);
}

/**
 * Places the two sides on two circles. The more of a vertex's edge weight is cut, the closer it is to the other side.
 */
function faced(instance: BisectionInstance, side: SideOf) {
  const groups = [0, 1, -1].map((which) => [...side.keys()].filter((v) => side[v] === which));
  const radius = circleRadius(Math.max(...groups.map((group) => group.length)), 130);
  const height = 2 * radius + 80;
  // Put vertices on neither side between the circles, in as many columns as needed.
  const step = 2 * VERTEX_RADIUS + 8;
  const rows = Math.max(1, Math.floor(height / step) - 1);
  const columns = Math.ceil((groups[2] as readonly number[]).length / rows);
  const width = 4 * radius + 120 + (columns === 0 ? 0 : (columns + 1) * step);
  const points: Point[] = [];
  const share = cutShares(instance, side);
  for (const [which, group] of groups.entries()) {
    const order = group.toSorted((a, b) => (share[b] as number) - (share[a] as number) || a - b);
    for (const [place, v] of order.entries()) {
      points[v] = which === 2 ? inColumn(place) : around(which, place, order.length);
    }
  }
  return { points, width, height };

  function inColumn(place: number): Point {
    const column = Math.floor(place / rows);
    return { x: width / 2 + (column - (columns - 1) / 2) * step, y: ((place % rows) + 1) * step };
  }

  /**
   * Returns the point of a vertex on its circle. Vertices are placed from the point that faces the other side,
   * alternately to the left and the right of it.
   */
  function around(which: number, place: number, count: number): Point {
    const centre = { x: which === 0 ? radius + 30 : width - radius - 30, y: 30 + radius };
    const turns = (Math.ceil(place / 2) * (place % 2 === 0 ? 1 : -1)) / count;
    return onCircle(centre, radius, (which === 0 ? 0.25 : 0.75) + turns);
  }
}

/** Returns the share of each vertex's edge weight that is cut. */
function cutShares({ vertices, edges }: BisectionInstance, side: SideOf): Float64Array {
  const [cut, all] = [new Float64Array(vertices), new Float64Array(vertices)];
  for (const { a, b, weight } of edges) {
    for (const v of [a, b]) {
      all[v] = (all[v] as number) + weight;
      if (isCut(side, a, b)) cut[v] = (cut[v] as number) + weight;
    }
  }
  return cut.map((weight, v) => weight / Math.max(1, all[v] as number));
}

const WIDTHS = 4;

/** Draws edges in a few widths, by their weight. */
function weighted(edges: readonly Edge[], points: readonly Point[], className: string): readonly Shape[] {
  const heaviest = Math.max(1, ...edges.map(({ weight }) => weight));
  const byWidth = Map.groupBy(edges, ({ weight }) => Math.ceil((WIDTHS * weight) / heaviest));
  return [...byWidth]
    .sort(([one], [other]) => one - other)
    .flatMap(([width, all]) =>
      edgeShapes(
        all.map(({ a, b }) => [a, b]),
        points,
        className,
        0.2 + 0.6 * width,
      ),
    );
}

function lookOf(side: number, times: number, moves: boolean): VertexLook {
  if (side === -1) return { ...PLAIN_VERTEX, ring: "gd-missing" };
  const look = side === 0 ? { disc: "gd-f0", label: "gd-on-dark" } : { disc: "gd-f1", label: "gd-on-light" };
  const ring = times > 1 ? "gd-ring" : moves ? "gd-best" : undefined;
  return { ...look, ring, beside: timesText(times) };
}

function captions(sides: Sides, width: number, height: number, weight: number): readonly Shape[] {
  const uneven = Math.abs(sides[0].length - sides[1].length) > 1 ? " gd-bad" : "";
  const caption = (x: number, list: readonly number[]): Shape =>
    text(x, height - 10, `gd-mid${uneven}`, `${list.length} vertices`);
  return [
    caption(width * 0.25, sides[0]),
    caption(width * 0.75, sides[1]),
    text(width / 2, height - 10, "gd-mid", `cut: ${weight}`),
  ];
}
