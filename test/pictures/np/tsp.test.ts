/** The worked example of FORGE A.5.7. */
import { expect, test } from "vitest";
import { draw } from "../../../pictures/np/tsp.ts";
import type { TspInstance } from "../../../envs/np/tsp/generate.ts";
import { labels, legendWords, lines, marked } from "../looks.ts";

const FOUR: TspInstance = { cities: 4, distances: Int32Array.of(10, 15, 20, 35, 25, 30) };

test("a best tour is one colour, its steps listed by length", () => {
  const picture = draw(FOUR, [0, 1, 3, 2]);
  expect([lines(picture, "gd-chosen"), lines(picture, "gd-other"), lines(picture, "gd-best")]).toEqual([4, 0, 0]);
  expect(marked(picture, "gd-end").map(({ content }) => content)).toEqual(["3–2", "1–3", "2–0", "0–1"]);
});

test("a long tour shows where a best one goes elsewhere, whichever way round", () => {
  const picture = draw(FOUR, [0, 1, 2, 3], [2, 3, 1, 0]);
  expect([lines(picture, "gd-chosen"), lines(picture, "gd-other"), lines(picture, "gd-best")]).toEqual([2, 2, 2]);
  expect(legendWords(picture)).toContain("a best tour elsewhere");
});

test("cities missed or visited twice are marked, and those that do not exist named", () => {
  const picture = draw(FOUR, [0, 1, 0, 2, 5]);
  expect([labels(picture, "gd-missing"), labels(picture, "gd-ring")]).toEqual([["3"], ["0"]]);
  expect(picture.notes[0]).toBe("Cities that do not exist: 5");
});

test("cities at no distance are drawn side by side", () => {
  const picture = draw({ cities: 4, distances: new Int32Array(6) });
  const places = marked(picture, "gd-plain").map(({ attributes }) => `${attributes["cx"]} ${attributes["cy"]}`);
  expect(new Set(places).size).toBe(4);
});

test.each([[[]], [[3]], [[9, 9]]])("%j is drawn too", (tour) => {
  const picture = draw(FOUR, tour);
  expect([lines(picture, "gd-chosen"), marked(picture, "gd-f0")]).toEqual([0, []]);
});
