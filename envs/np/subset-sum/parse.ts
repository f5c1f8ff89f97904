/** Answers, read and written: the indices of the numbers chosen, in any order. */
export { formatIndexList as format, parseIndexList as parse } from "../../lib/index-list.ts";
export type { IndexList as Subset } from "../../lib/index-list.ts";
