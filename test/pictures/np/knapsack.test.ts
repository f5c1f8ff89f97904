/** The worked example of FORGE A.5.3. */
import { expect, test } from "vitest";
import { draw } from "../../../pictures/np/knapsack.ts";
import type { KnapsackInstance } from "../../../envs/np/knapsack/generate.ts";
import { legendWords, marked } from "../looks.ts";

const FOUR: KnapsackInstance = {
  capacity: 20,
  weights: Int32Array.of(3, 4, 7, 8),
  values: Int32Array.of(4, 5, 10, 11),
};

function words(picture: ReturnType<typeof draw>): readonly unknown[] {
  return [...marked(picture, "gd-text"), ...marked(picture, "gd-mid")].map(({ content }) => content).slice(1);
}

test("a choice is filled and sums up below the capacity", () => {
  const picture = draw(FOUR, [1, 2, 3]);
  expect(marked(picture, "gd-f0")).toHaveLength(6);
  expect([words(picture), marked(picture, "gd-hatch")]).toEqual([["Chosen: weight 19, value 26", "capacity 20"], []]);
});

test("what lies beyond the capacity is hatched", () => {
  const picture = draw(FOUR, [0, 1, 2, 3]);
  expect(words(picture)).toContain("Chosen: weight 22, value 30");
  expect(marked(picture, "gd-hatch")).toHaveLength(1);
  const limit = Number(/^M([\d.]+)/.exec(`${marked(picture, "gd-limit")[0]?.attributes["d"]}`)?.[1]);
  expect(`${marked(picture, "gd-hatch")[0]?.attributes["d"]}`.startsWith(`M${limit} `)).toBe(true);
});

test("the paper's choice is set against a better one", () => {
  const picture = draw(FOUR, [0, 2, 3], [1, 2, 3]);
  expect(words(picture)).toContain("A best choice: weight 19, value 26");
  expect(legendWords(picture)).toEqual(["chosen", "not chosen", "in a best choice"]);
});

test("repeats are hatched although they would fit; items that do not exist are named", () => {
  const picture = draw(FOUR, [0, 0, 7, -2]);
  expect(marked(picture, "gd-hatch")).toHaveLength(1);
  expect(picture.notes).toEqual(["Items that do not exist: 7, -2", "Listed more than once: 0"]);
});

test("nothing chosen leaves the capacity empty", () => {
  expect(words(draw(FOUR, []))).toEqual(["Chosen: weight 0, value 0", "capacity 20"]);
  expect(marked(draw(FOUR), "gd-f0")).toEqual([]);
});
