/** Labels of pictures: none runs into another, and none is cut off at the picture's edge. */
import type { Picture, Shape } from "../../envs/picture.ts";
import { describe, expect, test } from "vitest";
import type { Environment, Parameters } from "../../envs/environment.ts";
import { drawingOf } from "../../pictures/drawings.ts";
import { rngFor } from "../../envs/lib/rng.ts";
import { resolveParameters } from "../../envs/parameters.ts";
import { environments } from "../../envs/registry.ts";

interface Box {
  readonly words: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Mean width of a digit or a letter of DejaVu Sans, which is wide, in parts of its size. */
const LETTER = 0.6;

/** Returns the box of a text's letters, by the text's class. */
function boxOf({ attributes, content }: Shape): Box {
  const [words, className] = [content as string, `${attributes["class"]}`];
  const size = className.includes("gd-tiny") ? 7 : /gd-(label|on-)/.test(className) ? 10 : 12;
  const width = words.length * size * LETTER;
  const [x, y] = [Number(attributes["x"]), Number(attributes["y"])];
  const isMiddle = /gd-(label|mid|on-)/.test(className);
  const left = isMiddle ? x - width / 2 : className.includes("gd-end") ? x - width : x;
  return { words, left, right: left + width, top: y - 0.72 * size, bottom: y };
}

/** Returns the boxes of the drawing's own labels; text around the drawing wraps and needs no check. */
function boxesOf({ shapes }: Pick<Picture, "shapes">): readonly Box[] {
  return shapes.flatMap((shape) => {
    if (shape.tag === "text") return [boxOf(shape)];
    return typeof shape.content === "string" ? [] : boxesOf({ shapes: shape.content });
  });
}

const APART = 0.5;
/** Numbers on one line that are less apart, in parts of a letter's height, read as one. */
const BLANK = 0.25;
const runTogether = (a: Box, b: Box): boolean =>
  [a, b].every(({ words }) => /^\d+$/.test(words)) &&
  a.bottom === b.bottom &&
  Math.max(a.left, b.left) - Math.min(a.right, b.right) < BLANK * Math.min(a.bottom - a.top, b.bottom - b.top);
const overlap = (a: Box, b: Box): boolean =>
  a.left < b.right - APART && b.left < a.right - APART && a.top < b.bottom - APART && b.top < a.bottom - APART;

/** Returns pairs of labels that overlap, and labels beyond the picture's sides. */
function faultsOf(picture: Picture): readonly string[] {
  const boxes = boxesOf(picture);
  const outside = boxes.filter(({ left, right }) => left < -20 || right > picture.width + 20);
  const collisions = boxes.flatMap((a, i) =>
    boxes.slice(i + 1).flatMap((b) => (overlap(a, b) || runTogether(a, b) ? [`${a.words} ${b.words}`] : [])),
  );
  return [...outside.map(({ words }) => `${words} is cut off`), ...collisions];
}

interface Crowded {
  readonly id: string;
  readonly parameters: Parameters;
  readonly answer: (instance: unknown) => string;
}

const ofVertices = (instance: unknown): readonly number[] => [
  ...new Array((instance as { readonly vertices: number }).vertices).keys(),
];

/** Answers that make many or long labels. */
const answers: readonly Crowded[] = [
  ...[1, 10, 100, 123_456_789, 1e20].map((from) => ({
    id: "np/coloring",
    parameters: {},
    answer: (instance: unknown) =>
      `[${ofVertices(instance)
        .map((v) => BigInt(from) * 7n ** BigInt(v % 5))
        .join(", ")}]`,
  })),
  ...[1, 1000].map((from) => ({
    id: "np/coloring",
    parameters: { vertices_min: 70 },
    answer: (instance: unknown) =>
      `[${ofVertices(instance)
        .map((v) => from + v)
        .join(", ")}]`,
  })),
  ...["np/clique", "np/independent-set"].map((id) => ({
    id,
    parameters: {},
    answer: (instance: unknown) =>
      `[${Array.from({ length: 1000 }, (_, i) => i % ofVertices(instance).length).join(", ")}]`,
  })),
  ...[15, 60].map((minutes) => ({
    id: "np/meetings",
    parameters: { meetings_min: 11, attendees_min: 14, rooms_min: 10, quarters_min: 1, size_max: 8 },
    answer: () =>
      `[${Array.from({ length: 80 }, (_, i) => {
        const start = (i * minutes) % 1440;
        return `(${i % 11}, ${i % 3}, ${`${Math.floor(start / 60)}`.padStart(2, "0")}:${`${start % 60}`.padStart(2, "0")})`;
      }).join(", ")}]`,
  })),
];

test.each(answers.map((each, i) => ({ ...each, i })))("answer $i to $id: every label stands by itself", (each) => {
  const { id, parameters: more, answer } = each;
  const environment = environments.find((one) => one.id === id) as Environment;
  const parameters = resolveParameters(environment, more);
  if (parameters.kind !== "ok") throw new Error(parameters.message);
  const instance = environment.generator?.generate(parameters.parameters, rngFor("labels", id, 1));
  const parsed = environment.parse(answer(instance), instance);
  if (parsed.kind !== "answer") throw new Error(parsed.reason);
  expect(faultsOf(drawingOf(environment)!(instance, parsed.answer))).toEqual([]);
});

const crowded: readonly (readonly [id: string, parameters: Parameters])[] = [
  ["np/knapsack", {}],
  ["np/knapsack", { items_min: 120, items_max: 120 }],
  ["np/knapsack", { items_min: 500, items_max: 500 }],
  ["np/knapsack", { items_min: 60, items_max: 60, weight_min: 1, weight_max: 100_000 }],
  // A capacity at the left edge.
  ["np/knapsack", { items_min: 500, items_max: 500, planted_min: 1, planted_max: 1, weight_min: 1, weight_max: 1000 }],
  ["np/subset-sum", {}],
  ["np/subset-sum", { numbers_min: 40, numbers_max: 40, value_max: 100_000 }],
  ["np/subset-sum", { numbers_min: 24, numbers_max: 24, value_max: 100_000 }],
];

describe.each(crowded)("%s of %j", (id, more) => {
  const environment = environments.find((each) => each.id === id);
  if (environment?.generator === undefined) throw new Error("it has no generator");
  const { generator, levels } = environment;

  test.each([1, 2, 3, 4, 5, 6, 7, 8])("seed %d: every label stands by itself", (seed) => {
    const parameters = resolveParameters(environment, { ...levels[0]?.parameters, ...more });
    if (parameters.kind !== "ok") throw new Error(parameters.message);
    const instance = generator.generate(parameters.parameters, rngFor("labels", id, seed));
    if (instance === undefined) throw new Error("no instance");
    const best = [0];
    for (const answer of [undefined, best])
      expect(faultsOf(drawingOf(environment)!(instance, answer as never, best as never))).toEqual([]);
  });
});
