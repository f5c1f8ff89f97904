/** Answers, read and written. */
export { formatIntList as format, parseIntList as parse } from "../../lib/int-list.ts";

/** A label for each vertex, in the order of their numbers. Labels are names: which they are does not matter. */
export type Coloring = readonly number[];
