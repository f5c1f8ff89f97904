/** The worked example of FORGE A.5.1. */
import { expect, test } from "vitest";
import { bitMatrixOf } from "../../../envs/lib/bit-matrix.ts";
import { draw } from "../../../pictures/np/set-cover.ts";
import { legendWords, lines, marked } from "../looks.ts";

const FIVE = {
  subsets: bitMatrixOf(6, [
    [0, 1, 2],
    [2, 3],
    [0, 4],
    [3, 4, 5],
    [1, 2, 5],
  ]),
};

test("the instance has a cell for each element of each subset", () => {
  const picture = draw(FIVE);
  expect([lines(picture, "gd-cell"), lines(picture, "gd-f0"), marked(picture, "gd-missing")]).toEqual([13, 0, []]);
});

test("a cover leaves no element marked", () => {
  const picture = draw(FIVE, [0, 3]);
  expect([lines(picture, "gd-f0"), marked(picture, "gd-band").length]).toEqual([6, 2]);
  expect([marked(picture, "gd-missing"), picture.notes]).toEqual([[], []]);
});

test("elements in no chosen subset are outlined in red, and subsets of a best cover in grey", () => {
  const picture = draw(FIVE, [0, 1], [0, 3]);
  expect([marked(picture, "gd-missing").length, marked(picture, "gd-best").length]).toEqual([2, 1]);
  expect(legendWords(picture)).toContain("element in no chosen subset");
});

test("the paper's answer takes a subset too many, which is named", () => {
  expect(draw(FIVE, [0, 3, 4], [0, 3]).notes).toEqual(["Chosen, but the others hold all their elements: 4"]);
});

test("repeats and subsets that do not exist are named", () => {
  const { notes } = draw(FIVE, [0, 3, 3, 17, -4]);
  expect(notes).toEqual(["Subsets that do not exist: 17, -4", "Listed more than once: 3"]);
});
