/** The prompt's example: vertex 4 has one neighbour. */
import { expect, test } from "vitest";
import { graphOf } from "../../../envs/lib/graph.ts";
import { draw } from "../../../pictures/np/hamiltonian.ts";
import { labels, legendWords, lines } from "../looks.ts";

const FIVE = graphOf([[1, 3, 4], [2, 3], [3], [], []]);

test("a longest cycle goes along edges; what is left out is in the middle", () => {
  const picture = draw(FIVE, [0, 1, 2, 3]);
  expect([lines(picture, "gd-chosen"), lines(picture, "gd-missing"), lines(picture, "gd-hint")]).toEqual([4, 0, 0]);
  expect(labels(picture, "gd-plain")).toEqual(["4"]);
});

test("steps without an edge are dashed and red", () => {
  const picture = draw(FIVE, [0, 1, 2, 4], [0, 1, 2, 3]);
  expect([lines(picture, "gd-chosen"), lines(picture, "gd-missing")]).toEqual([3, 1]);
  expect(legendWords(picture)).toContain("step where there is no edge");
  expect(picture.notes).toEqual(["A longest cycle: 0 1 2 3"]);
});

test("a short cycle shows how one more vertex could be visited", () => {
  const picture = draw(FIVE, [0, 1, 3], [0, 1, 2, 3]);
  expect(lines(picture, "gd-hint")).toBe(2);
});

test("repeats are ringed, and vertices that do not exist are named", () => {
  const picture = draw(FIVE, [0, 1, 0, 3, 8]);
  expect([labels(picture, "gd-ring"), picture.notes]).toEqual([["0"], ["Not in the graph: 8"]]);
});

test.each([[[]], [[2]], [[2, 2]], [[-1, 7]]])("%j is drawn too", (cycle) => {
  expect(lines(draw(FIVE, cycle), "gd-chosen")).toBe(0);
});
