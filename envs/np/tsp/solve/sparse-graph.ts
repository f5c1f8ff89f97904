/** Holds the edges that a tour may still use. Each edge is free, required or forbidden, and decisions can be undone. */
export interface SparseGraph {
  readonly n: number;
  readonly m: number;
  readonly tail: Int32Array;
  readonly head: Int32Array;
  readonly cost: Int32Array;
  /** Edges at each vertex v, stored as incident[first[v]] to incident[first[v + 1] - 1]. */
  readonly first: Int32Array;
  readonly incident: Int32Array;
  readonly status: Uint8Array;
  /** Number of required edges at each vertex. */
  readonly requiredAt: Int32Array;
  /** Number of edges at each vertex that are not forbidden. */
  readonly allowedAt: Int32Array;
  /** Other end of each path of required edges, valid at the path's two ends. */
  readonly otherEnd: Int32Array;
  /** Decided edges, in the order of the decisions. */
  readonly trail: Int32Array;
  /** For each decided edge, the two ends of the path that a required edge made, or −1 for a forbidden edge. */
  readonly trailEnds: Int32Array;
  trailLength: number;
  /** Number of trail entries whose consequences are already decided. */
  followed: number;
  requiredCount: number;
}

export const free = 0;
export const required = 1;
export const forbidden = 2;

/** Builds a graph from pairs of vertices, listed as tail, head, tail, head, …. Costs come from the n × n matrix. */
export function sparseGraph(n: number, pairs: readonly number[], matrix: Int32Array): SparseGraph {
  const m = pairs.length / 2;
  const tail = new Int32Array(m);
  const head = new Int32Array(m);
  const cost = new Int32Array(m);
  const allowedAt = new Int32Array(n);
  for (let e = 0; e < m; e++) {
    const u = (tail[e] = pairs[2 * e]!);
    const v = (head[e] = pairs[2 * e + 1]!);
    cost[e] = matrix[u * n + v]!;
    allowedAt[u] = allowedAt[u]! + 1;
    allowedAt[v] = allowedAt[v]! + 1;
  }
  const first = new Int32Array(n + 1);
  for (let v = 0; v < n; v++) first[v + 1] = first[v]! + allowedAt[v]!;
  const incident = new Int32Array(2 * m);
  const filled = first.slice();
  for (let e = 0; e < m; e++) {
    for (const v of [tail[e]!, head[e]!]) {
      incident[filled[v]!] = e;
      filled[v] = filled[v]! + 1;
    }
  }
  return {
    n,
    m,
    tail,
    head,
    cost,
    first,
    incident,
    allowedAt,
    status: new Uint8Array(m),
    requiredAt: new Int32Array(n),
    otherEnd: Int32Array.from({ length: n }, (_, v) => v),
    trail: new Int32Array(m),
    trailEnds: new Int32Array(2 * m),
    trailLength: 0,
    followed: 0,
    requiredCount: 0,
  };
}

/**
 * Marks an edge as part of every tour searched for. Returns false if no tour can use it together with the earlier
 * decisions.
 */
export function require(graph: SparseGraph, edge: number): boolean {
  const { status, tail, head, requiredAt, otherEnd } = graph;
  if (status[edge] !== free) return status[edge] === required;
  const u = tail[edge]!;
  const v = head[edge]!;
  if (requiredAt[u] === 2 || requiredAt[v] === 2) return false;
  const a = otherEnd[u]!;
  const b = otherEnd[v]!;
  if (a === v && graph.requiredCount !== graph.n - 1) return false;
  status[edge] = required;
  requiredAt[u] = requiredAt[u]! + 1;
  requiredAt[v] = requiredAt[v]! + 1;
  graph.requiredCount++;
  otherEnd[a] = b;
  otherEnd[b] = a;
  push(graph, edge, a, b);
  return true;
}

/**
 * Marks an edge as part of no tour searched for. Returns false if every tour must use it after the earlier decisions.
 */
export function forbid(graph: SparseGraph, edge: number): boolean {
  const { status, tail, head, allowedAt } = graph;
  if (status[edge] !== free) return status[edge] === forbidden;
  const u = tail[edge]!;
  const v = head[edge]!;
  if (allowedAt[u] === 2 || allowedAt[v] === 2) return false;
  status[edge] = forbidden;
  allowedAt[u] = allowedAt[u]! - 1;
  allowedAt[v] = allowedAt[v]! - 1;
  push(graph, edge, -1, -1);
  return true;
}

function push(graph: SparseGraph, edge: number, a: number, b: number): void {
  graph.trail[graph.trailLength] = edge;
  graph.trailEnds[2 * graph.trailLength] = a;
  graph.trailEnds[2 * graph.trailLength + 1] = b;
  graph.trailLength++;
}

/** Undoes every decision after the first `length` decisions. */
export function undoTo(graph: SparseGraph, length: number): void {
  const { status, tail, head, requiredAt, allowedAt, otherEnd, trail, trailEnds } = graph;
  while (graph.trailLength > length) {
    const at = --graph.trailLength;
    const edge = trail[at]!;
    const u = tail[edge]!;
    const v = head[edge]!;
    if (status[edge] === required) {
      requiredAt[u] = requiredAt[u]! - 1;
      requiredAt[v] = requiredAt[v]! - 1;
      graph.requiredCount--;
      otherEnd[trailEnds[2 * at]!] = u;
      otherEnd[trailEnds[2 * at + 1]!] = v;
    } else {
      allowedAt[u] = allowedAt[u]! + 1;
      allowedAt[v] = allowedAt[v]! + 1;
    }
    status[edge] = free;
  }
  graph.followed = length;
}
