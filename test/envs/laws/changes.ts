/** Makes answers near a given one, of any type, by one change to its numbers, lists or texts. */
import type { Rng } from "../../../envs/lib/rng.ts";

export interface Change {
  /** Description of the change, in words. */
  readonly how: string;
  readonly answer: unknown;
  /** Whether no task takes such an answer, unless its shape says otherwise. */
  readonly isWrong: boolean;
}

/** Places of an answer that are changed: the first and the last of many. */
const PLACES_MAX = 6;

const LETTER = /\p{L}/u;
const DIGIT = /\p{N}/u;
/** Letters and a digit that an answer may lack. */
const OUTSIDE = ["q", "z", "7"];

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
      how,
      answer: replaced(answer, path, items),
      isWrong,
    });
    yield change("emptied", [], false);
    if (list.every((item) => typeof item === "number")) yield change("one more", [...list, outside], true);
    for (const i of ends([...list.keys()])) {
      yield change(`entry ${i} again`, [...list, list[i]], true);
      yield change(`entry ${i} twice in a row`, list.toSpliced(i, 0, list[i]), true);
      yield change(`entry ${i} left out`, list.toSpliced(i, 1), false);
    }
  }
  yield* textChanges(answer);
}

/** Changes letters and digits in texts. The field `kind` is not a text but names a part of the answer. */
function* textChanges(answer: unknown): Generator<Change> {
  const texts = placesOf(answer, (value) => typeof value === "string").filter(({ path }) => path.at(-1) !== "kind");
  const known = new Set(texts.flatMap(({ value }) => value.match(/[\p{L}\p{N}]/gu) ?? []));
  for (const { path, value } of ends(texts)) {
    const signs = Array.from(value);
    const change = (how: string, changed: readonly string[], isWrong: boolean): Change => ({
      how: `${value}: ${how}`,
      answer: replaced(answer, path, changed.join("")),
      isWrong,
    });
    for (const i of ends([...signs.keys()].filter((at) => /[\p{L}\p{N}]/u.test(signs[at] ?? "")))) {
      const sign = signs[i] ?? "";
      const kind = LETTER.test(sign) ? LETTER : DIGIT;
      const others = [...known, ...OUTSIDE].filter((other) => kind.test(other) && other !== sign);
      for (const other of ends(others)) yield change(`${sign} to ${other}`, signs.with(i, other), true);
      for (const times of [1, 2])
        yield change(`${sign} ${times} times more`, signs.toSpliced(i, 0, ...sign.repeat(times)), kind === LETTER);
      yield change(`${sign} left out`, signs.toSpliced(i, 1), false);
    }
  }
}

/** A list of lists is a pair or the like, of a fixed length. */
function isFlatList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && !value.some(Array.isArray);
}

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
