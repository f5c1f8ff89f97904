/** Searches for the longest cycle by branch and bound over its vertices and edges. */
import { onesOf } from "../../../lib/bit-matrix.ts";
import { has, membersOf, partsOf, searchSeparators, type Separation, setOf, type VertexSet } from "./separators.ts";
import {
  blocksOf,
  copyOf,
  drop,
  exclude,
  IN,
  include,
  type Incumbent,
  isUsed,
  OPEN,
  OUT,
  settle,
  type State,
  use,
} from "./state.ts";

export interface Search {
  readonly incumbent: Incumbent;
  /** Maximum number of nodes. The search then leaves the remaining nodes unexplored, and sets `open`. */
  readonly nodesMax: number;
  nodes: number;
  /** True if nodes were left unexplored, so that the longest cycle found is not proven. */
  open: boolean;
}

/** Number of local searches for separators in each node. */
const CLIMBS = 6;

/**
 * Explores every way to decide the rest of a state. `changed` are the vertices whose changes still have consequences to
 * draw.
 */
export function explore(search: Search, state: State, changed: number[]): void {
  if (search.nodes >= search.nodesMax) {
    search.open = true;
    return;
  }
  search.nodes++;
  const { incumbent } = search;
  if (!settle(state, incumbent, changed) || !narrow(state, incumbent)) return;
  branch(search, state);
}

/**
 * Excludes every vertex that shares no sufficiently large block with all vertices already decided to be on the cycle.
 * Returns false if no such block is left.
 */
function keepBlocks(state: State, incumbent: Incumbent): boolean {
  const { role } = state;
  for (;;) {
    const inside = role.reduce((count, each) => count + Number(each === IN), 0);
    const viable = blocksOf(state.edges).filter(
      (block) =>
        block.length > incumbent.cycle.length &&
        block.reduce((count, v) => count + Number(role[v] === IN), 0) === inside,
    );
    const kept = new Set(viable.flat());
    const changed: number[] = [];
    for (const [v, each] of role.entries()) if (each !== OUT && !kept.has(v)) exclude(state, v, changed);
    if (changed.length === 0) return viable.length > 0 && state.left > incumbent.cycle.length;
    if (!settle(state, incumbent, changed)) return false;
  }
}

/**
 * Draws the conclusions that blocks and separators allow. Returns false if no cycle longer than the incumbent (the
 * longest found) is left.
 */
function narrow(state: State, incumbent: Incumbent): boolean {
  for (;;) {
    if (!keepBlocks(state, incumbent)) return false;
    const { role, edges } = state;
    const present = setOf(
      role.keys().filter((v) => role[v] !== OUT),
      edges.words,
    );
    const length = incumbent.cycle.length;
    const separation = searchSeparators(edges, present, length, CLIMBS);
    if (separation.bound <= length) return false;
    if (separation.bound > length + 1 || separation.surplus < 0) return true;
    const changed: number[] = [];
    meetBound(state, incumbent, separation, partsOf(edges, present, separation.separators), changed);
    if (changed.length === 0) return true;
    if (!settle(state, incumbent, changed)) return false;
  }
}

/**
 * Draws the conclusions if a cycle longer than the incumbent must meet the separators' bound exactly. Such a cycle
 * visits every separator and continues from each to a part. It visits as many parts as there are separators, namely the
 * largest. It visits each of them completely, on one path.
 */
function meetBound(
  state: State,
  incumbent: Incumbent,
  { separators }: Separation,
  parts: readonly VertexSet[],
  changed: number[],
): void {
  const { edges, role } = state;
  const cuts = membersOf(separators);
  for (const a of cuts) for (const b of onesOf(edges, a)) if (has(separators, b)) drop(state, a, b, changed);
  const largest = parts.map(membersOf).sort((a, b) => b.length - a.length);
  const least = largest[cuts.length - 1]!.length;
  const next = largest[cuts.length]?.length ?? 0;
  for (const v of cuts) if (role[v] === OPEN) include(state, v, changed);
  for (const part of largest) {
    if (part.length < least) for (const v of part) exclude(state, v, changed);
    else if (part.length > next) for (const v of part) if (role[v] === OPEN) include(state, v, changed);
  }
  for (const [a, b, third] of largest) {
    // In a part of two vertices, one path visits both, so that the cycle uses the edge between them.
    if (b === undefined || third !== undefined || role[a!] !== IN || isUsed(state, a!, b)) continue;
    if (role[b] === IN) use(state, incumbent, a!, b, changed);
  }
}

function branch(search: Search, state: State): void {
  const { incumbent } = search;
  const v = mostBound(state);
  const other = copyOf(state);
  const [changed, changedOther]: [number[], number[]] = [[], []];
  if (state.role[v] === OPEN) {
    include(state, v, changed);
    exclude(other, v, changedOther);
  } else {
    const u = onesOf(state.edges, v)
      .filter((each) => !isUsed(state, v, each))
      .reduce((a, b) => (state.degree[b]! < state.degree[a]! ? b : a));
    use(state, incumbent, v, u, changed);
    drop(other, v, u, changedOther);
  }
  explore(search, state, changed);
  explore(search, other, changedOther);
}

/**
 * Returns the vertex to branch on: the one with the fewest edges left. Prefers a vertex at the end of a path, or
 * already on the cycle.
 */
function mostBound({ role, used, degree }: State): number {
  let [chosen, least] = [-1, Infinity];
  for (const [v, each] of role.entries()) {
    if (each === OUT || used[v] === 2) continue;
    const cost = 4 * degree[v]! - 2 * used[v]! - Number(each === IN);
    if (cost < least) [chosen, least] = [v, cost];
  }
  return chosen;
}
