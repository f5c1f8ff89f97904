/**
 * Generates graphs as the papers' public code does for its benchmark (OliverLeeXZ/NP-Engine, NP_tasks/minimum_cut). The
 * vertices are numbered by community: first A, then B, then C. Light edges join A to B and C, and heavier edges join B
 * to C. A few vertices of A are traitors: loosely joined to A, and strongly to both B and C. Noise edges come last. A
 * pair of vertices that is drawn again keeps its first edge.
 */
import { type Rng, sample } from "../../lib/rng.ts";
import type { Range } from "../../parameters.ts";

export const COMMUNITIES = 3;
const INSIDE = { chance: 0.9, weight: [8, 10] as Range };
const TRAITOR = { chance: 0.2, weight: [1, 3] as Range };
const BRIDGE: Range = [1, 2];
const DECOY: Range = [3, 5];
/**
 * Edges between communities B and C are drawn until their total weight exceeds this factor times that of the edges from
 * community A to B and C.
 */
const DECOY_FACTOR = 1.2;
const TREASON: Range = [9, 10];
/** Number of edges drawn from each traitor (a vertex of community A) to community B, and likewise to C. */
const TRAITOR_STRENGTH = 3;
const NOISE: Range = [1, 6];

/** Weighted edge between vertices a < b. */
interface Drawn {
  readonly a: number;
  readonly b: number;
  readonly weight: number;
}

/** Factor of a in the key a · PLACES + b of an edge. It exceeds any number of vertices. */
const PLACES = 4096;

/** Edges drawn so far, by the key a · PLACES + b. */
type Weights = Map<number, Drawn>;

/** Vertices from which an end of an edge is drawn, e.g. those of a community. */
type Vertices = readonly number[];

export function makeEdges(vertices: number, noise: number, rng: Rng): readonly Drawn[] {
  const third = Math.floor(vertices / COMMUNITIES);
  const range = (from: number, to: number): Vertices => Array.from({ length: to - from }, (_, i) => from + i);
  const [a, b, c] = [range(0, third), range(third, 2 * third), range(2 * third, vertices)];
  const edges: Weights = new Map();
  for (const community of [b, c]) joinWithin(edges, community, rng);
  let bridges = 0;
  for (const other of [b, c])
    for (let i = 0; i < Math.floor(vertices / 10); i++) bridges += joinAny(edges, a, other, BRIDGE, rng);
  for (let decoys = 0; decoys <= bridges * DECOY_FACTOR;) decoys += joinAny(edges, b, c, DECOY, rng);
  const order = sample(third, third, rng).map((i) => a[i] as number);
  const [traitors, loyal] = [order.slice(0, Math.max(1, third >> 2)), order.slice(Math.max(1, third >> 2))];
  for (const u of traitors)
    for (const v of loyal) if (rng.float() < TRAITOR.chance) add(edges, u, v, TRAITOR.weight, rng);
  joinWithin(edges, loyal, rng);
  for (const traitor of traitors)
    for (const other of [b, c])
      for (let i = 0; i < TRAITOR_STRENGTH; i++) joinAny(edges, [traitor], other, TREASON, rng);
  for (let i = 0; i < Math.floor((noise * vertices * (vertices - 1)) / 2); i++) {
    const [u, v] = sample(vertices, 2, rng) as [number, number];
    add(edges, u, v, NOISE, rng);
  }
  return [...edges.values()].sort((one, other) => one.a - other.a || one.b - other.b);
}

function joinWithin(edges: Weights, community: Vertices, rng: Rng): void {
  for (const [i, u] of community.entries())
    for (const v of community.slice(i + 1)) if (rng.float() < INSIDE.chance) add(edges, u, v, INSIDE.weight, rng);
}

/** Adds an edge between a random vertex of each list. Returns the edge's weight, or 0 if the edge existed before. */
function joinAny(edges: Weights, from: Vertices, to: Vertices, weight: Range, rng: Rng): number {
  return add(edges, rng.pick(from), rng.pick(to), weight, rng);
}

function add(edges: Weights, u: number, v: number, [least, most]: Range, rng: Rng): number {
  const [a, b] = [Math.min(u, v), Math.max(u, v)];
  const place = a * PLACES + b;
  if (edges.has(place)) return 0;
  const weight = rng.int(least, most);
  edges.set(place, { a, b, weight });
  return weight;
}
