/** The worked example of FORGE A.5.9. */
import { expect, test } from "vitest";
import { graphOf } from "../../../envs/lib/graph.ts";
import { drawIndependentSet as draw } from "../../../pictures/np/vertex-set.ts";
import { labels, legendWords, lines } from "../looks.ts";

const FOUR = graphOf([[1, 2], [2, 3], [3], []]);

test("a set without edges has no red", () => {
  const picture = draw(FOUR, [0, 3]);
  expect([lines(picture, "gd-wrong"), labels(picture, "gd-f0")]).toEqual([0, ["0", "3"]]);
  expect(legendWords(picture)).toEqual(["chosen"]);
});

test("edges within the set are red", () => {
  const picture = draw(FOUR, [0, 1, 3], [0, 3]);
  expect([lines(picture, "gd-wrong"), lines(picture, "gd-missing")]).toEqual([2, 0]);
  expect(legendWords(picture)).toContain("chosen, but joined");
});

test("a short set shows what a best one has besides", () => {
  expect(labels(draw(FOUR, [0], [0, 3]), "gd-best")).toEqual(["3"]);
});
