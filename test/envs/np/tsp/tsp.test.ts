/** The worked example of FORGE A.5.7. */
import { describe, expect, test } from "vitest";
import type { Parameters } from "../../../../envs/environment.ts";
import { rngFor } from "../../../../envs/lib/rng.ts";
import { distanceBetween, type TspInstance } from "../../../../envs/np/tsp/generate.ts";
import { tsp } from "../../../../envs/np/tsp/index.ts";
import { toldOfExample } from "../draws.ts";

const FOUR: TspInstance = { cities: 4, distances: Int32Array.of(10, 15, 20, 35, 25, 30) };

function draw(parameters: Parameters, seed: number): TspInstance {
  return tsp.generator?.generate(parameters, rngFor("test", seed)) as TspInstance;
}

function level(name: string): Parameters {
  return tsp.levels.find((each) => each.name === name)?.parameters as Parameters;
}

describe("the paper's example", () => {
  test("has the paper's distances", () => {
    const matrix = [0, 1, 2, 3].map((a) => [0, 1, 2, 3].map((b) => (a === b ? 0 : distanceBetween(FOUR, a, b))));
    expect(matrix).toEqual([
      [0, 10, 15, 20],
      [10, 0, 35, 25],
      [15, 35, 0, 30],
      [20, 25, 30, 0],
    ]);
  });

  test("has optimum 80, by the paper's tour", () => {
    expect(tsp.solver?.solve(FOUR)).toMatchObject({ value: 80, bound: 80, proven: true });
    expect(tsp.verify(FOUR, [0, 1, 3, 2])).toEqual({ kind: "feasible", objective: 80 });
    expect(tsp.trivial?.(FOUR)).toBe(95);
  });
});

describe("parse", () => {
  test.each([
    ["[0, 1, 3, 2, 0]", [0, 1, 3, 2]],
    ["[0,1,3,2]", [0, 1, 3, 2]],
    [" [ 3 , 2 ,\n0, 1, 3 ] ", [3, 2, 0, 1]],
    ["[0, 0]", [0]],
    ["[0]", [0]],
    ["[]", []],
    ["[-1, 99]", [-1, 99]],
  ])("%j", (text, tour) => {
    expect(tsp.parse(text, FOUR)).toEqual({ kind: "answer", answer: tour });
  });

  test.each([
    "",
    "0 -> 1, 3 -> 2",
    "0 -> 1 -> 3 ->",
    "0 -1 -3 -2",
    "[0, 1, 3, 2] (80)",
    "tour = [0, 1, 3, 2]",
    "[0.0, 1, 3, 2]",
    "[a]",
  ])("%j is malformed", (text) => {
    expect(tsp.parse(text, FOUR).kind).toBe("malformed");
  });
});

describe("verify", () => {
  test.each([
    [[0, 1, 3, 2], 80],
    [[3, 2, 0, 1], 80],
    [[2, 3, 1, 0], 80],
    [[0, 1, 2, 3], 95],
  ])("%j has length %d", (tour, objective) => {
    expect(tsp.verify(FOUR, tour)).toEqual({ kind: "feasible", objective });
  });

  test.each([
    [[0, 1, 7, 2], "city 7 does not exist: cities are 0 to 3"],
    [[0, 1, 4], "city 4 does not exist: cities are 0 to 3"],
    [[-1, 0, 1, 2], "city -1 does not exist: cities are 0 to 3"],
    [[0, 1, 1, 99], "city 1 is visited twice"],
    [[0, 1, 2, 3, 0, 1], "city 0 is visited twice"],
    [[0, 1, 3], "city 2 is never visited"],
    [[0], "city 1 is never visited"],
    [[], "city 0 is never visited"],
  ])("%j: %s", (tour, violation) => {
    expect(tsp.verify(FOUR, tour)).toEqual({ kind: "infeasible", violation });
  });
});

describe("generate", () => {
  test("all counts of cities and all distances of the range come about, and no others", () => {
    const cities = new Set<number>();
    const distances = new Set<number>();
    for (let seed = 0; seed < 300; seed++) {
      const instance = draw({ cities_min: 3, cities_max: 6, distance_min: 0, distance_max: 9 }, seed);
      cities.add(instance.cities);
      expect(instance.distances).toHaveLength((instance.cities * (instance.cities - 1)) / 2);
      for (const distance of instance.distances) distances.add(distance);
    }
    expect([...cities].sort()).toEqual([3, 4, 5, 6]);
    expect([...distances].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
});

describe("prompt", () => {
  test("is as it is", () => {
    const [message] = tsp.render({ cities: 3, distances: Int32Array.of(7, 8, 9) }, "answer_tag");
    expect(message).toMatchInlineSnapshot(`
      {
        "content": "Find the shortest closed tour of 3 cities, numbered from 0 to 2: it visits every city exactly once and then returns to the city where it started. Its length is the sum of the distances along it, the way back included.
      Write the tour as a list of the cities in the order they are visited, in square brackets and separated by commas, with the first city again at the end. It may start at any city.

      Each line below gives a city and, after the colon, its distances to the cities with larger numbers, as city=distance. Distances are the same in both directions.

      Example with 4 cities:
      0: 1=10 2=15 3=20
      1: 2=35 3=25
      2: 3=30
      A shortest tour is [0, 1, 3, 2, 0], of length 80.

      Your task:
      0: 1=7 2=8
      1: 2=9

      Write your final answer, and nothing else, between <answer> and </answer>.",
        "role": "user",
      }
    `);
  });

  test("shows an example that is optimal", () => {
    const told = toldOfExample(tsp, FOUR, { cities: 3, distances: Int32Array.of(7, 8, 9) });
    const [, tour, length] = /A shortest tour is (.*), of length (\d+)\./.exec(told) ?? [];
    expect(tour).toBe("[0, 1, 3, 2, 0]");
    expect(Number(length)).toBe(tsp.solver?.solve(FOUR).value);
  });

  test("of 55 cities takes at most 12,200 characters, and so at most as many of the papers' 20,000 tokens", () => {
    const parameters = { ...level("benchmark"), cities_min: 55, distance_min: 100 };
    for (const format of tsp.answerFormats) {
      const [message] = tsp.render(draw(parameters, 1), format);
      expect(message?.content).toMatch(/^[\n -~]*$/);
      expect(message?.content.length).toBeLessThanOrEqual(12_200);
    }
  });
});
