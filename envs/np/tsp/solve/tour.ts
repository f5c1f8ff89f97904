/**
 * Improves tours by Lin-Kernighan local search. A step has a city t1 and a neighbour t2 of it on the tour. The step
 * drops the edge (t1, t2), joins t2 to a near city x, and drops the edge from x to y, a neighbour of x on the tour.
 * City y then takes the place of t2 in the next step of the chain. Each step reverses one path and gives a tour, so
 * that a chain can stop anywhere.
 */

/** Closed tour as two arrays: the city at each position, and the position of each city. */
export interface IndexedTour {
  readonly n: number;
  readonly city: Int32Array;
  readonly at: Int32Array;
}

export function tourOf(order: ArrayLike<number>): IndexedTour {
  const n = order.length;
  const tour = { n, city: new Int32Array(n), at: new Int32Array(n) };
  setTour(tour, order);
  return tour;
}

export function setTour(tour: IndexedTour, order: ArrayLike<number>): void {
  for (let i = 0; i < tour.n; i++) {
    tour.city[i] = order[i]!;
    tour.at[order[i]!] = i;
  }
}

function next(tour: IndexedTour, city: number): number {
  const position = tour.at[city]! + 1;
  return tour.city[position === tour.n ? 0 : position]!;
}

function previous(tour: IndexedTour, city: number): number {
  const position = tour.at[city]!;
  return tour.city[(position === 0 ? tour.n : position) - 1]!;
}

/** Reverses the path that runs forward from one city to another. */
function reversePath(tour: IndexedTour, from: number, to: number): void {
  const { n, city, at } = tour;
  let i = at[from]!;
  let j = at[to]!;
  const length = (j >= i ? j - i : j - i + n) + 1;
  for (let swaps = length >> 1; swaps > 0; swaps--) {
    const a = city[i]!;
    const b = city[j]!;
    city[i] = b;
    at[b] = i;
    city[j] = a;
    at[a] = j;
    if (++i === n) i = 0;
    if (--j < 0) j = n - 1;
  }
}

export function tourCost(cost: Int32Array, order: ArrayLike<number>): number {
  const n = order.length;
  let sum = cost[order[n - 1]! * n + order[0]!]!;
  for (let i = 1; i < n; i++) sum += cost[order[i - 1]! * n + order[i]!]!;
  return sum;
}

export interface LinKernighan {
  readonly cost: Int32Array;
  readonly tour: IndexedTour;
  /** Candidate neighbours of each city, `nearCount` for each, best first. */
  readonly near: Int32Array;
  readonly nearCount: number;
  readonly queue: Int32Array;
  readonly queued: Uint8Array;
  queueHead: number;
  queueLength: number;
}

/** Number of cities x tried at each depth of a chain. It is 1 at greater depths. */
const breadths = [5, 3, 2];
const depthMax = 6;
const choicesMax = 5;
const choices = new Int32Array((depthMax + 1) * choicesMax);
const scores = new Float64Array((depthMax + 1) * choicesMax);

export function linKernighan(cost: Int32Array, tour: IndexedTour, near: Int32Array): LinKernighan {
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

function wake(search: LinKernighan, city: number): void {
  if (search.queued[city] === 1) return;
  search.queued[city] = 1;
  const { n } = search.tour;
  let slot = search.queueHead + search.queueLength++;
  if (slot >= n) slot -= n;
  search.queue[slot] = city;
}

/** Runs chains of Lin-Kernighan steps until no queued city starts a chain that shortens the tour. */
function improve(search: LinKernighan): void {
  const { n } = search.tour;
  while (search.queueLength > 0) {
    const city = search.queue[search.queueHead]!;
    if (++search.queueHead === n) search.queueHead = 0;
    search.queueLength--;
    search.queued[city] = 0;
    while (improveFrom(search, city)) continue;
  }
}

function improveFrom(search: LinKernighan, t1: number): boolean {
  const { cost, tour } = search;
  const after = next(tour, t1);
  if (extend(search, 0, t1, after, cost[t1 * tour.n + after]!, true)) return true;
  const before = previous(tour, t1);
  return extend(search, 0, t1, before, cost[t1 * tour.n + before]!, false);
}

/**
 * Tries chains of steps that start by joining t2 to another city. `gain` is the cost dropped minus the cost added so
 * far. Returns whether a chain improved the tour.
 */
function extend(search: LinKernighan, depth: number, t1: number, t2: number, gain: number, forward: boolean): boolean {
  const { cost, tour } = search;
  const { n } = tour;
  const count = rankChoices(search, depth, t1, t2, gain, forward);
  for (let k = 0; k < count; k++) {
    const x = choices[depth * choicesMax + k]!;
    const y = forward ? previous(tour, x) : next(tour, x);
    const open = gain - cost[t2 * n + x]! + cost[x * n + y]!;
    apply(tour, t2, y, forward);
    const isShorter = open > cost[y * n + t1]!;
    if (isShorter || (depth < depthMax && extend(search, depth + 1, t1, y, open, forward))) {
      wake(search, t1);
      wake(search, t2);
      wake(search, x);
      wake(search, y);
      return true;
    }
    apply(tour, y, t2, forward);
  }
  return false;
}

/** Makes or undoes one step: reverses the path from `near` to `far`, in the direction of the chain. */
function apply(tour: IndexedTour, near: number, far: number, forward: boolean): void {
  if (forward) reversePath(tour, near, far);
  else reversePath(tour, far, near);
}

/**
 * Writes to `choices` the most promising cities x to join t2 to, ranked by the remaining gain. Returns their number.
 */
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

/**
 * Returns the `count` nearest other cities of each city, nearest first, by an n × n matrix of weights. Of equally near
 * cities, the lower number comes first.
 */
export function nearest(n: number, weight: Int32Array, count: number): Int32Array {
  const near = new Int32Array(n * count);
  for (let v = 0; v < n; v++) {
    const base = v * count;
    let filled = 0;
    for (let w = 0; w < n; w++) {
      if (w === v) continue;
      const own = weight[v * n + w]!;
      let slot = filled;
      while (slot > 0 && weight[v * n + near[base + slot - 1]!]! > own) slot--;
      if (slot === count) continue;
      if (filled < count) filled++;
      for (let k = filled - 1; k > slot; k--) near[base + k] = near[base + k - 1]!;
      near[base + slot] = w;
    }
  }
  return near;
}

/** Improves the tour until no city starts an improving chain. Returns the tour's cost. */
export function improveTour(search: LinKernighan): number {
  const { tour, cost } = search;
  for (let v = 0; v < tour.n; v++) wake(search, v);
  improve(search);
  return tourCost(cost, tour.city);
}
