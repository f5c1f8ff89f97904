/** The exact solver, in the environment's words. */
import type { Solver } from "../../environment.ts";
import type { MeetingsInstance } from "./instance.ts";
import type { Schedule } from "./parse.ts";
import { solveMeetings } from "./solve/index.ts";

export const solver: Solver<MeetingsInstance, Schedule> = {
  solve(instance, nodesMax) {
    const { placements, ...rest } = solveMeetings(instance, nodesMax);
    return { answer: placements, ...rest };
  },
  /** No meeting at all. */
  trivial: () => 0,
};
