/** Verifies a tour. Returns facts such as its length; rewards are computed elsewhere. */
import { type Facts, infeasible } from "../../facts.ts";
import type { CycleList } from "../../lib/parse-lists.ts";
import { tourLength, type TspInstance } from "./generate.ts";

/** Answer: cities in the order of the visit, without the return to the first. */
export type Tour = CycleList;

/**
 * Verifies a tour. It is feasible if every city is visited exactly once. Otherwise the facts name the first wrong city
 * along the tour, or a missing one.
 */
export function verify(instance: TspInstance, tour: Tour): Facts {
  const { cities } = instance;
  const visited = new Uint8Array(cities);
  for (const city of tour) {
    if (!(city >= 0 && city < cities)) {
      return infeasible(`city ${city} does not exist: cities are 0 to ${cities - 1}`);
    }
    if (visited[city] === 1) return infeasible(`city ${city} is visited twice`);
    visited[city] = 1;
  }
  const missed = visited.indexOf(0);
  if (missed >= 0) return infeasible(`city ${missed} is never visited`);
  return { kind: "feasible", objective: tourLength(instance, tour) };
}
