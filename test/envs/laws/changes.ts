/** Answers near a given one, whatever its type: its lists and numbers are changed one at a time. */
import type { Rng } from "../../../envs/lib/rng.ts";

export interface Change {
  /** In words. */
  readonly how: string;
  readonly answer: unknown;
  /** Whether no task takes such an answer, unless its shape says otherwise. */
  readonly isWrong: boolean;
}

/** Places of an answer that are changed: the first and the last of many. */
const PLACES_MAX = 6;

type Path = readonly (string | number)[];
interface Place<Value> {
  readonly path: Path;
  readonly value: Value;
}

/** Every answer with one thing changed; `outside` is a number past the last one there is. */
export function* changesOf(answer: unknown, outside: number): Generator<Change> {
  const numbers = placesOf(answer, (value) => typeof value === "number");
  for (const { path, value } of ends(numbers)) {
    for (const number of [-1, outside, 999_999_999, value + 0.5]) {
      yield { how: `${value} to ${number}`, answer: replaced(answer, path, number), isWrong: true };
    }
    for (const { value: other } of ends(numbers)) {
      yield { how: `${value} to ${other}`, answer: replaced(answer, path, other), isWrong: false };
    }
  }
  for (const { path, value: list } of placesOf(answer, isFlatList)) {
    const change = (how: string, items: readonly unknown[], isWrong: boolean): Change => ({
      ...{ how, answer: replaced(answer, path, items), isWrong },
    });
    yield change("emptied", [], false);
    if (list.every((item) => typeof item === "number")) yield change("one more", [...list, outside], true);
    for (const i of ends([...list.keys()])) {
      yield change(`entry ${i} again`, [...list, list[i]], true);
      yield change(`entry ${i} twice in a row`, list.toSpliced(i, 0, list[i]), true);
      yield change(`entry ${i} left out`, list.toSpliced(i, 1), false);
    }
  }
}

/** A list of lists is a pair or the like, of a fixed length. */
function isFlatList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && !value.some(Array.isArray);
}

/** The numbers of an answer, in order. */
export function numbersIn(answer: unknown): readonly number[] {
  return placesOf(answer, (value) => typeof value === "number").map(({ value }) => value);
}

/** The answer with its numbers dealt out anew. */
export function reordered(answer: unknown, rng: Rng): unknown {
  const places = placesOf(answer, (value) => typeof value === "number");
  const numbers = rng.shuffle(places.map(({ value }) => value));
  return places.reduce((changed, { path }, i) => replaced(changed, path, numbers[i]), answer);
}

function placesOf<Value>(
  value: unknown,
  isWanted: (value: unknown) => value is Value,
  path: Path = [],
): readonly Place<Value>[] {
  const own = isWanted(value) ? [{ path, value }] : [];
  if (typeof value !== "object" || value === null) return own;
  const parts = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [...own, ...parts.flatMap(([key, part]) => placesOf(part, isWanted, [...path, key]))];
}

function ends<Item>(items: readonly Item[]): readonly Item[] {
  if (items.length <= PLACES_MAX) return items;
  return [...items.slice(0, PLACES_MAX / 2), ...items.slice(-PLACES_MAX / 2)];
}

function replaced(value: unknown, [key, ...rest]: Path, part: unknown): unknown {
  if (key === undefined) return part;
  if (Array.isArray(value)) return value.map((item: unknown, i) => (i === key ? replaced(item, rest, part) : item));
  const fields = value as Readonly<Record<string, unknown>>;
  return { ...fields, [key]: replaced(fields[key], rest, part) };
}
