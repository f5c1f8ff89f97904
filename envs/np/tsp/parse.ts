/** Answers, read and written. */
import type { Parsed } from "../../environment.ts";
import { parseIntList } from "../../lib/int-list.ts";

/** The cities in the order they are visited, without the return to the first. */
export type Tour = readonly number[];

/** Reads a list of cities. The return to the first city may be written or left out. */
export function parse(text: string): Parsed<Tour> {
  const parsed = parseIntList(text);
  if (parsed.kind === "malformed") return parsed;
  const list = parsed.answer;
  const closed = list.length > 1 && list[0] === list.at(-1);
  return closed ? { kind: "answer", answer: list.slice(0, -1) } : parsed;
}

/** "[0, 1, 3, 2, 0]" */
export function format(tour: Tour): string {
  return `[${[...tour, ...tour.slice(0, 1)].join(", ")}]`;
}
