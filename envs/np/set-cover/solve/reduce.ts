import { choose, computeGains, countWithin, drop, isIn, isWithin } from "./state.ts";
import type { Search } from "./state.ts";

/**
 * Simplifies a node until nothing changes. Subsets that an element leaves no other choice than to take are chosen: they
 * go to `chosen` from `count` on. Returns the new count, or −1 if an element can no longer be covered.
 */
export function reduce(s: Search, depth: number, count: number): number {
  let chosen = count;
  for (let changed = true; changed;) {
    const subsetsDropped = dropSubsets(s, depth);
    const elementsDropped = dropElements(s, depth);
    const forced = chooseForced(s, depth, chosen);
    if (forced < 0) return forced;
    changed = subsetsDropped || elementsDropped || forced > chosen;
    chosen = forced;
  }
  return chosen;
}

/** Drops subsets whose uncovered elements another covers as well; of equal ones the last stays. */
function dropSubsets(s: Search, depth: number): boolean {
  const { subsets, holds, elementWords, uncovered, usable, subsetWords, gain } = s;
  computeGains(s, depth);
  let dropped = false;
  for (let a = 0; a < subsets; a++) {
    if (!isIn(usable, subsetWords, depth, a)) continue;
    let needed = gain[a]! > 0;
    for (let b = 0; b < subsets && needed; b++) {
      if (b === a || gain[b]! < gain[a]!) continue;
      needed = !isWithin(holds, elementWords, a, b, uncovered, depth);
    }
    if (needed) continue;
    drop(usable, subsetWords, depth, a);
    gain[a] = 0;
    dropped = true;
  }
  return dropped;
}

/** Drops elements that are covered along with another, whatever covers that; of equal ones the last stays. */
function dropElements(s: Search, depth: number): boolean {
  const { elements, elementWords, uncovered, heldBy, subsetWords, usable } = s;
  let dropped = false;
  for (let e = 0; e < elements; e++) {
    if (!isIn(uncovered, elementWords, depth, e)) continue;
    for (let f = 0; f < elements; f++) {
      if (f === e || !isIn(uncovered, elementWords, depth, f)) continue;
      if (!isWithin(heldBy, subsetWords, f, e, usable, depth)) continue;
      drop(uncovered, elementWords, depth, e);
      dropped = true;
      break;
    }
  }
  return dropped;
}

/** Chooses the subsets of elements that only one can cover; −1 if an element has none. */
function chooseForced(s: Search, depth: number, count: number): number {
  let chosen = count;
  for (let e = 0; e < s.elements; e++) {
    if (!isIn(s.uncovered, s.elementWords, depth, e)) continue;
    const options = countWithin(s.heldBy, s.subsetWords, e, s.usable, depth);
    if (options === 0) return -1;
    if (options > 1) continue;
    let only = 0;
    while (!isIn(s.usable, s.subsetWords, depth, only) || !isIn(s.heldBy, s.subsetWords, e, only)) only++;
    s.chosen[chosen++] = only;
    choose(s, depth, only);
  }
  return chosen;
}
