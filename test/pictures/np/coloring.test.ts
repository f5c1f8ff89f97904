/** The worked example of FORGE A.5.10. */
import { expect, test } from "vitest";
import { emptyGraph, graphOf } from "../../../envs/lib/graph.ts";
import { draw } from "../../../pictures/np/coloring.ts";
import { labels, legendWords, lines, marked } from "../looks.ts";

const FOUR = graphOf([[1, 2], [3], [3], []]);

test("vertices of a color have one fill, and stand side by side under its label", () => {
  const picture = draw(FOUR, [1, 2, 2, 1]);
  expect([labels(picture, "gd-f0"), labels(picture, "gd-f1")]).toEqual([
    ["0", "3"],
    ["1", "2"],
  ]);
  expect(marked(picture, "gd-mid").map(({ content }) => content)).toEqual(["color 1", "color 2"]);
  expect(lines(picture, "gd-wrong")).toBe(0);
});

test("edges between vertices of a color are red, and their ends ringed: the paper's answer", () => {
  const picture = draw(FOUR, [1, 2, 1, 2]);
  expect(lines(picture, "gd-wrong")).toBe(2);
  expect(labels(picture, "gd-ring")).toEqual(["0", "1", "2", "3"]);
});

test("vertices without a color are marked; colors too many are named", () => {
  const picture = draw(FOUR, [1, 2]);
  expect(labels(picture, "gd-missing")).toEqual(["2", "3"]);
  expect([lines(picture, "gd-wrong"), legendWords(picture)]).toEqual([0, ["edge", "vertex without a color"]]);
  expect(draw(FOUR, [1, 2, 2, 1, 7, 8]).notes).toEqual(["Colors of vertices that do not exist: 7, 8"]);
  expect(labels(draw(FOUR, []), "gd-missing")).toHaveLength(4);
});

test("a wasteful coloring is set against a best one", () => {
  expect(draw(FOUR, [1, 2, 3, 4], [1, 2, 2, 1]).notes).toEqual(["A best coloring: 0 3 | 1 2"]);
});

test("more colors than fills are told apart by an outline", () => {
  const picture = draw(emptyGraph(9), [9, 8, 7, 6, 5, 4, 3, 2, 1]);
  expect(labels(picture, "gd-again")).toEqual(["0", "1"]);
});
