/** Changes to lists of numbers, which never change the list that they are given. */
import type { Rng } from "../../../../envs/lib/rng.ts";

export type List = readonly number[];

/** A position in the list; 0 if it is empty. */
export function anyPosition(list: List, rng: Rng): number {
  return rng.int(0, Math.max(0, list.length - 1));
}

export function without(list: List, position: number): List {
  return list.filter((_, i) => i !== position);
}

export function inserted(list: List, position: number, value: number): List {
  return [...list.slice(0, position), value, ...list.slice(position)];
}

/** Returns the list with another value at one position; an equal list if there is no such position. */
export function replaced(list: List, position: number, value: number): List {
  return list.map((old, i) => (i === position ? value : old));
}

export function swapped(list: List, rng: Rng): List {
  if (list.length === 0) return list;
  const [i, j] = [anyPosition(list, rng), anyPosition(list, rng)];
  return replaced(replaced(list, i, list[j] as number), j, list[i] as number);
}

/** Returns the list with one value repeated, in place of another or in addition; an empty list stays empty. */
export function repeated(list: List, rng: Rng): List {
  if (list.length === 0) return list;
  const value = rng.pick(list);
  return rng.int(0, 1) === 0 ? replaced(list, anyPosition(list, rng), value) : [...list, value];
}

/** Returns the numbers from 0 to count − 1 that the list lacks, ascending. */
export function missing(list: List, count: number): List {
  const held = new Set(list);
  return [...Array(count).keys()].filter((value) => !held.has(value));
}
