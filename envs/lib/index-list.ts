/** Answers that choose some of a numbered lot, such as [0, 3, 1]: each number at most once, in any order. */
import type { Parsed } from "../environment.ts";
import { formatIntList, parseIntList } from "./int-list.ts";

export type IndexList = readonly number[];

/** Reads a list as it stands: whether its numbers are in range and different is for `indexProblem`. */
export function parseIndexList(text: string): Parsed<IndexList> {
  return parseIntList(text);
}

/** "[0, 3, 1]" */
export function formatIndexList(list: IndexList): string {
  return formatIntList(list);
}

/**
 * What is wrong with the first number that is out of range or comes a second time; undefined: nothing. The numbers
 * range from 0 to count − 1; one thing is called `one`, several are called `many`: "vertex", "vertices".
 */
export function indexProblem(list: IndexList, count: number, one: string, many: string): string | undefined {
  const seen = new Uint8Array(count);
  for (const index of list) {
    if (!(index >= 0 && index < count)) return `${one} ${index} does not exist: ${many} are 0 to ${count - 1}`;
    if (seen[index] === 1) return `${one} ${index} is listed twice`;
    seen[index] = 1;
  }
  return undefined;
}
