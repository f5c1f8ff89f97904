/** The worked example of FORGE A.5.10. */
import { describe, expect, test } from "vitest";
import { adjacent, edgeCount, graphOf, isConnected, pairs } from "../../../../envs/lib/graph.ts";
import { coloring } from "../../../../envs/np/coloring/index.ts";
import { resolveParameters } from "../../../../envs/parameters.ts";
import { draw, drawBenchmark, toldOfExample } from "../draws.ts";

const FOUR = graphOf([
  [1, 2],
  [0, 3],
  [0, 3],
  [1, 2],
]);

describe("the paper's example", () => {
  test("gives neighbours 0 and 2 one colour; repaired, it is optimal", () => {
    const violation = "vertices 0 and 2 are joined, and both have color 1";
    expect(coloring.verify(FOUR, [1, 2, 1, 2])).toEqual({ kind: "infeasible", violation });
    expect(coloring.verify(FOUR, [1, 2, 2, 1])).toEqual({ kind: "feasible", objective: 2 });
    expect(coloring.solver?.solve(FOUR)).toMatchObject({ answer: [1, 2, 2, 1], value: 2, bound: 2, proven: true });
    expect(coloring.trivial?.(FOUR)).toBe(4);
  });
});

describe("verify", () => {
  test("agrees with neighbours differing, for all colourings of four vertices by three colours", () => {
    for (let code = 0; code < 81; code++) {
      const colors = [0, 1, 2, 3].map((v) => Math.floor(code / 3 ** v) % 3);
      const clash = [...pairs(4)].some(([a, b]) => adjacent(FOUR, a, b) && colors[a] === colors[b]);
      const facts = clash ? { kind: "infeasible" } : { kind: "feasible", objective: new Set(colors).size };
      expect(coloring.verify(FOUR, colors)).toMatchObject(facts);
    }
  });
});

describe("generate", () => {
  test("graphs are connected, and take as many colours as were planted", () => {
    const sizes = { vertices_min: 10, vertices_max: 14, colors_min: 3, colors_max: 5 };
    const [seenVertices, seenColors] = [new Set<number>(), new Set<number>()];
    for (const density of [0, 0.2, 0.5, 1]) {
      for (let seed = 0; seed < 100; seed++) {
        const graph = draw(coloring, { ...sizes, density }, seed);
        expect(isConnected(graph)).toBe(true);
        seenVertices.add(graph.vertices);
        seenColors.add(coloring.solver?.solve(graph).value ?? 0);
      }
    }
    expect([...seenVertices].sort()).toEqual([10, 11, 12, 13, 14]);
    expect([...seenColors].sort()).toEqual([3, 4, 5]);
  });

  test("levels have the density that they state, but for the easy one, where connecting takes more", () => {
    // test/envs/np/reference checks the level of the papers' code.
    for (const { name, parameters } of coloring.levels.filter((level) => level.name !== "reference")) {
      for (let seed = 0; seed < 100; seed++) {
        const graph = draw(coloring, parameters, seed);
        const wanted = Math.round(((parameters["density"] as number) * graph.vertices * (graph.vertices - 1)) / 2);
        if (name === "easy") expect(edgeCount(graph)).toBeGreaterThanOrEqual(wanted);
        else expect(edgeCount(graph)).toBe(wanted);
      }
    }
  });

  test("refuses more colours than the smallest graph has vertices", () => {
    const message = "colors_min must not be above vertices_min: 9 > 8";
    const refused = { kind: "invalid", field: "parameters", message };
    expect(resolveParameters(coloring, { colors_min: 9, colors_max: 9 })).toEqual(refused);
    expect(resolveParameters(coloring, { vertices_min: 20, vertices_max: 12 }).kind).toBe("invalid");
  });
});

describe("prompt", () => {
  test("is as it is", () => {
    const [message] = coloring.render(graphOf([[1], [], []]), "answer_tag");
    expect(message).toMatchInlineSnapshot(`
      {
        "content": "Color the vertices of a graph with as few colors as possible, such that no two vertices that are joined by an edge have the same color. The graph has 3 vertices, numbered from 0 to 2.
      Colors are whole numbers from 1. Write the coloring as a list of 3 colors, that of vertex 0 first, then that of vertex 1, and so on, in square brackets and separated by commas.

      Each line below gives a vertex and, after the colon, the vertices that it is joined to.

      Example with 4 vertices:
      0: 1 2
      1: 0 3
      2: 0 3
      3: 1 2
      A coloring with fewest colors is [1, 2, 2, 1], with 2 colors.

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
    const told = toldOfExample(coloring, FOUR, graphOf([[1], [], []]));
    const [, text, size] = /A coloring with fewest colors is (.*), with (\d+)/.exec(told) ?? [];
    expect([text, Number(size)]).toEqual(["[1, 2, 2, 1]", coloring.solver?.solve(FOUR).value]);
  });

  test("at benchmark level takes at most 3,500 characters", () => {
    for (let seed = 0; seed < 200; seed++) {
      const [message] = coloring.render(drawBenchmark(coloring, seed), "think_answer");
      expect(message?.content).toMatch(/^[\n -~]*$/);
      expect(message?.content.length).toBeLessThanOrEqual(3500);
    }
  });
});
