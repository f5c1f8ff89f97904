/** What holds of a tour: facts only. */
import { type Facts, infeasible } from "../../facts.ts";
import type { CycleList } from "../../lib/lists.ts";
import { tourLength, type TspInstance } from "./generate.ts";

/** The cities in the order they are visited, without the return to the first. */
export type Tour = CycleList;

/** Feasible if every city is visited exactly once. Else the first city along the tour that is wrong, or one left out. */
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
