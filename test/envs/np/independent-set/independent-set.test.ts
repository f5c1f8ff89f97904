/** The worked example of FORGE A.5.9. */
import { describe, expect, test } from "vitest";
import { adjacent, edgeCount, graphOf, pairs } from "../../../../envs/lib/graph.ts";
import { independentSet } from "../../../../envs/np/independent-set/index.ts";
import { resolveParameters } from "../../../../envs/parameters.ts";
import { draw, drawBenchmark, toldOfExample } from "../draws.ts";

const FOUR = graphOf([
  [1, 2],
  [0, 2, 3],
  [0, 1, 3],
  [1, 2],
]);

describe("the paper's example", () => {
  test("has optimum 2, by the paper's set", () => {
    expect(independentSet.solver?.solve(FOUR)).toMatchObject({ answer: [0, 3], value: 2, bound: 2, proven: true });
    expect(independentSet.verify(FOUR, [0, 3])).toEqual({ kind: "feasible", objective: 2 });
    expect(independentSet.trivial?.(FOUR)).toBe(1);
  });
});

describe("verify", () => {
  test("agrees with no two vertices being joined, for all sets of vertices", () => {
    for (let set = 1; set < 16; set++) {
      const vertices = [0, 1, 2, 3].filter((v) => (set >> v) & 1);
      const clash = [...pairs(vertices.length)].some(([i, j]) => adjacent(FOUR, vertices[i]!, vertices[j]!));
      expect(independentSet.verify(FOUR, vertices).kind).toBe(clash ? "infeasible" : "feasible");
      expect(independentSet.verify(FOUR, vertices.toReversed()).kind).toBe(clash ? "infeasible" : "feasible");
    }
  });
});

describe("generate", () => {
  test("plants a set of each size, and joins the rest", () => {
    const sizes = { vertices_min: 20, vertices_max: 24, set_min: 6, set_max: 9 };
    const [seenVertices, seenSets] = [new Set<number>(), new Set<number>()];
    for (let seed = 0; seed < 100; seed++) {
      const graph = draw(independentSet, { ...sizes, density_min: 1, density_max: 1 }, seed);
      seenVertices.add(graph.vertices);
      seenSets.add(independentSet.solver?.solve(graph).value ?? 0);
    }
    expect([...seenVertices].sort()).toEqual([20, 21, 22, 23, 24]);
    expect([...seenSets].sort()).toEqual([6, 7, 8, 9]);
  });

  test("draws a density for each graph, evenly from the range", () => {
    const densities = Array.from({ length: 300 }, (_, seed) => {
      const graph = draw(
        independentSet,
        { vertices_min: 100, vertices_max: 100, set_min: 1, set_max: 1, density_min: 0.15, density_max: 0.25 },
        seed,
      );
      return edgeCount(graph) / 4950;
    });
    expect(Math.min(...densities)).toBeGreaterThan(0.13);
    expect(Math.min(...densities)).toBeLessThan(0.16);
    expect(Math.max(...densities)).toBeLessThan(0.27);
    expect(Math.max(...densities)).toBeGreaterThan(0.24);
    expect(densities.reduce((a, b) => a + b) / 300).toBeCloseTo(0.2, 2);
  });

  test("refuses a set larger than the smallest graph", () => {
    const message = "set_min must not be above vertices_min: 13 > 12";
    const refused = { kind: "invalid", field: "parameters", message };
    expect(resolveParameters(independentSet, { set_min: 13, set_max: 14 })).toEqual(refused);
    expect(resolveParameters(independentSet, { density_min: 0.3, density_max: 0.25 }).kind).toBe("invalid");
  });
});

describe("prompt", () => {
  test("is as it is", () => {
    const [message] = independentSet.render(graphOf([[1], [], []]), "answer_tag");
    expect(message).toMatchInlineSnapshot(`
      {
        "content": "Find a largest independent set in a graph of 3 vertices, numbered from 0 to 2: as many vertices as possible such that no two of them are joined by an edge.
      Write the set as a list of its vertices, in square brackets and separated by commas, in any order and each once.

      Each line below gives a vertex and, after the colon, the vertices that it is joined to.

      Example with 4 vertices:
      0: 1 2
      1: 0 2 3
      2: 0 1 3
      3: 1 2
      A largest independent set is [0, 3], of 2 vertices.

      Your task:
      0: 1
      1: 0
      2: none

      Write your final answer, and nothing else, between <answer> and </answer>.",
        "role": "user",
      }
    `);
  });

  test("shows an example that is optimal", () => {
    const told = toldOfExample(independentSet, FOUR, graphOf([[1], [], []]));
    const [, text, size] = /A largest independent set is (.*), of (\d+)/.exec(told) ?? [];
    expect([text, Number(size)]).toEqual(["[0, 3]", independentSet.solver?.solve(FOUR).value]);
  });

  test("at benchmark level takes at most 3,000 characters", () => {
    for (let seed = 0; seed < 200; seed++) {
      const [message] = independentSet.render(drawBenchmark(independentSet, seed), "think_answer");
      expect(message?.content).toMatch(/^[\n -~]*$/);
      expect(message?.content.length).toBeLessThanOrEqual(3000);
    }
  });
});
