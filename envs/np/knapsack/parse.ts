/** Answers, read and written: the items chosen, in any order. */
export { formatIndexList as format, parseIndexList as parse } from "../../lib/index-list.ts";
export type { IndexList as Choice } from "../../lib/index-list.ts";
