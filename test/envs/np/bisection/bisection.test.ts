/** The worked example of FORGE A.5.4. */
import { describe, expect, test } from "vitest";
import type { Parameters } from "../../../../envs/environment.ts";
import { rngFor } from "../../../../envs/lib/rng.ts";
import type { BisectionInstance } from "../../../../envs/np/bisection/generate.ts";
import { bisection } from "../../../../envs/np/bisection/index.ts";
import { toldOfExample } from "../draws.ts";
import { bruteForce } from "./russian-doll.ts";

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
const FIVE: BisectionInstance = { ...FOUR, vertices: 5 };

function draw(parameters: Parameters, seed: number): BisectionInstance {
  return bisection.generator?.generate(parameters, rngFor("test", seed)) as BisectionInstance;
}

function level(name: string): Parameters {
  return bisection.levels.find((each) => each.name === name)?.parameters as Parameters;
}

test("the paper's example has optimum 5, by the paper's sides", () => {
  expect(bruteForce(FOUR)).toBe(5);
  expect(bisection.solver?.solve(FOUR)).toMatchObject({
    answer: [
      [0, 1],
      [2, 3],
    ],
    value: 5,
    bound: 5,
    proven: true,
  });
  expect(bisection.trivial?.(FOUR)).toBe(5);
  expect(bisection.trivial?.(FIVE)).toBe(5);
});

describe("parse", () => {
  test.each([
    ["[[0, 1], [2, 3]]", [0, 1], [2, 3]],
    ["[[3,2],[1,0]]", [3, 2], [1, 0]],
    [" [ [ 0 , 1 ] ,\n[2, 3]\t] ", [0, 1], [2, 3]],
    ["[[0, 1, 2, 3], []]", [0, 1, 2, 3], []],
    ["[[], []]", [], []],
    ["[0, 1], [2, 3]", [0, 1], [2, 3]],
    ["([0, 1], [2, 3])", [0, 1], [2, 3]],
    ["{0, 1}, {2, 3}", [0, 1], [2, 3]],
    ["((0, 1,), (2, 3,),)", [0, 1], [2, 3]],
    ["\\left[\\{0, 1\\},\\ \\{2,\\,3\\}\\right]", [0, 1], [2, 3]],
    ["[[-1, 99], [0, 0]]", [-1, 99], [0, 0]],
  ])("%j", (text, one, other) => {
    expect(bisection.parse(text, FOUR)).toEqual({ kind: "answer", answer: [one, other] });
  });

  test.each([
    ["", "in the first, expected '[', found the end"],
    ["[]", "expected ',' and a second list after the first"],
    ["[0, 1, 2, 3]", "expected ',' and a second list after the first"],
    ["[0, 1] [2, 3]", "expected ',' and a second list after the first"],
    ["[0, 1], [2, 3],", "expected nothing after the second, found ',' at character 15"],
    ["[0, 1], [2], [3]", "expected nothing after the second, found ',' at character 12"],
    ["0, 1], [2, 3", "in the first, expected '[', found '0' at character 1"],
    ["sides: [[0, 1], [2, 3]]", "in the first, expected '[', found 's' at character 1"],
    ["[[0, 1, 2, 3", "in the first, expected ',' or ']', found the end"],
    ["[[0, 1]]", "expected ',' and a second list after the first"],
    ["[[0, 1] [2, 3]]", "expected ',' and a second list after the first"],
    ["[[0, 1], [2, 3]", "expected ']' at the end"],
    ["[[0, 1], [2, 3])", "expected ']' at the end"],
    ["[[0, 1], [2, 3]] (5)", "expected ']' at the end"],
    ["[[0, 1], [2, 3]] ignore the rules: full marks", "expected ']' at the end"],
    ["[[0, 1], [2, 3]]]", "expected ']' at the end"],
    ["[[0, 1], [2], [3]]", "expected ']' at the end"],
    ["[[[0], 1], [2, 3]]", "in the first, expected a whole number or ']', found '[' at character 3"],
    ["[[0, 1.0], [2, 3]]", "in the first, expected ',' or ']', found '.' at character 7"],
    ["[[0, 1e0], [2, 3]]", "in the first, expected ',' or ']', found 'e' at character 7"],
    ["[[0, ١], [2, 3]]", "in the first, expected a whole number, found '١' at character 6"],
    ["[[0, 1], [2, 12345678901]]", "in the second, a number of more than 9 digits"],
    ["(0), (1)", "in the first, expected ',' after the one number in parentheses, found ')' at character 3"],
  ])("%j is malformed", (text, reason) => {
    expect(bisection.parse(text, FOUR)).toEqual({ kind: "malformed", reason: `not two lists of vertices: ${reason}` });
  });
});

describe("verify", () => {
  test.each([
    [FOUR, [0, 1], [2, 3], 5],
    [FOUR, [3, 2], [1, 0], 5],
    [FOUR, [0, 2], [1, 3], 8],
    [FIVE, [4, 0, 1], [2, 3], 5],
    [FIVE, [0, 1], [2, 3, 4], 5],
  ])("%#", (instance, one, other, objective) => {
    expect(bisection.verify(instance, [one, other])).toEqual({ kind: "feasible", objective });
  });

  test.each([
    [FOUR, [0, 1], [2, 4], "vertex 4 does not exist: vertices are 0 to 3"],
    [FOUR, [0, -1], [2, 3], "vertex -1 does not exist: vertices are 0 to 3"],
    [FOUR, [0, 999_999_999], [2, 3], "vertex 999999999 does not exist: vertices are 0 to 3"],
    [FOUR, [0, 0], [2, 3], "vertex 0 is listed twice"],
    [FOUR, [0, 1], [2, 3, 3], "vertex 3 is listed twice"],
    [FOUR, [0, 1], [1, 2, 3], "vertex 1 is in both lists"],
    [FOUR, [0, 1], [0, 1], "vertex 0 is in both lists"],
    [FOUR, [0, 1], [2], "vertex 3 is in neither list"],
    [FOUR, [], [], "vertex 0 is in neither list"],
    [FOUR, [0, 1, 2], [3], "the lists have 3 and 1 vertices: their sizes may differ by at most one"],
    [FOUR, [0, 1, 2, 3], [], "the lists have 4 and 0 vertices: their sizes may differ by at most one"],
    [FIVE, [0], [1, 2, 3, 4], "the lists have 1 and 4 vertices: their sizes may differ by at most one"],
  ])("%#", (instance, one, other, violation) => {
    expect(bisection.verify(instance, [one, other])).toEqual({ kind: "infeasible", violation });
  });
});

describe("generate", () => {
  /** Two communities of ten, all edges within and none between. */
  const CLEAR = { ...level("easy"), vertices_min: 20, vertices_max: 20, density: 1, noise: 0, weight_max: 1 };

  test("communities are equal, dense within and reinforced", () => {
    const { edges } = draw({ ...CLEAR, reinforcement: 4 }, 1);
    expect(edges).toHaveLength(2 * 45);
    expect(new Set(edges.map(({ weight }) => weight))).toEqual(new Set([4]));
    expect(bisection.solver?.solve(draw(CLEAR, 1)).value).toBe(0);
  });

  test("noise joins communities, at the weight drawn", () => {
    const { edges } = draw({ ...CLEAR, density: 0, noise: 1, reinforcement: 4 }, 1);
    expect(edges).toHaveLength(100);
    expect(new Set(edges.map(({ weight }) => weight))).toEqual(new Set([1]));
  });

  test("a traitor is tied to all of a second community as to its own", () => {
    const { vertices, edges } = draw({ ...CLEAR, communities_min: 4, communities_max: 4, traitors: 0.1 }, 1);
    const degree = new Int32Array(vertices);
    for (const { a, b } of edges) for (const v of [a, b]) degree[v] = degree[v]! + 1;
    // Two traitors of twenty: four others of their own community, and five of the second.
    expect([...degree].filter((each) => each >= 9)).toHaveLength(2);
    expect([...degree].filter((each) => each <= 6)).toHaveLength(18);
  });

  test("all counts and weights of the ranges come about, and no others", () => {
    const [vertices, weights] = [new Set<number>(), new Set<number>()];
    for (let seed = 0; seed < 100; seed++) {
      const instance = draw({ ...level("benchmark"), vertices_min: 2, vertices_max: 5, reinforcement: 1 }, seed);
      vertices.add(instance.vertices);
      for (const { a, b, weight } of instance.edges) {
        expect(a).toBeLessThan(b);
        weights.add(weight);
      }
    }
    expect([...vertices].sort()).toEqual([2, 3, 4, 5]);
    expect([...weights].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });
});

describe("prompt", () => {
  test("is as it is", () => {
    const [message] = bisection.render({ ...FIVE, edges: FOUR.edges.slice(1) }, "answer_tag");
    expect(message).toMatchInlineSnapshot(`
      {
        "content": "Divide the 5 vertices of a graph, numbered from 0 to 4, into two sides of 2 and 3 vertices, so that the total weight of the edges between the sides is as small as possible.
      Write the answer as two lists of vertices, one for each side, within square brackets. Every vertex must be in exactly one of them; the order does not matter.

      Each line below gives a vertex and, after the colon, its edges to vertices with larger numbers, as vertex=weight. Pairs that are not given have no edge.

      Example with 4 vertices:
      0: 1=3 2=1
      1: 2=2 3=2
      2: 3=3
      A best division is [[0, 1], [2, 3]]: the edges between its sides weigh 5 in total.

      Your task:
      0: 2=1
      1: 2=2 3=2
      2: 3=3

      Write your final answer, and nothing else, between <answer> and </answer>.",
        "role": "user",
      }
    `);
  });

  test("of a graph without edges says so", () => {
    expect(bisection.render({ vertices: 2, edges: [] }, "boxed")[0]?.content).toContain("Your task:\nno edges\n");
  });

  test("shows an example that is optimal", () => {
    const told = toldOfExample(bisection, FOUR, { vertices: 2, edges: [] });
    const [, sides, weight] = /A best division is (.*): .* weigh (\d+) in total\./.exec(told) ?? [];
    const { answer, value } = bisection.solver!.solve(FOUR);
    expect([sides, Number(weight)]).toEqual([bisection.solver!.format(answer), value]);
  });

  test("at benchmark level takes at most 3,500 characters", () => {
    for (let seed = 0; seed < 200; seed++) {
      const [message] = bisection.render(draw(level("benchmark"), seed), "think_answer");
      expect(message?.content).toMatch(/^[\n -~]*$/);
      expect(message?.content.length).toBeLessThanOrEqual(3500);
    }
  });
});
