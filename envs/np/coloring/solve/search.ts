import { give, mostSaturated, takeBack, UNCOLOURED } from "./state.ts";
import type { Coloring } from "./state.ts";

/** A search for a colouring with few colours. */
export interface Search {
  readonly coloring: Coloring;
  /** Colours 0 … limit − 1 may be used. */
  readonly limit: number;
  nodes: number;
  /** The search stops at this count. */
  readonly nodesMax: number;
}

export type Found = "found" | "none" | "out_of_nodes";

/** Colours the rest of the vertices, those with a colour using `used` of them. What is found stays in the colouring. */
export function complete(s: Search, used: number): Found {
  const { coloring } = s;
  const v = mostSaturated(coloring);
  if (v === UNCOLOURED) return "found";
  if (s.nodes >= s.nodesMax) return "out_of_nodes";
  s.nodes++;
  // Colours not used yet are alike: one of them stands for all.
  const colours = Math.min(used + 1, s.limit);
  for (let c = 0; c < colours; c++) {
    if (coloring.taken[v * coloring.vertices + c] !== 0) continue;
    give(coloring, v, c);
    const found = complete(s, Math.max(used, c + 1));
    if (found !== "none") return found;
    takeBack(coloring, v);
  }
  return "none";
}

/** Gives each vertex in turn the first colour that none of its neighbours has; returns how many are used then. */
export function completeGreedily(coloring: Coloring, used: number): number {
  let most = used;
  for (let v = mostSaturated(coloring); v !== UNCOLOURED; v = mostSaturated(coloring)) {
    let c = 0;
    while (coloring.taken[v * coloring.vertices + c] !== 0) c++;
    give(coloring, v, c);
    most = Math.max(most, c + 1);
  }
  return most;
}
