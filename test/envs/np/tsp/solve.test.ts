import { describe, expect, test } from "vitest";
import { solve } from "../../../../envs/np/tsp/solve/index.ts";
import { bruteForce, heldKarp } from "./held-karp.ts";
import { kinds, type Matrix, randomOf, relabelled, shuffled, uniform } from "./instances.ts";

function lengthOf(distances: Matrix, tour: readonly number[]): number {
  return tour.reduce((sum, city, k) => sum + distances[city]![tour[(k + 1) % tour.length]!]!, 0);
}

/** Solves the instance whose distances a symmetric matrix holds. */
function solveMatrix(matrix: Matrix, nodesMax?: number): ReturnType<typeof solve> {
  const distances = Int32Array.from(matrix.flatMap((row, from) => row.slice(from + 1)));
  return solve({ cities: matrix.length, distances }, nodesMax);
}

/** A tour of the stated value, and a bound that does not exceed it. */
function expectSound(distances: Matrix, solution: ReturnType<typeof solve>): void {
  expect(solution.answer[0]).toBe(0);
  expect([...solution.answer].sort((a, b) => a - b)).toEqual(distances.map((_, city) => city));
  expect(lengthOf(distances, solution.answer)).toBe(solution.value);
  expect(Number.isInteger(solution.bound)).toBe(true);
  expect(solution.bound).toBeLessThanOrEqual(solution.value);
  expect(solution.proven).toBe(solution.bound === solution.value);
}

function benchmark(seed: number): Matrix {
  const random = randomOf(seed);
  return uniform(45 + random(11), 1, 100, random);
}

describe.each(Object.entries(kinds))("distances %s", (_, draw) => {
  test("match every permutation up to 8 cities", () => {
    const random = randomOf(1);
    for (let k = 0; k < 60; k++) {
      const distances = draw(3 + (k % 6), random);
      const solution = solveMatrix(distances);
      expectSound(distances, solution);
      expect(solution.proven).toBe(true);
      expect(solution.value).toBe(bruteForce(distances));
    }
  });

  test("match dynamic programming at 9 to 13 cities, with any budget", () => {
    const random = randomOf(2);
    for (let k = 0; k < 25; k++) {
      const distances = draw(9 + (k % 5), random);
      const optimum = heldKarp(distances);
      expect(solveMatrix(distances)).toMatchObject({ value: optimum, bound: optimum, proven: true });
      for (const nodesMax of [0, 1, 2, 5]) {
        const cut = solveMatrix(distances, nodesMax);
        expectSound(distances, cut);
        expect(cut.nodes).toBeLessThanOrEqual(nodesMax);
        expect(cut.bound).toBeLessThanOrEqual(optimum);
        expect(cut.value).toBeGreaterThanOrEqual(optimum);
      }
    }
  });

  test("are solved at 40 cities, whatever the cities are called", () => {
    const random = randomOf(3);
    for (let k = 0; k < 4; k++) {
      const distances = draw(40, random);
      const solution = solveMatrix(distances);
      const renamed = solveMatrix(relabelled(distances, shuffled(40, random)));
      expectSound(distances, solution);
      expect(solution.proven).toBe(true);
      expect(renamed).toMatchObject({ value: solution.value, proven: true });
    }
  });
});

test("every benchmark instance is proven, and its value survives renaming", () => {
  for (let seed = 1; seed <= 150; seed++) {
    const distances = benchmark(seed);
    const solution = solveMatrix(distances);
    expectSound(distances, solution);
    expect(solution.proven).toBe(true);
    const renamed = relabelled(distances, shuffled(distances.length, randomOf(-seed)));
    expect(solveMatrix(renamed)).toMatchObject({ value: solution.value, proven: true });
  }
});

test("a spent budget leaves a certified bound at benchmark size", () => {
  let open = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const distances = benchmark(seed);
    const optimum = solveMatrix(distances).value;
    for (const nodesMax of [0, 1, 3, 10]) {
      const cut = solveMatrix(distances, nodesMax);
      expectSound(distances, cut);
      expect(cut.bound).toBeLessThanOrEqual(optimum);
      expect(cut.bound).toBeGreaterThan(0.8 * optimum);
      expect(cut.nodes).toBeLessThanOrEqual(nodesMax);
      if (!cut.proven) open++;
    }
  }
  expect(open).toBeGreaterThan(20);
});

test("the same matrix gives the same answer, tour and node count included", () => {
  for (let seed = 1; seed <= 20; seed++) expect(solveMatrix(benchmark(seed))).toEqual(solveMatrix(benchmark(seed)));
});

test("obstacles among ties are found: these took over 20,000 nodes before branches were blamed", () => {
  const random = randomOf(4);
  for (let k = 0; k < 100; k++) expect(solveMatrix(uniform(52, 1, 10, random)).proven).toBe(true);
});

test("three and four cities", () => {
  const distances = [
    [0, 1, 2, 9],
    [1, 0, 9, 2],
    [2, 9, 0, 1],
    [9, 2, 1, 0],
  ];
  expect(solveMatrix(distances)).toMatchObject({ value: 6, bound: 6, proven: true });
  expect(
    solveMatrix([
      [0, 5, 6],
      [5, 0, 7],
      [6, 7, 0],
    ]),
  ).toMatchObject({ value: 18, bound: 18, proven: true, nodes: 0 });
});

test("large instances end, with a sound answer", () => {
  for (const n of [120, 200]) {
    const distances = kinds["1 to 100"]!(n, randomOf(n));
    expectSound(distances, solveMatrix(distances));
    const plane = kinds["Euclidean 1000"]!(n, randomOf(n));
    expectSound(plane, solveMatrix(plane, 50));
  }
});
