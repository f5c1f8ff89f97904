/** Answers, read and written: the chosen subsets' numbers in any order. */
export { formatIndexList as format, parseIndexList as parse } from "../../lib/index-list.ts";
export type { IndexList as Cover } from "../../lib/index-list.ts";
