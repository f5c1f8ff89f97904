/** The worked example of FORGE A.5.2. */
import { expect, test } from "vitest";
import { draw } from "../../../pictures/np/subset-sum.ts";
import { legendWords, marked } from "../looks.ts";

const FIVE = { target: 10, numbers: Int32Array.of(2, 3, 7, 8, 5), planted: [0, 1, 4] };

test("a subset of the target's sum fills the bar", () => {
  const picture = draw(FIVE, [0, 1, 4]);
  expect(marked(picture, "gd-hatch")).toEqual([]);
  expect(marked(picture, "gd-text").at(-1)?.content).toBe("Chosen: 3 numbers, sum 10");
});

test("what lacks to the target is hatched", () => {
  expect(legendWords(draw(FIVE, [0, 1]))).toContain("what is lacking to the target");
  expect(marked(draw(FIVE, [0, 1]), "gd-hatch")).toHaveLength(1);
  expect(marked(draw(FIVE), "gd-hatch")).toEqual([]);
});

test("what lies beyond the target is hatched", () => {
  const picture = draw(FIVE, [2, 3]);
  expect(legendWords(picture)).toContain("beyond the target, or listed before");
  expect(marked(picture, "gd-hatch")).toHaveLength(1);
});

test("a small subset is set against a largest", () => {
  const picture = draw(FIVE, [0, 3], [0, 1, 4]);
  expect(marked(picture, "gd-text").at(-1)?.content).toBe("A best choice: 3 numbers");
  expect(marked(picture, "gd-f6")).toHaveLength(3);
});

test("repeats are hatched, and indices that do not exist named", () => {
  const picture = draw(FIVE, [4, 4, 5, -1]);
  expect(marked(picture, "gd-hatch")).toHaveLength(1);
  // The sum is the target here, so that nothing else is hatched.
  expect(legendWords(picture)).toEqual(["chosen", "not chosen", "beyond the target, or listed before"]);
  expect(picture.notes).toEqual(["Indices that do not exist: 5, -1", "Listed more than once: 4"]);
});
