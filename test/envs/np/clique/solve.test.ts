import { expect, test } from "vitest";
import type { Solver } from "../../../../envs/environment.ts";
import type { Graph } from "../../../../envs/lib/graph.ts";
import type { IndexList as Clique } from "../../../../envs/lib/parse-lists.ts";
import { clique } from "../../../../envs/np/clique/index.ts";
import { draw, drawBenchmark, randomGraph, randomOrder, renamed } from "../draws.ts";
import { expectSound } from "../expect-sound.ts";
import { largestMaximalClique, largestSet } from "../graph-methods.ts";
import { share } from "../../../support/share.ts";

const solver = clique.solver as Solver<Graph, Clique>;

test("graphs of up to 11 vertices match every set of vertices, with any budget", () => {
  for (let seed = 0; seed < share(1500); seed++) {
    const graph = randomGraph(11, seed);
    const optimum = largestSet(graph, true);
    expect(solver.solve(graph)).toMatchObject({ value: optimum, bound: optimum, proven: true });
    for (const nodesMax of [0, 1, 2]) {
      const cut = solver.solve(graph, nodesMax);
      expectSound(clique, graph, cut, optimum);
      expect(cut.nodes).toBeLessThanOrEqual(nodesMax);
    }
  }
});

test("benchmark graphs match the largest of all maximal cliques, whatever the vertices are called", () => {
  for (let seed = 0; seed < share(600); seed++) {
    const graph = drawBenchmark(clique, seed);
    const solution = solver.solve(graph);
    expectSound(clique, graph, solution, largestMaximalClique(graph));
    expect(solution.proven).toBe(true);
    expect(solver.solve(graph)).toEqual(solution);
    const other = solver.solve(renamed(graph, randomOrder(graph.vertices, seed)));
    expect(other).toMatchObject({ value: solution.value, proven: true });
  }
});

test("graphs of more than one word a row match the largest of all maximal cliques, with any budget", () => {
  for (let seed = 0; seed < 60; seed++) {
    const graph = randomGraph(70, seed);
    if (graph.vertices < 33) continue;
    const whole = solver.solve(graph);
    expect(whole.proven).toBe(true);
    for (const nodesMax of [0, 1, 3, 10]) expectSound(clique, graph, solver.solve(graph, nodesMax), whole.value);
    // All maximal cliques of a dense graph are too many to list.
    if (graph.vertices < 45) expectSound(clique, graph, whole, largestMaximalClique(graph));
  }
});

test("large graphs end, with a sound answer", () => {
  const [n, size] = [200, 20];
  const sizes = { vertices_min: n, vertices_max: n, clique_min: size, clique_max: size };
  const sparse = draw(clique, { ...sizes, density: 0.5 }, 1);
  expect(solver.solve(sparse)).toMatchObject({ value: size, bound: size, proven: true });
  const dense = draw(clique, { ...sizes, density: 0.9 }, 1);
  const cut = solver.solve(dense, 2000);
  expectSound(clique, dense, cut, cut.value);
  expect(cut).toMatchObject({ nodes: 2000, proven: false });
});
