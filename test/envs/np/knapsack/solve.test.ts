import { expect, test } from "vitest";
import type { Solver } from "../../../../envs/environment.ts";
import type { IndexList as Choice } from "../../../../envs/lib/parse-lists.ts";
import { rngFor } from "../../../../envs/lib/rng.ts";
import type { KnapsackInstance } from "../../../../envs/np/knapsack/generate.ts";
import { knapsack } from "../../../../envs/np/knapsack/index.ts";
import { resolveParameters } from "../../../../envs/parameters.ts";
import { draw, drawBenchmark, levelOf, randomOrder } from "../draws.ts";
import { expectSound } from "../expect-sound.ts";
import { bestByCapacity, bestOfAll, branchAndBound } from "./knapsack-methods.ts";
import { share } from "../../../support/share.ts";

const solver = knapsack.solver as Solver<KnapsackInstance, Choice>;

/** Items of every kind, some too heavy, and capacities from none to enough for all. */
function randomKnapsack(seed: number): KnapsackInstance {
  const rng = rngFor("knapsack", seed);
  const [largest, most] = [rng.pick([1, 5, 30, 1000]), rng.pick([1, 5, 30, 1000])];
  const weights = Int32Array.from({ length: rng.int(1, 11) }, () => rng.int(1, largest));
  const values = weights.map((weight) => rng.pick([rng.int(1, most), weight, weight + 1]));
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  return { capacity: rng.int(0, Math.ceil(all * rng.pick([0.3, 0.6, 1.1]))), weights, values };
}

/** Item i called order[i]. */
function renamed({ capacity, weights, values }: KnapsackInstance, order: readonly number[]): KnapsackInstance {
  const other = { capacity, weights: new Int32Array(order.length), values: new Int32Array(order.length) };
  for (const [item, name] of order.entries()) {
    other.weights[name] = weights[item]!;
    other.values[name] = values[item]!;
  }
  return other;
}

test("instances of up to 11 items match every choice, with any budget", () => {
  for (let seed = 0; seed < share(1000); seed++) {
    const instance = randomKnapsack(seed);
    const optimum = bestOfAll(instance);
    expect(solver.solve(instance)).toMatchObject({ value: optimum, bound: optimum, proven: true });
    for (const nodesMax of [0, 1, 2, 10]) {
      const cut = solver.solve(instance, nodesMax);
      expectSound(knapsack, instance, cut, optimum);
      expect(cut.nodes).toBeLessThanOrEqual(nodesMax);
    }
  }
});

test("benchmark instances match branch and bound, whatever the items are called", () => {
  for (let seed = 0; seed < share(1000); seed++) {
    const instance = drawBenchmark(knapsack, seed);
    const solution = solver.solve(instance);
    expectSound(knapsack, instance, solution, branchAndBound(instance));
    expect(solution.proven).toBe(true);
    const other = solver.solve(renamed(instance, randomOrder(instance.weights.length, seed)));
    expect(other).toMatchObject({ value: solution.value, proven: true });
  }
});

test("the table over all capacities agrees, at every level, and a spent budget leaves a bound close by", () => {
  for (const { name, parameters } of knapsack.levels) {
    for (let seed = 0; seed < share(100); seed++) {
      const instance = draw(knapsack, parameters, seed + 5000);
      const solution = solver.solve(instance);
      expectSound(knapsack, instance, solution, bestByCapacity(instance));
      expect(solver.solve(instance)).toEqual(solution);
      for (const nodesMax of [0, 1, 30, 200]) {
        const cut = solver.solve(instance, nodesMax);
        expectSound(knapsack, instance, cut, solution.value);
        // In the papers' code an item may weigh as much as half of the capacity, so that a first guess is further off.
        expect(cut.bound).toBeLessThan((name === "reference" ? 2 : 1.1) * cut.value);
      }
    }
  }
});

test("where the states run out the answer is no worse than the trivial one", () => {
  // All are worth the same for their weight, so that the order of the greedy choice says nothing.
  const sizes = { items_min: 500, items_max: 500, planted_max: 300, weight_min: 1, weight_max: 100_000 };
  const parameters = resolveParameters(knapsack, { ...sizes, ratio_min: 100 });
  if (parameters.kind !== "ok") throw new Error(parameters.message);
  let behind = 0;
  for (let seed = 0; seed < 40; seed++) {
    const instance = draw(knapsack, parameters.parameters, seed);
    const trivial = knapsack.trivial?.(instance) ?? NaN;
    const cut = solver.solve(instance, 100);
    expect(cut.value).toBeGreaterThanOrEqual(trivial);
    expectSound(knapsack, instance, cut, cut.value);
    if (!cut.proven && cut.value === trivial) behind++;
  }
  expect(behind).toBeGreaterThan(0);
});

test("large instances end, with a sound answer", () => {
  const sizes = { items_min: 500, items_max: 500, planted_min: 250, planted_max: 250, weight_max: 100_000 };
  const any = draw(knapsack, { ...levelOf(knapsack, "benchmark"), ...sizes }, 1);
  const whole = solver.solve(any);
  expect(whole.proven).toBe(true);
  expectSound(knapsack, any, whole, whole.value);
  // Worth as much as they weigh, a multiple of 1,000 but for the capacity: no choice fills it, and no bound says so.
  const weights = any.weights.map((weight) => 1000 * Math.ceil(weight / 1000));
  const hard = { capacity: 5_000_999, weights, values: weights };
  const cut = solver.solve(hard, 100_000);
  expectSound(knapsack, hard, cut, 5_000_000);
  expect(cut.proven).toBe(false);
});
