/** A cycle of the stated value, or none, and a bound that does not fall short of it. */
import { describe, expect, test } from "vitest";
import { adjacent, emptyGraph, type Graph, graphOf, neighbours, reachable } from "../../../../envs/lib/graph.ts";
import { type Rng, rngFor } from "../../../../envs/lib/rng.ts";
import { hamiltonian } from "../../../../envs/np/hamiltonian/index.ts";
import { solve } from "../../../../envs/np/hamiltonian/solve/index.ts";
import { explore } from "../../../../envs/np/hamiltonian/solve/search.ts";
import { has, searchSeparators, setOf } from "../../../../envs/np/hamiltonian/solve/separators.ts";
import { type Block, blocksOf, stateOf } from "../../../../envs/np/hamiltonian/solve/state.ts";
import { kinds, relabelled } from "./graphs.ts";
import { longestBySubsets } from "./subsets.ts";
import { share } from "../../../support/share.ts";

function expectSound(graph: Graph, { answer: cycle, value, bound, proven }: ReturnType<typeof solve>): void {
  expect(new Set(cycle).size).toBe(cycle.length);
  expect(cycle.length).toBe(value);
  if (value > 0) expect(value).toBeGreaterThanOrEqual(3);
  for (const [i, v] of cycle.entries()) expect(adjacent(graph, v, cycle[(i + 1) % cycle.length]!)).toBe(true);
  expect(bound).toBeGreaterThanOrEqual(value);
  expect(proven).toBe(bound === value);
}

function generated(level: string, seed: number): Graph {
  const { parameters } = hamiltonian.levels.find(({ name }) => name === level)!;
  return hamiltonian.generator!.generate(parameters, rngFor("test", level, seed))!;
}

describe.each(Object.entries(kinds))("%s", (name, draw) => {
  test("matches every subset up to 12 vertices, with any budget", () => {
    for (let seed = 0; seed < 50; seed++) {
      const graph = draw(3 + (seed % 10), rngFor("small", name, seed));
      const optimum = longestBySubsets(graph);
      const solution = solve(graph);
      expectSound(graph, solution);
      expect(solution).toMatchObject({ value: optimum, bound: optimum, proven: true });
      for (const nodesMax of [0, 1, 3]) {
        const cut = solve(graph, nodesMax);
        expectSound(graph, cut);
        expect(cut.nodes).toBeLessThanOrEqual(nodesMax);
        expect(cut.value).toBeLessThanOrEqual(optimum);
        expect(cut.bound).toBeGreaterThanOrEqual(optimum);
      }
    }
  });

  test("has one value whatever the vertices are called, at 30 of them", () => {
    for (let seed = 0; seed < 4; seed++) {
      const graph = draw(30, rngFor("large", name, seed));
      const solution = solve(graph, 300);
      const renamed = solve(relabelled(graph, seed), 300);
      expectSound(graph, solution);
      if (solution.proven && renamed.proven) expect(renamed.value).toBe(solution.value);
      expect(renamed.value).toBeLessThanOrEqual(solution.bound);
      expect(solution.value).toBeLessThanOrEqual(renamed.bound);
    }
  });
});

/** Returns the cycle that a search from the start finds if it looks only for cycles of more than `least` vertices. */
function searchAbove(graph: Graph, least: number): readonly number[] | undefined {
  const none = new Array<number>(least).fill(-1);
  const search = { incumbent: { cycle: none as readonly number[] }, nodesMax: 5000, nodes: 0, open: false };
  explore(search, stateOf(graph.adjacency), [...Array(graph.vertices).keys()]);
  expect(search.open).toBe(false);
  return search.incumbent.cycle === none ? undefined : search.incumbent.cycle;
}

describe("the search alone", () => {
  const parts = { vertices_min: 7, vertices_max: 13, density: 0.45, separators_min: 2, separators_max: 4 };
  const planted = { ...parts, surplus_min: 0, surplus_max: 2, part_max: 4 };
  const drawn = (_: number, rng: Rng): Graph => hamiltonian.generator?.generate(planted, rng) ?? emptyGraph(3);

  test.each([...Object.entries(kinds), ["planted", drawn] as const])("finds what is there: %s", (name, draw) => {
    for (let seed = 0; seed < (name === "planted" ? 150 : 30); seed++) {
      const graph = draw(3 + (seed % 9), rngFor("search", name, seed));
      const optimum = longestBySubsets(graph);
      for (const least of [0, optimum - 2, optimum - 1].filter((each) => each >= 0 && each < optimum)) {
        const cycle = searchAbove(graph, least);
        expect(cycle).toHaveLength(optimum);
        expect(hamiltonian.verify(graph, cycle!)).toEqual({ kind: "feasible", objective: optimum });
      }
      expect(searchAbove(graph, optimum)).toBeUndefined();
    }
  });
});

test("easy tasks match every subset", () => {
  let compared = 0;
  for (let seed = 0; compared < 40; seed++) {
    const graph = generated("easy", seed);
    if (graph.vertices > 16) continue;
    compared++;
    expect(solve(graph)).toMatchObject({ value: longestBySubsets(graph), proven: true });
  }
});

test.each(["easy", "medium", "hard", "benchmark"])(
  "every %s task is proven, and its value survives renaming",
  (level) => {
    for (let seed = 0; seed < share(150); seed++) {
      const graph = generated(level, seed);
      const solution = solve(graph);
      expectSound(graph, solution);
      expect(solution.proven).toBe(true);
      expect(solve(relabelled(graph, seed))).toMatchObject({ value: solution.value, proven: true });
    }
  },
);

/** Three edges at each vertex, no small set that separates much, and yet no cycle through all. */
const PETERSEN = graphOf([[1, 4, 5], [2, 6], [3, 7], [4, 8], [9], [7, 8], [8, 9], [9], [], []]);

test("where no separators prove it, a search does", () => {
  expect(solve(PETERSEN, 0)).toMatchObject({ value: 9, bound: 10, proven: false, nodes: 0 });
  expect(solve(PETERSEN).nodes).toBeGreaterThan(0);
});

test.each([
  ["the Petersen graph", PETERSEN, 9],
  ["two triangles at one vertex", graphOf([[1, 2, 3, 4], [2], [], [4], []]), 3],
  ["a path", graphOf([[1], [2], [3], []]), 0],
  ["a triangle", graphOf([[1, 2], [2], []]), 3],
  ["three paths between two vertices", graphOf([[1, 2, 3], [4], [4], [5], [], [4]]), 5],
])("%s", (_, graph, longest) => {
  const solution = solve(graph);
  expectSound(graph, solution);
  expect(solution).toMatchObject({ value: longest, proven: true });
});

/** The separators' bound, counted the plain way. */
function plainBound(graph: Graph, block: Block, separators: ReadonlySet<number>): number {
  const rest = new Set(block.filter((v) => !separators.has(v)));
  const inner = graphOf(
    Array.from({ length: graph.vertices }, (_, v) =>
      rest.has(v) ? neighbours(graph, v).filter((u) => rest.has(u)) : [],
    ),
  );
  const sizes: number[] = [];
  while (rest.size > 0) {
    const part = reachable(inner, [...rest][0]!);
    for (const v of part) rest.delete(v);
    sizes.push(part.length);
  }
  const kept = sizes.sort((a, b) => b - a).slice(0, Math.max(1, separators.size));
  return kept.reduce((sum, size) => sum + size, separators.size);
}

test("separators that anyone can check prove nearly every benchmark task", () => {
  let certified = 0;
  for (let seed = 0; seed < share(200); seed++) {
    const graph = generated("benchmark", seed);
    const { value } = solve(graph);
    const { words } = graph.adjacency;
    const bounds = blocksOf(graph.adjacency).map((block) => {
      const found = searchSeparators(graph.adjacency, setOf(block, words), value, 6);
      const bound = plainBound(graph, block, new Set(block.filter((v) => has(found.separators, v))));
      expect(bound).toBe(found.bound);
      return bound;
    });
    expect(Math.max(...bounds)).toBeGreaterThanOrEqual(value);
    if (Math.max(...bounds) === value) certified++;
  }
  expect(certified).toBeGreaterThanOrEqual(0.95 * share(200));
});
