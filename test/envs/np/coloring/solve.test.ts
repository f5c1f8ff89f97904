import { expect, test } from "vitest";
import type { Solver } from "../../../../envs/environment.ts";
import { emptyGraph, type Graph, joinRandomly } from "../../../../envs/lib/graph.ts";
import { rngFor } from "../../../../envs/lib/rng.ts";
import { coloring } from "../../../../envs/np/coloring/index.ts";
import type { Coloring } from "../../../../envs/np/coloring/verify.ts";
import { draw, drawBenchmark, randomGraph, randomOrder, renamed } from "../draws.ts";
import { expectSound } from "../expect-sound.ts";
import { chromaticNumber, largestMaximalClique } from "../graph-methods.ts";

const solver = coloring.solver as Solver<Graph, Coloring>;

test("graphs of up to 12 vertices match every colouring, with any budget", () => {
  let aboveClique = 0;
  for (let seed = 0; seed < 1500; seed++) {
    const graph = randomGraph(12, seed);
    const optimum = chromaticNumber(graph);
    if (optimum > largestMaximalClique(graph)) aboveClique++;
    expect(solver.solve(graph)).toMatchObject({ value: optimum, bound: optimum, proven: true });
    for (const nodesMax of [0, 1, 2, 8]) {
      const cut = solver.solve(graph, nodesMax);
      expectSound(coloring, graph, cut, optimum);
      expect(cut.nodes).toBeLessThanOrEqual(nodesMax);
    }
  }
  expect(aboveClique).toBeGreaterThan(20);
});

/** Random graphs need more colours than their largest clique has vertices: the search must prove that. */
test("random graphs of 16 to 20 vertices match every colouring, whatever the vertices are called", () => {
  let aboveClique = 0;
  for (let seed = 0; seed < 200; seed++) {
    const rng = rngFor("random", seed);
    const graph = emptyGraph(rng.int(16, 20));
    joinRandomly(graph, 0.35 + 0.4 * rng.float(), rng);
    const optimum = chromaticNumber(graph);
    if (optimum > largestMaximalClique(graph)) aboveClique++;
    const solution = solver.solve(graph);
    expectSound(coloring, graph, solution, optimum);
    expect(solution.proven).toBe(true);
    const other = solver.solve(renamed(graph, randomOrder(graph.vertices, seed)));
    expect(other).toMatchObject({ value: optimum, proven: true });
    for (const nodesMax of [3, 10, 30]) expectSound(coloring, graph, solver.solve(graph, nodesMax), optimum);
  }
  expect(aboveClique).toBeGreaterThan(20);
});

/** No colouring has fewer colours than a clique has vertices: the list of all cliques proves the optimum on its own. */
test("benchmark graphs take as many colours as their largest clique, whatever the vertices are called", () => {
  for (let seed = 0; seed < 200; seed++) {
    const graph = drawBenchmark(coloring, seed);
    const solution = solver.solve(graph);
    expectSound(coloring, graph, solution, largestMaximalClique(graph));
    expect(solution.value).toBe(largestMaximalClique(graph));
    expect(solution.proven).toBe(true);
    expect(solver.solve(graph)).toEqual(solution);
    const other = solver.solve(renamed(graph, randomOrder(graph.vertices, seed)));
    expect(other).toMatchObject({ value: solution.value, proven: true });
  }
});

test("labels are 1, 2, …, each first used after all smaller ones", () => {
  for (let seed = 0; seed < 100; seed++) {
    const { answer, value } = solver.solve(randomGraph(20, seed));
    expect([...new Set(answer)]).toEqual(Array.from({ length: value }, (_, i) => i + 1));
  }
});

test("large graphs end, with a sound answer", () => {
  const sizes = { vertices_min: 200, vertices_max: 200, colors_min: 20, colors_max: 20 };
  const graph = draw(coloring, { ...sizes, density: 0.5 }, 1);
  const cut = solver.solve(graph, 5000);
  expectSound(coloring, graph, cut, 20);
  expect(cut).toMatchObject({ bound: 20, nodes: 5000 });
});
