/** The worked example of FORGE A.5.8, each neighbour listed twice as there. */
import { describe, expect, test } from "vitest";
import { adjacent, edgeCount, graphOf, pairs } from "../../../../envs/lib/graph.ts";
import { clique } from "../../../../envs/np/clique/index.ts";
import { resolveParameters } from "../../../../envs/parameters.ts";
import { draw, levelOf, toldOfExample } from "../draws.ts";

const FIVE = graphOf([
  [1, 2, 3, 4],
  [0, 3, 4],
  [0, 3],
  [0, 1, 2, 4],
  [0, 1, 3],
]);

describe("the paper's example", () => {
  test("has optimum 4, by the paper's clique", () => {
    expect(clique.solver?.solve(FIVE)).toMatchObject({ answer: [0, 1, 3, 4], value: 4, bound: 4, proven: true });
    expect(clique.verify(FIVE, [0, 1, 3, 4])).toEqual({ kind: "feasible", objective: 4 });
    expect(clique.trivial?.(FIVE)).toBe(1);
  });
});

describe("verify", () => {
  test("agrees with every two vertices being joined, for all sets of vertices", () => {
    for (let set = 1; set < 32; set++) {
      const vertices = [0, 1, 2, 3, 4].filter((v) => (set >> v) & 1);
      const fine = [...pairs(vertices.length)].every(([i, j]) => adjacent(FIVE, vertices[i]!, vertices[j]!));
      expect(clique.verify(FIVE, vertices).kind).toBe(fine ? "feasible" : "infeasible");
      expect(clique.verify(FIVE, vertices.toReversed()).kind).toBe(fine ? "feasible" : "infeasible");
    }
  });
});

describe("generate", () => {
  test("plants a clique of each size, and joins the rest as densely as asked", () => {
    const sizes = { vertices_min: 20, vertices_max: 24, clique_min: 6, clique_max: 9 };
    const [seenVertices, seenCliques] = [new Set<number>(), new Set<number>()];
    for (let seed = 0; seed < 100; seed++) {
      const alone = draw(clique, { ...sizes, density: 0 }, seed);
      const size = (1 + Math.sqrt(1 + 8 * edgeCount(alone))) / 2;
      seenVertices.add(alone.vertices);
      seenCliques.add(size);
      expect(clique.solver?.solve(alone).value).toBe(size);
      const whole = draw(clique, { ...sizes, density: 1 }, seed);
      expect(clique.solver?.solve(whole).value).toBe(whole.vertices);
    }
    expect([...seenVertices].sort()).toEqual([20, 21, 22, 23, 24]);
    expect([...seenCliques].sort()).toEqual([6, 7, 8, 9]);
  });

  test("never plants the whole graph", () => {
    const sizes = { vertices_min: 2, vertices_max: 5, clique_min: 1, clique_max: 199 };
    for (let seed = 0; seed < 50; seed++) {
      const graph = draw(clique, { ...sizes, density: 0 }, seed);
      expect(edgeCount(graph)).toBeLessThan((graph.vertices * (graph.vertices - 1)) / 2);
    }
  });

  test("refuses a clique as large as the smallest graph", () => {
    const values = { vertices_min: 4, vertices_max: 8, clique_min: 4, clique_max: 5 };
    const message = "clique_min must be below vertices_min: 4 ≥ 4";
    expect(resolveParameters(clique, values)).toEqual({ kind: "invalid", field: "parameters", message });
    expect(resolveParameters(clique, { ...values, clique_min: 3, clique_max: 2 }).kind).toBe("invalid");
  });
});

describe("prompt", () => {
  test("is as it is", () => {
    const [message] = clique.render(graphOf([[1], [], []]), "answer_tag");
    expect(message).toMatchInlineSnapshot(`
      {
        "content": "Find a largest clique in a graph of 3 vertices, numbered from 0 to 2: as many vertices as possible such that every two of them are joined by an edge.
      Write the clique as a list of its vertices, in square brackets and separated by commas, in any order and each once.

      Each line below gives a vertex and, after the colon, the vertices that it is joined to.

      Example with 5 vertices:
      0: 1 2 3 4
      1: 0 3 4
      2: 0 3
      3: 0 1 2 4
      4: 0 1 3
      A largest clique is [0, 1, 3, 4], of 4 vertices.

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
    const told = toldOfExample(clique, FIVE, graphOf([[1], [], []]));
    const [, text, size] = /A largest clique is (.*), of (\d+)/.exec(told) ?? [];
    expect([text, Number(size)]).toEqual(["[0, 1, 3, 4]", clique.solver?.solve(FIVE).value]);
  });

  test("of 20 vertices takes at most 1,900 characters", () => {
    const parameters = { ...levelOf(clique, "benchmark"), vertices_min: 20, density: 1 };
    const [message] = clique.render(draw(clique, parameters, 1), "think_answer");
    expect(message?.content).toMatch(/^[\n -~]*$/);
    expect(message?.content.length).toBeLessThanOrEqual(1900);
  });
});
