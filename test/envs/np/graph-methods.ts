/** Independent exact methods on graphs, to check solvers against: simple, and of another kind than theirs. */
import { adjacent, neighbours } from "../../../envs/lib/graph.ts";
import type { Graph } from "../../../envs/lib/graph.ts";

/** Every set of vertices; for up to 16. */
export function largestSet(graph: Graph, joined: boolean): number {
  const n = graph.vertices;
  // clashes[v]: the vertices that may not be with v.
  const clashes = Array.from({ length: n }, (_, v) =>
    Array.from({ length: n }, (_, w) => (v !== w && adjacent(graph, v, w) !== joined ? 1 << w : 0)).reduce(
      (a, b) => a | b,
    ),
  );
  let best = 0;
  for (let set = 1; set < 1 << n; set++) {
    let size = 0;
    let fine = true;
    for (let v = 0; v < n && fine; v++) {
      if (((set >> v) & 1) === 0) continue;
      size++;
      fine = (clashes[v]! & set) === 0;
    }
    if (fine && size > best) best = size;
  }
  return best;
}

/** The size of the largest of all maximal cliques (Bron and Kerbosch 1973, with a pivot). */
export function largestMaximalClique(graph: Graph): number {
  const near = Array.from({ length: graph.vertices }, (_, v) => new Set(neighbours(graph, v)));
  let best = 0;
  const extend = (size: number, candidates: Set<number>, excluded: Set<number>): void => {
    best = Math.max(best, size);
    const all = [...candidates, ...excluded];
    const shared = (v: number): number => [...candidates].filter((w) => near[v]!.has(w)).length;
    const pivot = all.reduce((most, v) => (shared(v) > shared(most) ? v : most), all[0] ?? 0);
    for (const v of [...candidates].filter((w) => !near[pivot]!.has(w))) {
      extend(size + 1, candidates.intersection(near[v]!), excluded.intersection(near[v]!));
      candidates.delete(v);
      excluded.add(v);
    }
  };
  extend(0, new Set(near.keys()), new Set());
  return best;
}

/** The size of a largest independent set: a vertex of most neighbours is in it, or is not. */
export function largestIndependentSet(graph: Graph): number {
  const near = Array.from({ length: graph.vertices }, (_, v) => new Set(neighbours(graph, v)));
  const largest = (left: Set<number>): number => {
    let most = -1;
    let degree = -1;
    for (const v of left) {
      const count = near[v]!.intersection(left).size;
      if (count <= 1) return 1 + largest(without(left, [v, ...near[v]!]));
      if (count > degree) [most, degree] = [v, count];
    }
    if (most < 0) return 0;
    return Math.max(1 + largest(without(left, [most, ...near[most]!])), largest(without(left, [most])));
  };
  return largest(new Set(near.keys()));
}

/** The fewest colours: for each count, every colouring vertex by vertex, new colours in order. */
export function chromaticNumber(graph: Graph): number {
  const n = graph.vertices;
  const before = Array.from({ length: n }, (_, v) => neighbours(graph, v).filter((w) => w < v));
  const colour: number[] = [];
  const extend = (v: number, used: number, limit: number): boolean => {
    if (v === n) return true;
    for (let c = 0; c < Math.min(limit, used + 1); c++) {
      if (before[v]!.some((w) => colour[w] === c)) continue;
      colour[v] = c;
      if (extend(v + 1, Math.max(used, c + 1), limit)) return true;
    }
    return false;
  };
  let limit = 1;
  while (!extend(0, 0, limit)) limit++;
  return limit;
}

function without(set: ReadonlySet<number>, members: readonly number[]): Set<number> {
  const rest = new Set(set);
  for (const member of members) rest.delete(member);
  return rest;
}
