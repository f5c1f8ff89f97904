/** Searches for the longest cycle by branch and bound over its vertices and edges. */
import { onesOf } from "../../../lib/bit-matrix.ts";
import {
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

/**
 * Explores all ways to complete a partial cycle. `changed` lists the vertices with decided edges whose consequences for
 * other edges are not yet worked out.
 */
export function explore(search: Search, state: State, changed: number[]): void {
  if (search.nodes >= search.nodesMax) {
    search.open = true;
    return;
  }
  search.nodes++;
  if (settle(state, search.incumbent, changed)) branch(search, state);
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
