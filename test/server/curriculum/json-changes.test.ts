/** Tests that applying the difference of two plain values to the first gives the second. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { differenceOf, withDifference } from "../../../server/curriculum/json-changes.ts";
import { FormatError, type Json } from "../../../server/curriculum/json.ts";

const plain = fc.jsonValue({ noUnicodeString: false }) as fc.Arbitrary<Json>;

function through(before: Json, now: Json): Json {
  return withDifference(before, JSON.parse(JSON.stringify(differenceOf(before, now))) as Json);
}

test("a difference leads from any data to any other", () => {
  fc.assert(
    fc.property(plain, plain, (before, now) => {
      const want = JSON.parse(JSON.stringify(now)) as Json;
      expect(through(before, want)).toEqual(want);
      expect(through(want, want)).toEqual(want);
    }),
  );
});

test("of a long list what changed is told, and a difference of another list is refused", () => {
  const before = Array.from({ length: 1000 }, (_, i) => [i, 0.5]);
  const now = before.with(3, [3, 0.25]).with(998, [998, 1]);
  const difference = differenceOf({ arms: before }, { arms: now });
  expect(JSON.stringify(difference).length).toBeLessThan(100);
  expect(through({ arms: before }, { arms: now })).toEqual({ arms: now });
  expect(() => withDifference({ arms: [] }, difference)).toThrow(FormatError);
});

test("of a short list of lists what changed is told, and a short list of numbers is told whole", () => {
  const before = [[1, 2, 3], [4, 5, 6], null];
  expect(differenceOf(before, [[1, 2, 3], [4, 9, 6], null])).toEqual({ at: [1], to: [{ as: [4, 9, 6] }] });
  expect(differenceOf([{ top: 1, levels: before }], [{ top: 2, levels: before }])).toEqual({
    at: [0],
    to: [{ of: { top: { as: 2 } } }],
  });
});
