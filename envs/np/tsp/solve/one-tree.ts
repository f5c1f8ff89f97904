/** Computes 1-tree bounds on tours, and improves their multipliers by subgradient ascent (Held and Karp 1971). */

/** TSP instance with scaled distances, so that fractional multipliers are exact integers. */
export interface Instance {
  readonly n: number;
  /** Factor of the distances, a power of two. Every bound is computed in units of 1/scale. */
  readonly scale: number;
  /** Scaled distances (distance × scale), as an n × n matrix, row by row. */
  readonly cost: Int32Array;
}

/**
 * Maximum absolute value of a multiplier. With costs up to 2^27, a reduced cost (cost + 2 multipliers) and the
 * difference of two reduced costs fit 32 bits. Any sum over a tour fits the 53 exact bits of a double.
 */
const multiplierMax = 2 ** 28;
const costMax = 2 ** 27;
const scaleMax = 2 ** 10;

export function scaleInstance(distances: readonly (readonly number[])[]): Instance {
  const n = distances.length;
  let longest = 1;
  for (const row of distances) for (const distance of row) if (distance > longest) longest = distance;
  let scale = scaleMax;
  while (scale > 1 && longest * scale > costMax) scale /= 2;
  const cost = new Int32Array(n * n);
  for (let i = 0; i < n; i++) {
    const row = distances[i]!;
    for (let j = 0; j < n; j++) cost[i * n + j] = i === j ? 0 : row[j]! * scale;
  }
  return { n, scale, cost };
}

/** Returns the smallest tour length (an integer) that a lower bound in scaled units allows. */
export function lengthAtLeast(bound: number, scale: number): number {
  return Math.ceil(bound / scale);
}

export interface Multipliers {
  readonly n: number;
  /** Multipliers of the greatest bound found. */
  readonly best: Int32Array;
  readonly current: Int32Array;
  /** Degrees of the vertices in the 1-tree of the previous step, for momentum. */
  readonly previous: Int32Array;
}

export interface AscentPlan {
  readonly iterations: number;
  /** Length of the first step, as a multiple of Polyak's step to the cutoff. */
  readonly stepFirst: number;
  /** Factor that shortens the step after `patience` steps without a better bound. */
  readonly shrink: number;
  readonly patience: number;
}

export function multipliers(n: number): Multipliers {
  return { n, best: new Int32Array(n), current: new Int32Array(n), previous: new Int32Array(n) };
}

/**
 * Improves the multipliers `m.best` by subgradient steps, and returns the 1-tree bound that they give. Stops when the
 * bound exceeds `cutoff` or the 1-tree is a tour. `evaluate` must fill `degree`.
 */
export function ascend(
  m: Multipliers,
  degree: Int32Array,
  evaluate: (pi: Int32Array) => number,
  cutoff: number,
  plan: AscentPlan,
): number {
  const { best, current, previous } = m;
  current.set(best);
  let bestBound = evaluate(current);
  let bound = bestBound;
  let share = plan.stepFirst;
  let stale = 0;
  previous.set(degree);
  for (let round = 0; round < plan.iterations && bestBound <= cutoff; round++) {
    const excess = excessOf(degree);
    if (excess === 0) break;
    move(m, degree, (share * (cutoff + 1 - bound)) / excess);
    bound = evaluate(current);
    if (bound > bestBound) {
      bestBound = bound;
      best.set(current);
      stale = 0;
    } else if (++stale >= plan.patience) {
      stale = 0;
      share *= plan.shrink;
    }
  }
  return bestBound;
}

/** Returns the squared length of the subgradient. Its entries are the degrees minus 2, so that it is 0 for a tour. */
export function excessOf(degree: Int32Array): number {
  let sum = 0;
  for (let v = 0; v < degree.length; v++) {
    const off = degree[v]! - 2;
    sum += off * off;
  }
  return sum;
}

/**
 * Makes one step of the multipliers: 0.7 along this subgradient and 0.3 along the previous one (Volgenant and Jonker
 * 1982).
 */
function move(m: Multipliers, degree: Int32Array, step: number): void {
  const { current, previous, n } = m;
  for (let v = 0; v < n; v++) {
    const now = degree[v]! - 2;
    const before = previous[v]! - 2;
    previous[v] = degree[v]!;
    if (now === 0 && before === 0) continue;
    const moved = current[v]! + Math.round(step * (0.7 * now + 0.3 * before));
    current[v] = Math.max(-multiplierMax, Math.min(multiplierMax, moved));
  }
}

/**
 * Minimum 1-tree of the complete graph under reduced costs cost + pi(u) + pi(v). A 1-tree is a spanning tree plus the
 * second cheapest edge at one of its leaves. Whichever leaf is chosen, no tour is cheaper than the 1-tree. The leaf
 * with the dearest second edge gives the best bound.
 */
export interface DenseTree {
  readonly instance: Instance;
  readonly degree: Int32Array;
  /** Other end of the tree edge that reached each vertex. Vertex 0 is the root. */
  readonly parent: Int32Array;
  /** Vertices in the order in which the tree reached them, so that a parent comes before its children. */
  readonly order: Int32Array;
  readonly key: Int32Array;
  readonly rest: Int32Array;
  /** Leaf of the spanning tree that gets the 1-tree's extra edge, and the other end of that edge. */
  leaf: number;
  leafMate: number;
}

export function denseTree(instance: Instance): DenseTree {
  const { n } = instance;
  const array = (): Int32Array => new Int32Array(n);
  return {
    instance,
    degree: array(),
    parent: array(),
    order: array(),
    key: array(),
    rest: array(),
    leaf: 0,
    leafMate: 0,
  };
}

/** Builds the 1-tree, and returns the lower bound on every tour, in scaled units. */
export function evaluateDense(tree: DenseTree, pi: Int32Array): number {
  const { n, cost } = tree.instance;
  span(tree, pi);
  attachLeaf(tree, pi);
  const { parent, degree } = tree;
  let bound = cost[tree.leaf * n + tree.leafMate]!;
  for (let v = 1; v < n; v++) bound += cost[parent[v]! * n + v]!;
  for (let v = 0; v < n; v++) bound += (degree[v]! - 2) * pi[v]!;
  return bound;
}

/** Builds a spanning tree of the complete graph by Prim's algorithm, from vertex 0. */
function span(tree: DenseTree, pi: Int32Array): void {
  const { degree, parent, order, key, rest } = tree;
  const { n, cost } = tree.instance;
  for (let v = 0; v < n; v++) {
    rest[v] = v + 1;
    key[v] = 0x7fffffff;
  }
  degree.fill(0);
  order[0] = 0;
  let u = 0;
  for (let left = n - 1, reached = 1; left > 0; left--, reached++) {
    const row = u * n;
    const own = pi[u]!;
    let nearest = 0x7fffffff;
    let slot = 0;
    for (let k = 0; k < left; k++) {
      const v = rest[k]!;
      const reduced = (cost[row + v]! + own + pi[v]!) | 0;
      let known = key[v]!;
      if (reduced < known) {
        key[v] = known = reduced;
        parent[v] = u;
      }
      if (known < nearest) {
        nearest = known;
        slot = k;
      }
    }
    u = rest[slot]!;
    rest[slot] = rest[left - 1]!;
    order[reached] = u;
    degree[u] = degree[u]! + 1;
    degree[parent[u]!] = degree[parent[u]!]! + 1;
  }
}

/** Completes the 1-tree at the leaf whose second cheapest edge is dearest. */
function attachLeaf(tree: DenseTree, pi: Int32Array): void {
  const { degree, parent, order } = tree;
  const { n } = tree.instance;
  let best = -Infinity;
  for (let v = 0; v < n; v++) {
    if (degree[v] !== 1) continue;
    const mate = nearestOther(tree.instance, pi, v, v === 0 ? order[1]! : parent[v]!);
    const reduced = tree.instance.cost[v * n + mate]! + pi[v]! + pi[mate]!;
    if (reduced <= best) continue;
    best = reduced;
    tree.leaf = v;
    tree.leafMate = mate;
  }
  degree[tree.leaf] = 2;
  degree[tree.leafMate] = degree[tree.leafMate]! + 1;
}

/** Returns the vertex nearest to v by reduced cost, other than v and `except`. */
export function nearestOther(instance: Instance, pi: Int32Array, v: number, except: number): number {
  const { n, cost } = instance;
  let nearest = 0x7fffffff;
  let found = -1;
  for (let w = 0; w < n; w++) {
    if (w === v || w === except) continue;
    const reduced = cost[v * n + w]! + pi[w]!;
    if (reduced >= nearest) continue;
    nearest = reduced;
    found = w;
  }
  return found;
}
