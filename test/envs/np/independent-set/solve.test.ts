import { expect, test } from "vitest";
import type { Solver } from "../../../../envs/environment.ts";
import type { Graph } from "../../../../envs/lib/graph.ts";
import type { IndexList as IndependentSet } from "../../../../envs/lib/parse-lists.ts";
import { independentSet } from "../../../../envs/np/independent-set/index.ts";
import { draw, drawBenchmark, randomGraph, randomOrder, renamed } from "../draws.ts";
import { expectSound } from "../expect-sound.ts";
import { largestIndependentSet, largestSet } from "../graph-methods.ts";
import { share } from "../../../support/share.ts";

const solver = independentSet.solver as Solver<Graph, IndependentSet>;

test("graphs of up to 11 vertices match every set of vertices, with any budget", () => {
  for (let seed = 0; seed < share(1500); seed++) {
    const graph = randomGraph(11, seed);
    const optimum = largestSet(graph, false);
    expect(solver.solve(graph)).toMatchObject({ value: optimum, bound: optimum, proven: true });
    for (const nodesMax of [0, 1, 2]) {
      const cut = solver.solve(graph, nodesMax);
      expectSound(independentSet, graph, cut, optimum);
      expect(cut.nodes).toBeLessThanOrEqual(nodesMax);
    }
  }
});

test("benchmark graphs match branching on vertices, whatever they are called", () => {
  for (let seed = 0; seed < share(400); seed++) {
    const graph = drawBenchmark(independentSet, seed);
    const solution = solver.solve(graph);
    expectSound(independentSet, graph, solution, largestIndependentSet(graph));
    expect(solution.proven).toBe(true);
    expect(solver.solve(graph)).toEqual(solution);
    const other = solver.solve(renamed(graph, randomOrder(graph.vertices, seed)));
    expect(other).toMatchObject({ value: solution.value, proven: true });
    for (const nodesMax of [0, 1, 2]) {
      expectSound(independentSet, graph, solver.solve(graph, nodesMax), solution.value);
    }
  }
});

test("large graphs end, with a sound answer", () => {
  const sizes = { vertices_min: 200, vertices_max: 200, set_min: 60, set_max: 60 };
  const graph = draw(independentSet, { ...sizes, density_min: 0.1, density_max: 0.1 }, 1);
  const cut = solver.solve(graph, 2000);
  expectSound(independentSet, graph, cut, cut.value);
  expect(cut.nodes).toBeLessThanOrEqual(2000);
});
