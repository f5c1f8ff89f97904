import { expect, test } from "vitest";
import type { Solver } from "../../../../envs/environment.ts";
import { type IndexList as Subset, sumAt } from "../../../../envs/lib/parse-lists.ts";
import { rngFor, sample } from "../../../../envs/lib/rng.ts";
import type { SubsetSumInstance } from "../../../../envs/np/subset-sum/generate.ts";
import { subsetSum } from "../../../../envs/np/subset-sum/index.ts";
import { draw, drawBenchmark, levelOf, randomOrder } from "../draws.ts";
import { expectSound } from "../expect-sound.ts";
import { largestByTable, largestOfAll, meetInTheMiddle } from "./subset-methods.ts";
import { share } from "../../../support/share.ts";

const solver = subsetSum.solver as Solver<SubsetSumInstance, Subset>;

/** Few or many different numbers, and targets that sum up from none to all of them. */
function randomSubsetSum(seed: number): SubsetSumInstance {
  const rng = rngFor("subset-sum", seed);
  const largest = rng.pick([1, 3, 10, 50, 1000]);
  const numbers = Int32Array.from({ length: rng.int(1, 12) }, () => rng.int(1, largest));
  const planted = sample(numbers.length, rng.int(0, numbers.length), rng);
  return { target: sumAt(numbers, planted), numbers, planted };
}

/** The number at index i moved to order[i]. */
function renamed({ target, numbers, planted }: SubsetSumInstance, order: readonly number[]): SubsetSumInstance {
  const moved = new Int32Array(order.length);
  for (const [index, place] of order.entries()) moved[place] = numbers[index]!;
  return { target, numbers: moved, planted: planted.map((index) => order[index]!) };
}

test("instances of up to 12 numbers match every subset, with any budget", () => {
  for (let seed = 0; seed < share(1500); seed++) {
    const instance = randomSubsetSum(seed);
    const optimum = largestOfAll(instance);
    expect(solver.solve(instance)).toMatchObject({ value: optimum, bound: optimum, proven: true });
    for (const nodesMax of [0, 1, 2, 10]) {
      const cut = solver.solve(instance, nodesMax);
      expectSound(subsetSum, instance, cut, optimum);
      expect(cut.nodes).toBeLessThanOrEqual(nodesMax);
    }
  }
});

test("benchmark instances match two halves that meet, whatever the numbers' order", () => {
  for (let seed = 0; seed < share(1000); seed++) {
    const instance = drawBenchmark(subsetSum, seed);
    const solution = solver.solve(instance);
    expectSound(subsetSum, instance, solution, meetInTheMiddle(instance));
    expect(solution.proven).toBe(true);
    const other = solver.solve(renamed(instance, randomOrder(instance.numbers.length, seed)));
    expect(other).toMatchObject({ value: solution.value, proven: true });
  }
});

test("the table over all sums agrees, at every level and with larger numbers", () => {
  const larger = { ...levelOf(subsetSum, "benchmark"), numbers_min: 40, numbers_max: 60, value_max: 300 };
  for (const parameters of [...subsetSum.levels.map((level) => level.parameters), larger]) {
    for (let seed = 0; seed < share(100); seed++) {
      const instance = draw(subsetSum, parameters, seed + 5000);
      const solution = solver.solve(instance);
      expectSound(subsetSum, instance, solution, largestByTable(instance));
      expect(solution.proven).toBe(true);
      expect(solver.solve(instance)).toEqual(solution);
      for (const nodesMax of [0, 30, 200]) {
        expectSound(subsetSum, instance, solver.solve(instance, nodesMax), solution.value);
      }
    }
  }
});

test("where states run out, swaps find as many of 500 numbers as any sum allows", () => {
  for (const [value_min, value_max] of [
    [1, 100_000],
    [50_000, 100_000],
    [90_000, 100_000],
  ] as const) {
    for (let seed = 0; seed < 10; seed++) {
      const sizes = { numbers_min: 500, numbers_max: 500, planted_min: 200, planted_max: 300, value_min, value_max };
      const instance = draw(subsetSum, { ...levelOf(subsetSum, "benchmark"), ...sizes }, seed);
      const cut = solver.solve(instance, 1000);
      expectSound(subsetSum, instance, cut, cut.value);
      // Counts the smallest numbers that stay within the target together: no choice has more.
      let [count, sum] = [0, 0];
      for (const number of instance.numbers.toSorted()) if ((sum += number) <= instance.target) count++;
      expect(cut).toMatchObject({ value: count, bound: count });
    }
  }
});

test("large instances end, with a sound answer", () => {
  const sizes = { numbers_min: 500, numbers_max: 500, planted_min: 200, planted_max: 300, value_max: 100_000 };
  const instance = draw(subsetSum, { ...levelOf(subsetSum, "benchmark"), ...sizes }, 1);
  const cut = solver.solve(instance, 10_000);
  expectSound(subsetSum, instance, cut, cut.value);
  expect(cut.value).toBeGreaterThanOrEqual(instance.planted.length);
});
