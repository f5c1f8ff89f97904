/** The worked example of FORGE A.5.8: vertices 1 and 2, and 2 and 4, are not joined. */
import { expect, test } from "vitest";
import { graphOf } from "../../../envs/lib/graph.ts";
import { drawClique as draw } from "../../../pictures/np/vertex-set.ts";
import { labels, legendWords, lines } from "../looks.ts";

const FIVE = graphOf([[1, 2, 3, 4], [3, 4], [3], [4], []]);

test("the graph alone has all its edges, and nothing is chosen", () => {
  const picture = draw(FIVE);
  expect([lines(picture, "gd-edge"), labels(picture, "gd-f0"), picture.legend]).toEqual([8, [], []]);
  expect(labels(picture, "gd-plain")).toEqual(["0", "1", "2", "3", "4"]);
});

test("a best clique has all its edges marked", () => {
  const picture = draw(FIVE, [0, 1, 3, 4]);
  expect([lines(picture, "gd-chosen"), lines(picture, "gd-missing")]).toEqual([6, 0]);
  expect(labels(picture, "gd-f0")).toEqual(["0", "1", "3", "4"]);
});

test("edges that are not there are dashed and red", () => {
  const picture = draw(FIVE, [0, 1, 2]);
  expect([lines(picture, "gd-chosen"), lines(picture, "gd-missing")]).toEqual([2, 1]);
  expect(legendWords(picture)).toContain("chosen, but not joined");
});

test("a short clique shows what a best one has besides", () => {
  const picture = draw(FIVE, [0, 3], [0, 1, 3, 4]);
  expect(labels(picture, "gd-best")).toEqual(["1", "4"]);
});

test("repeats are ringed, and vertices that do not exist are named", () => {
  const picture = draw(FIVE, [0, 3, 0, 9, -1, 0]);
  expect(labels(picture, "gd-ring")).toEqual(["0"]);
  expect(picture.notes).toEqual(["Not in the graph: 9, -1"]);
});
