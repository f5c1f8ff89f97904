/** Long cycles, quickly: a path grows at its end, and where it cannot, turns a part of itself round (Pósa 1976). */
import type { Rng } from "../../../lib/rng.ts";

/** For each vertex, its neighbours. */
export type Neighbours = readonly Int32Array[];

interface Walk {
  readonly neighbours: Neighbours;
  readonly rng: Rng;
  readonly path: number[];
  /** Where each vertex stands in the path; −1: nowhere. */
  readonly place: Int32Array;
  /** The longest cycle so far. */
  best: readonly number[];
}

/**
 * The longest cycle found from a random path by so many steps, or the first of at least `enough` vertices; empty: none.
 */
export function rotate(
  neighbours: Neighbours,
  start: number,
  steps: number,
  enough: number,
  rng: Rng,
): readonly number[] {
  const walk: Walk = { neighbours, rng, path: [], place: new Int32Array(neighbours.length).fill(-1), best: [] };
  append(walk, start);
  for (let step = 0; step < steps; step++) {
    if (extend(walk)) continue;
    closeBest(walk);
    if (walk.best.length >= enough || !turn(walk)) break;
  }
  return walk.best;
}

function append({ path, place }: Walk, v: number): void {
  place[v] = path.length;
  path.push(v);
}

/** Goes on to the neighbour with the fewest neighbours of its own that are not in the path, for it is the most urgent. */
function extend(walk: Walk): boolean {
  const { neighbours, place, path, rng } = walk;
  let [next, fewest, ties] = [-1, Infinity, 0];
  for (const u of neighbours[path.at(-1)!]!) {
    if (place[u]! >= 0) continue;
    let open = 0;
    for (const w of neighbours[u]!) if (place[w]! < 0) open++;
    if (open > fewest) continue;
    ties = open < fewest ? 1 : ties + 1;
    if (ties > 1 && rng.int(1, ties) > 1) continue;
    [next, fewest] = [u, open];
  }
  if (next < 0) return false;
  append(walk, next);
  return true;
}

/** Keeps the cycle that the path's end makes with the earliest of its neighbours. */
function closeBest(walk: Walk): void {
  const { neighbours, place, path } = walk;
  const from = Math.min(...Array.from(neighbours[path.at(-1)!]!, (u) => place[u]!));
  const length = path.length - from;
  if (length >= 3 && length > walk.best.length) walk.best = path.slice(from);
}

/**
 * Gives the path another end that it can go on from. A closed path is opened where a vertex leads out of it; else what
 * comes after a neighbour of the end is reversed, or the whole path. False: the path cannot change.
 */
function turn(walk: Walk): boolean {
  const { neighbours, place, path, rng } = walk;
  const end = path.at(-1)!;
  const inner = Array.from(neighbours[end]!).filter((u) => place[u]! < path.length - 2);
  if (path.length >= 3 && neighbours[end]!.includes(path[0]!)) {
    const out = path.findIndex((v) => neighbours[v]!.some((u) => place[u]! < 0));
    if (out >= 0) return renew(walk, [...path.slice(out + 1), ...path.slice(0, out + 1)]);
  }
  if (inner.length === 0 || rng.int(1, 8) === 1) return path.length > 1 && renew(walk, path.toReversed());
  const at = place[rng.pick(inner)]!;
  return renew(walk, [...path.slice(0, at + 1), ...path.slice(at + 1).reverse()]);
}

function renew({ path, place }: Walk, next: readonly number[]): boolean {
  for (const [i, v] of next.entries()) {
    path[i] = v;
    place[v] = i;
  }
  return true;
}
