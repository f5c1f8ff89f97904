/** Answers that go round in a circle, such as [0, 1, 3, 2, 0]. */
import type { Parsed } from "../environment.ts";
import { formatIntList, parseIntList } from "./int-list.ts";

/** The stops in the order they are visited, without the return to the first. */
export type CycleList = readonly number[];

/** Reads a list of stops. The return to the first may be written or left out. */
export function parseCycleList(text: string): Parsed<CycleList> {
  const parsed = parseIntList(text);
  if (parsed.kind === "malformed") return parsed;
  const list = parsed.answer;
  const closed = list.length > 1 && list[0] === list.at(-1);
  return closed ? { kind: "answer", answer: list.slice(0, -1) } : parsed;
}

/** "[0, 1, 3, 2, 0]" */
export function formatCycleList(list: CycleList): string {
  return formatIntList([...list, ...list.slice(0, 1)]);
}
