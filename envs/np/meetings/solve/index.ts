/** The exact solver, in the environment's words. */
import type { Solution } from "../../../environment.ts";
import type { MeetingsInstance, Placement } from "../generate.ts";
import type { Schedule } from "../verify.ts";
import { modelOf } from "./model.ts";
import { extend, newSearch } from "./search.ts";

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

/** Keeps 40 meetings to half a second of CPU time; benchmark level took fewer than 5,000 at most. */
const NODES_MAX = 100_000;

/**
 * The schedule that most attend. First only as many rooms are kept as there are, whichever they be, which nearly always
 * is enough to find rooms for the best schedule. Else a second search chooses the rooms with the times.
 */
function solveMeetings(instance: MeetingsInstance, nodesMax = NODES_MAX): MeetingsSolution {
  const model = modelOf(instance);
  const search = newSearch(model, nodesMax);
  extend(search, 0);
  if (search.isSpent || search.roomless <= search.best) return solutionOf(search, search.isSpent ? search.bound : 0);
  const second = { ...search, choosesRooms: true, bound: search.roomless };
  extend(second, 0);
  return solutionOf(second, second.isSpent ? second.bound : 0);
}

function solutionOf(
  { best, bestPlacements, nodes }: { best: number; bestPlacements: readonly Placement[]; nodes: number },
  openBound: number,
): MeetingsSolution {
  const bound = Math.max(best, openBound);
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
