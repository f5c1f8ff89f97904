/**
 * Graphs as the papers' public code makes them for its benchmark (OliverLeeXZ/NP-Engine, NP_tasks/minimum_cut): three
 * communities A, B and C by rising number. Light edges tie A to the others, and heavier ones B to C. A few of A are
 * traitors: loosely tied to their own, and strongly to both others. Noise comes last. No pair has two edges: where one is
 * drawn again, it stays what it was.
 */
import { type Rng, sample } from "../../lib/rng.ts";
import type { Range } from "../../parameters.ts";

export const COMMUNITIES = 3;
const INSIDE = { chance: 0.9, weight: [8, 10] as Range };
const TRAITOR = { chance: 0.2, weight: [1, 3] as Range };
const BRIDGE: Range = [1, 2];
const DECOY: Range = [3, 5];
/** The edges between B and C weigh more than so many times those that tie A to both. */
const DECOY_FACTOR = 1.2;
const TREASON: Range = [9, 10];
/** Edges that a traitor is given to B, and as many to C. */
const TRAITOR_STRENGTH = 3;
const NOISE: Range = [1, 6];

/** Between a < b. */
interface Drawn {
  readonly a: number;
  readonly b: number;
  readonly weight: number;
}

/** More than a graph has vertices. */
const PLACES = 4096;

/** By a · PLACES + b. */
type Weights = Map<number, Drawn>;

/** A list that is drawn from. */
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

/** An edge between any two of these; its weight, or 0 where there was one. */
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
