/** Builds legends and notes, and counts the numbers listed in an answer. */
import type { LegendEntry } from "../../envs/picture.ts";

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Returns the legend entries whose marks occur in the picture. */
export function legendOf(
  ...entries: readonly (readonly [occurs: boolean, mark: LegendEntry["mark"], className: string, text: string])[]
): readonly LegendEntry[] {
  return entries.filter(([occurs]) => occurs).map(([, mark, className, text]) => ({ mark, className, text }));
}

/** Returns the notes that are not undefined. */
export function notesOf(...notes: readonly (string | undefined)[]): readonly string[] {
  return notes.filter((note) => note !== undefined);
}

// Functions that count the numbers in an answer's list, such as vertices. Repeated and invalid numbers are counted too.

export interface Tally {
  /** Number of times that each number is listed. */
  readonly times: Uint16Array;
  /** Listed numbers that are out of range, in the order of the list. */
  readonly outside: readonly number[];
  /** Listed numbers that are in range, in the order of first listing. */
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

/** Lists at most twelve items, and the number of further ones, such as "3, 5, 8 and 9 more". */
export function listed(items: readonly (number | string)[]): string {
  const rest = items.length - SHOWN_MAX;
  const shown = items.slice(0, SHOWN_MAX).join(", ");
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}

/** Returns a note such as "Not in the graph: 7, 9", or undefined if there are no items. */
export function noteOf(words: string, items: readonly (number | string)[]): string | undefined {
  return items.length === 0 ? undefined : `${words}: ${listed(items)}`;
}

/** Returns a text such as "×3" for an item listed more than once, or undefined. */
export function timesText(times: number): string | undefined {
  return times > 1 ? `×${times}` : undefined;
}
