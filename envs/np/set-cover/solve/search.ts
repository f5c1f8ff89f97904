import { subsetsAtLeast } from "./bound.ts";
import { reduce } from "./reduce.ts";
import { choose, countWithin, descend, drop, isCovered, isIn, record } from "./state.ts";
import type { Search } from "./state.ts";

/** Explores the node whose first `count` subsets are chosen; no cover that contains them is smaller than `bound`. */
export function explore(s: Search, depth: number, count: number, bound: number): void {
  if (s.nodes >= s.nodesMax) {
    s.openBound = Math.min(s.openBound, bound);
    return;
  }
  s.nodes++;
  if (count + subsetsAtLeast(s, depth) >= s.size) return;
  const chosen = reduce(s, depth, count);
  if (chosen < 0 || chosen >= s.size) return;
  if (isCovered(s, depth)) {
    record(s, chosen);
    return;
  }
  const raised = Math.max(bound, chosen + subsetsAtLeast(s, depth));
  for (const subset of options(s, depth, rarest(s, depth))) {
    if (raised >= s.size) return;
    s.chosen[chosen] = subset;
    descend(s, depth);
    choose(s, depth + 1, subset);
    explore(s, depth + 1, chosen + 1, raised);
    // All covers with this subset are seen.
    drop(s.usable, s.subsetWords, depth, subset);
  }
}

/** The uncovered element that the fewest usable subsets hold. */
function rarest(s: Search, depth: number): number {
  let found = -1;
  let fewest = Infinity;
  for (let e = 0; e < s.elements; e++) {
    if (!isIn(s.uncovered, s.elementWords, depth, e)) continue;
    const count = countWithin(s.heldBy, s.subsetWords, e, s.usable, depth);
    if (count >= fewest) continue;
    found = e;
    fewest = count;
  }
  return found;
}

/** The usable subsets that hold an element, those that cover most first. */
function options(s: Search, depth: number, element: number): readonly number[] {
  const list: number[] = [];
  for (let subset = 0; subset < s.subsets; subset++) {
    if (isIn(s.usable, s.subsetWords, depth, subset) && isIn(s.holds, s.elementWords, subset, element)) {
      list.push(subset);
    }
  }
  return list.sort((a, b) => s.gain[b]! - s.gain[a]! || a - b);
}
