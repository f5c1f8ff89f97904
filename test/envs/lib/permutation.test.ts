import { expect, test } from "vitest";
import { permuted } from "../../../envs/lib/rng.ts";

function permutation(size: number, key: string): readonly number[] {
  return Array.from({ length: size }, (_, position) => permuted(size, position, key));
}

test("it is a permutation, whatever the size", () => {
  for (const size of [1, 2, 3, 4, 5, 15, 16, 17, 100, 255, 256, 257, 1000]) {
    expect(new Set(permutation(size, "a")), `size ${size}`).toEqual(new Set(Array.from({ length: size }, (_, i) => i)));
  }
});

test("the same key gives the same one, another key another", () => {
  expect(permutation(100, "a")).toEqual(permutation(100, "a"));
  expect(permutation(100, "a")).not.toEqual(permutation(100, "b"));
});

test.each([2, 3, 5, 17])("over many keys, each of %d values comes about equally often at each position", (size) => {
  const keys = 2000;
  const counts = new Uint32Array(size * size);
  for (let key = 0; key < keys; key++) {
    for (let position = 0; position < size; position++) {
      const at = position * size + permuted(size, position, key);
      counts[at] = (counts[at] as number) + 1;
    }
  }
  const expected = keys / size;
  // Six standard deviations.
  const slack = 6 * Math.sqrt(expected);
  expect(Math.min(...counts)).toBeGreaterThan(expected - slack);
  expect(Math.max(...counts)).toBeLessThan(expected + slack);
});
