/** Solves meeting scheduling exactly, or with a bound if the nodes run out. */
import type { Solution } from "../../../environment.ts";
import type { MeetingsInstance } from "../generate.ts";
import type { Schedule } from "../verify.ts";
import { gridOf } from "./grid.ts";
import { improve } from "./improve.ts";
import { modelOf } from "./model.ts";
import { priced } from "./relax.ts";
import { extend, newSearch, type Search } from "./search.ts";

/** Maximum number of nodes of the first search. It suffices for the benchmark level, which needs at most 2,048. */
const NODES_FIRST = 10_000;
const NODES_MAX = 200_000;
/**
 * Maximum number of nodes for at most FEW meetings, as at level "reference". People without breaks need up to a
 * million, in a few seconds.
 */
const NODES_MAX_OF_FEW = 3_000_000;
const FEW = 10;
/** Maximum number of checks in the local search for better schedules, about a quarter of a second of CPU time. */
const WORK_MAX = 20_000_000;

/**
 * Finds the schedule of the greatest attendance. If the nodes of a first search run out, local search improves the
 * schedule and a Lagrangian relaxation improves the bound. A second search then uses both.
 */
export function solve(
  instance: MeetingsInstance,
  nodesMax = instance.meetings.length <= FEW ? NODES_MAX_OF_FEW : NODES_MAX,
): Solution<Schedule> {
  const model = modelOf(instance);
  const first = searched(newSearch(model, Math.min(nodesMax, NODES_FIRST)));
  const grid = gridOf(model);
  if (!first.isSpent || nodesMax <= NODES_FIRST || grid === undefined) return solutionOf(first);
  const { best, bestPlacements, nodes } = first;
  const found = improve(model, grid, best, WORK_MAX) ?? { value: best, placements: bestPlacements };
  const pricing = priced(model, grid, found.value);
  const known = { best: found.value, bestPlacements: found.placements, bound: Math.min(first.bound, pricing.bound) };
  return solutionOf(searched({ ...newSearch(model, nodesMax), ...known, pricing, nodes }));
}

/**
 * Searches without choosing rooms: it only ensures that enough rooms exist at each time. Rooms for the best schedule
 * can nearly always be found then. Otherwise a second search chooses the rooms together with the times.
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

/** Returns the objective of holding no meeting. */
export function trivial(): number {
  return 0;
}
