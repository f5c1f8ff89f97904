/** The worked example of FORGE A.5.4. */
import { expect, test } from "vitest";
import { draw } from "../../../pictures/np/bisection.ts";
import type { BisectionInstance } from "../../../envs/np/bisection/generate.ts";
import { VERTEX_RADIUS } from "../../../pictures/lib/layout.ts";
import { labels, legendWords, lines, marked } from "../looks.ts";

const FOUR: BisectionInstance = {
  vertices: 4,
  edges: [
    { a: 0, b: 1, weight: 3 },
    { a: 0, b: 2, weight: 1 },
    { a: 1, b: 2, weight: 2 },
    { a: 1, b: 3, weight: 2 },
    { a: 2, b: 3, weight: 3 },
  ],
};

test("the sides have their fills, the cut its edges and its weight", () => {
  const picture = draw(FOUR, [
    [0, 1],
    [2, 3],
  ]);
  expect([labels(picture, "gd-f0"), labels(picture, "gd-f1")]).toEqual([
    ["0", "1"],
    ["2", "3"],
  ]);
  expect([lines(picture, "gd-cut"), lines(picture, "gd-edge")]).toEqual([3, 2]);
  expect(marked(picture, "gd-mid").map(({ content }) => content)).toEqual(["2 vertices", "2 vertices", "cut: 5"]);
});

test("the sides stand left and right", () => {
  const xs = (picture: ReturnType<typeof draw>, side: string): readonly number[] =>
    marked(picture, side).map(({ attributes }) => Number(attributes["cx"]));
  const picture = draw(FOUR, [
    [0, 2],
    [1, 3],
  ]);
  expect(Math.max(...xs(picture, "gd-f0"))).toBeLessThan(Math.min(...xs(picture, "gd-f1")));
});

test("a heavy cut shows which vertices had better change sides, whichever side is named first", () => {
  const picture = draw(FOUR, [[0, 2], [1, 3]], [[0, 1], [2, 3]]); // prettier-ignore
  expect(labels(picture, "gd-best")).toHaveLength(2);
  const same = draw(FOUR, [[2, 3], [0, 1]], [[0, 1], [2, 3]]); // prettier-ignore
  expect(labels(same, "gd-best")).toEqual([]);
});

test("vertices left out are marked, and uneven sides said so in red", () => {
  const picture = draw(FOUR, [[0, 1, 2], []]);
  expect(labels(picture, "gd-missing")).toEqual(["3"]);
  expect(marked(picture, "gd-bad").map(({ content }) => content)).toEqual(["3 vertices", "0 vertices"]);
  expect(legendWords(picture)).toContain("on neither side");
});

test("however many vertices are left out, no two stand on each other", () => {
  const all = Array.from({ length: 52 }, (_, v) => v);
  for (const [one, two] of [
    [0, 0],
    [1, 1],
    [5, 6],
    [16, 16],
    [26, 0],
  ] as const) {
    const picture = draw({ vertices: 52, edges: [] }, [all.slice(0, one), all.slice(one, one + two)]);
    const discs = ["gd-f0", "gd-f1", "gd-plain"].flatMap((each) => marked(picture, each));
    const places = discs.map(({ attributes }) => [Number(attributes["cx"]), Number(attributes["cy"])] as const);
    expect(places).toHaveLength(52);
    for (const [i, [x, y]] of places.entries()) {
      expect(Math.min(x, y, picture.width - x, picture.height - y)).toBeGreaterThan(VERTEX_RADIUS);
      for (const [otherX, otherY] of places.slice(0, i))
        expect(Math.hypot(x - otherX, y - otherY)).toBeGreaterThan(2 * VERTEX_RADIUS);
    }
  }
});

test("vertices on both sides are ringed, and those that do not exist named", () => {
  const picture = draw(FOUR, [
    [0, 1, 9],
    [1, 2, 3],
  ]);
  expect([labels(picture, "gd-ring"), picture.notes]).toEqual([["1"], ["Not in the graph: 9"]]);
});
