/** Answers, read and written: the clique's vertices in any order. */
export { formatIndexList as format, parseIndexList as parse } from "../../lib/index-list.ts";
export type { IndexList as Clique } from "../../lib/index-list.ts";
