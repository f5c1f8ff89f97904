/** Branch and bound over the vertices and edges of the cycle. */
import { onesOf } from "../../../lib/bit-matrix.ts";
import { blocksOf } from "./blocks.ts";
import { searchSeparators, setOf } from "./separators.ts";
import { copyOf, drop, exclude, IN, include, isUsed, OPEN, OUT, settle, use } from "./state.ts";
import type { Incumbent, State } from "./state.ts";

export interface Search {
  readonly incumbent: Incumbent;
  /** Nodes are left open from this count on. */
  readonly nodesMax: number;
  nodes: number;
  /** Whether nodes were left open. */
  open: boolean;
}

/** Explores what a state leaves undecided, once the changes to these vertices have had their consequences. */
export function explore(search: Search, state: State, changed: number[]): void {
  if (search.nodes >= search.nodesMax) {
    search.open = true;
    return;
  }
  search.nodes++;
  const { incumbent } = search;
  if (!settle(state, incumbent, changed) || !keepBlocks(state, incumbent) || isSeparated(state, incumbent)) return;
  branch(search, state);
}

/** Excludes the vertices that lie in no block with all that is decided. False: there is no such block. */
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

function isSeparated({ role, edges }: State, { cycle }: Incumbent): boolean {
  const present = setOf(
    role.keys().filter((v) => role[v] !== OUT),
    edges.words,
  );
  return searchSeparators(edges, present, cycle.length).bound <= cycle.length;
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

/** Of the vertices that are in, one with the fewest edges left, at a path's end if possible; if none is in, a busy one. */
function mostBound({ role, used, degree }: State): number {
  let [chosen, least] = [-1, Infinity];
  for (const [v, each] of role.entries()) {
    if (each === OUT || used[v] === 2) continue;
    const cost = each === IN ? 2 * degree[v]! - used[v]! : 1e6 - degree[v]!;
    if (cost < least) [chosen, least] = [v, cost];
  }
  return chosen;
}
