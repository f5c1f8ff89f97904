/** The words beside a drawing, and lists of numbered things as an answer makes them. */
import type { LegendEntry } from "../../envs/picture.ts";

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The entries of what occurs. */
export function legendOf(
  ...entries: readonly (readonly [occurs: boolean, mark: LegendEntry["mark"], className: string, text: string])[]
): readonly LegendEntry[] {
  return entries.filter(([occurs]) => occurs).map(([, mark, className, text]) => ({ mark, className, text }));
}

/** The notes of what there is to say. */
export function notesOf(...notes: readonly (string | undefined)[]): readonly string[] {
  return notes.filter((note) => note !== undefined);
}

// Lists that an answer makes of numbered things, as they are for drawing: with repeats and numbers of nothing.

export interface Tally {
  /** By number: how often it is listed. */
  readonly times: Uint16Array;
  /** What is listed and does not exist, in order. */
  readonly outside: readonly number[];
  /** What exists and is listed, in the order of first listing. */
  readonly distinct: readonly number[];
}

export function tally(list: readonly number[], count: number): Tally {
  const times = new Uint16Array(count);
  const outside: number[] = [];
  const distinct: number[] = [];
  for (const each of list) {
    if (!isWithin(each, count)) {
      outside.push(each);
      continue;
    }
    if (times[each] === 0) distinct.push(each);
    times[each] = (times[each] as number) + 1;
  }
  return { times, outside, distinct };
}

export function isWithin(number: number, count: number): boolean {
  return number >= 0 && number < count;
}

const SHOWN_MAX = 12;

/** "3, 5, 8 and 9 more" */
export function listed(items: readonly (number | string)[]): string {
  const rest = items.length - SHOWN_MAX;
  const shown = items.slice(0, SHOWN_MAX).join(", ");
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}

/** "Not in the graph: 7, 9"; undefined if there is nothing to say. */
export function noteOf(words: string, items: readonly (number | string)[]): string | undefined {
  return items.length === 0 ? undefined : `${words}: ${listed(items)}`;
}

/** "×3" of what is listed that often; undefined of what is listed once or not. */
export function timesText(times: number): string | undefined {
  return times > 1 ? `×${times}` : undefined;
}
