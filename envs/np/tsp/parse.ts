/** Answers, read and written. */
import type { CycleList } from "../../lib/cycle-list.ts";

export { formatCycleList as format, parseCycleList as parse } from "../../lib/cycle-list.ts";

/** The cities in the order they are visited, without the return to the first. */
export type Tour = CycleList;
