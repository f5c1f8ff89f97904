/** The exact solver, in the environment's words. */
import type { Solution } from "../../../environment.ts";
import type { MeetingsInstance, Placement } from "../generate.ts";
import type { Schedule } from "../verify.ts";
import { gridOf } from "./grid.ts";
import { improve } from "./improve.ts";
import { modelOf } from "./model.ts";
import { priced } from "./relax.ts";
import { extend, newSearch, type Search } from "./search.ts";

export interface MeetingsSolution {
  /** In order of starts. */
  readonly placements: readonly Placement[];
  /** How many attend, those who attend several meetings counted for each. */
  readonly value: number;
  /** No schedule has more; equal to value when proven. */
  readonly bound: number;
  readonly proven: boolean;
  /** Meetings placed in the search. */
  readonly nodes: number;
}

/** Benchmark level took 2,048 at most, and needs no more than the first search. */
const NODES_FIRST = 10_000;
const NODES_MAX = 200_000;
/** Of few meetings, as level reference has them: people without breaks took up to a million, in a few seconds. */
const NODES_MAX_OF_FEW = 3_000_000;
const FEW = 10;
/** Looks at attendees and rooms by which better schedules are sought: about a quarter of a second of CPU time. */
const WORK_MAX = 20_000_000;

/**
 * The schedule that most attend, by search. Where the nodes of a first search run out, orders by chance look for a better
 * schedule, prices for a better bound, and a second search goes on with both.
 */
function solveMeetings(
  instance: MeetingsInstance,
  nodesMax = instance.meetings.length <= FEW ? NODES_MAX_OF_FEW : NODES_MAX,
): MeetingsSolution {
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
 * First only as many rooms are kept as there are, whichever they be, which nearly always is enough to find rooms for the
 * best schedule. Else a second search chooses the rooms with the times.
 */
function searched(search: Search): Search {
  extend(search, 0);
  if (search.isSpent || search.roomless <= search.best) return search;
  const second = { ...search, choosesRooms: true, bound: search.roomless };
  extend(second, 0);
  return second;
}

function solutionOf(search: Search): MeetingsSolution {
  const { best, bestPlacements, nodes } = search;
  const bound = search.isSpent ? Math.max(best, search.bound) : best;
  return { placements: bestPlacements, value: best, bound, proven: bound === best, nodes };
}

export function solve(instance: MeetingsInstance, nodesMax?: number): Solution<Schedule> {
  const { placements, ...rest } = solveMeetings(instance, nodesMax);
  return { answer: placements, ...rest };
}

/** The objective of no meeting at all. */
export function trivial(): number {
  return 0;
}
