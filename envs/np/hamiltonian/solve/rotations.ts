/** Finds long cycles quickly. A path grows at its end; if it cannot, the search reverses a part of it (Pósa 1976). */
import type { Rng } from "../../../lib/rng.ts";

/** Neighbours of each vertex. */
export type Neighbours = readonly Int32Array[];

interface Walk {
  readonly neighbours: Neighbours;
  readonly rng: Rng;
  readonly path: number[];
  /** Position of each vertex in the path, or −1 if it is not on the path. */
  readonly place: Int32Array;
  /** Longest cycle found so far. */
  best: readonly number[];
}

/**
 * Returns the longest cycle found by `steps` steps, each of which extends or turns a path that begins at `start`. Stops
 * early at a cycle of at least `enough` vertices. Returns an empty list if no cycle is found.
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

/**
 * Extends the path to the neighbour of its end that has the fewest neighbours off the path, because that neighbour
 * would be the first to become unreachable. Returns false if no neighbour is off the path.
 */
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

/**
 * Joins the path's end to the earliest of its neighbours on the path. Stores the resulting cycle if it is the longest
 * so far.
 */
function closeBest(walk: Walk): void {
  const { neighbours, place, path } = walk;
  const from = Math.min(...Array.from(neighbours[path.at(-1)!]!, (u) => place[u]!));
  const length = path.length - from;
  if (length >= 3 && length > walk.best.length) walk.best = path.slice(from);
}

/**
 * Gives the path another end from which it may grow. If its two ends are joined, opens this cycle at a vertex with a
 * neighbour off the path. Otherwise reverses the part after a neighbour of the end, or the whole path. Returns false if
 * the path cannot change.
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
