import { next, previous, reversePath } from "./tour.ts";
import type { Tour } from "./tour.ts";

/**
 * Lin-Kernighan local search. A step holds t1 and an end t2 next to it: it drops the edge
 * (t1, t2), joins t2 to a near city x, and drops the edge from x to y, which makes y the
 * new end. One reversal turns each step into a tour, so that a chain can stop anywhere.
 */
export interface LinKernighan {
  readonly cost: Int32Array;
  readonly tour: Tour;
  /** Candidate neighbours of each city, `nearCount` to a city, best first. */
  readonly near: Int32Array;
  readonly nearCount: number;
  readonly queue: Int32Array;
  readonly queued: Uint8Array;
  queueHead: number;
  queueLength: number;
}

/** How many continuations are tried at each depth; one below that. */
const breadths = [5, 3, 2];
const depthMax = 6;
const choicesMax = 5;
const choices = new Int32Array((depthMax + 1) * choicesMax);
const scores = new Float64Array((depthMax + 1) * choicesMax);

export function linKernighan(cost: Int32Array, tour: Tour, near: Int32Array): LinKernighan {
  const { n } = tour;
  return {
    cost,
    tour,
    near,
    nearCount: near.length / n,
    queue: new Int32Array(n),
    queued: new Uint8Array(n),
    queueHead: 0,
    queueLength: 0,
  };
}

export function wake(search: LinKernighan, city: number): void {
  if (search.queued[city] === 1) return;
  search.queued[city] = 1;
  const { n } = search.tour;
  let slot = search.queueHead + search.queueLength++;
  if (slot >= n) slot -= n;
  search.queue[slot] = city;
}

/** Improves the tour until no queued city starts an improving chain; returns the gain. */
export function improve(search: LinKernighan): number {
  const { n } = search.tour;
  let gain = 0;
  while (search.queueLength > 0) {
    const city = search.queue[search.queueHead]!;
    if (++search.queueHead === n) search.queueHead = 0;
    search.queueLength--;
    search.queued[city] = 0;
    for (let found = improveFrom(search, city); found > 0; found = improveFrom(search, city)) gain += found;
  }
  return gain;
}

function improveFrom(search: LinKernighan, t1: number): number {
  const { cost, tour } = search;
  const after = next(tour, t1);
  const found = extend(search, 0, t1, after, cost[t1 * tour.n + after]!, true);
  if (found > 0) return found;
  const before = previous(tour, t1);
  return extend(search, 0, t1, before, cost[t1 * tour.n + before]!, false);
}

/** Tries chains from the end t2; `gain` is what was dropped less what was added so far. */
function extend(search: LinKernighan, depth: number, t1: number, t2: number, gain: number, forward: boolean): number {
  const { cost, tour } = search;
  const { n } = tour;
  const count = rankChoices(search, depth, t1, t2, gain, forward);
  for (let k = 0; k < count; k++) {
    const x = choices[depth * choicesMax + k]!;
    const y = forward ? previous(tour, x) : next(tour, x);
    const open = gain - cost[t2 * n + x]! + cost[x * n + y]!;
    apply(tour, t2, y, forward);
    const closed = open - cost[y * n + t1]!;
    const found = closed > 0 ? closed : depth < depthMax ? extend(search, depth + 1, t1, y, open, forward) : 0;
    if (found > 0) {
      wake(search, t1);
      wake(search, t2);
      wake(search, x);
      wake(search, y);
      return found;
    }
    apply(tour, y, t2, forward);
  }
  return 0;
}

/** One step: reverses the path from the end `near` to `far`, in the direction of the chain. */
function apply(tour: Tour, near: number, far: number, forward: boolean): void {
  if (forward) reversePath(tour, near, far);
  else reversePath(tour, far, near);
}

/** Puts the most promising cities to join t2 to in `choices`, by what is then left open. */
function rankChoices(
  search: LinKernighan,
  depth: number,
  t1: number,
  t2: number,
  gain: number,
  forward: boolean,
): number {
  const { cost, tour, near, nearCount } = search;
  const { n } = tour;
  const limit = depth < breadths.length ? breadths[depth]! : 1;
  const base = depth * choicesMax;
  let count = 0;
  for (let k = t2 * nearCount; k < (t2 + 1) * nearCount; k++) {
    const x = near[k]!;
    const left = gain - cost[t2 * n + x]!;
    if (left <= 0) continue;
    const y = forward ? previous(tour, x) : next(tour, x);
    if (x === t1 || y === t2) continue;
    const open = left + cost[x * n + y]!;
    let slot = count;
    while (slot > 0 && scores[base + slot - 1]! < open) slot--;
    if (slot === limit) continue;
    if (count < limit) count++;
    for (let at = base + count - 1; at > base + slot; at--) {
      choices[at] = choices[at - 1]!;
      scores[at] = scores[at - 1]!;
    }
    choices[base + slot] = x;
    scores[base + slot] = open;
  }
  return count;
}
