/** Solves meeting scheduling exactly, or with a bound if the nodes run out. */
import type { Solution } from "../../../environment.ts";
import type { MeetingsInstance } from "../generate.ts";
import type { Schedule } from "../verify.ts";
import { modelOf } from "./model.ts";
import { extend, newSearch, type Search } from "./search.ts";

/**
 * Maximum number of nodes, a few seconds of CPU time. Level "benchmark" needs at most 2,048, and level "reference",
 * whose people all have the same break, up to 1.3 million.
 */
const NODES_MAX = 3_000_000;

/** Finds the schedule of the greatest attendance. Results are the same on every machine. */
export function solve(instance: MeetingsInstance, nodesMax = NODES_MAX): Solution<Schedule> {
  return solutionOf(searched(newSearch(modelOf(instance), nodesMax)));
}

/**
 * Searches first without choosing rooms, and only ensures that enough rooms exist at each time. Rooms for the best
 * schedule can nearly always be found afterwards. Otherwise a second search chooses the rooms together with the times.
 */
function searched(search: Search): Search {
  extend(search, 0);
  if (search.isSpent || search.roomless <= search.best) return search;
  const second = { ...search, choosesRooms: true, bound: search.roomless };
  extend(second, 0);
  return second;
}

function solutionOf(search: Search): Solution<Schedule> {
  const { best, bestPlacements, nodes } = search;
  const bound = search.isSpent ? Math.max(best, search.bound) : best;
  return { answer: bestPlacements, value: best, bound, proven: bound === best, nodes };
}

/** Returns the objective of the trivial answer, in which no meeting is held. */
export function trivial(): number {
  return 0;
}
