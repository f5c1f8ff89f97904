/** Answers, read and written: the set's vertices in any order. */
export { formatIndexList as format, parseIndexList as parse } from "../../lib/index-list.ts";
export type { IndexList as IndependentSet } from "../../lib/index-list.ts";
