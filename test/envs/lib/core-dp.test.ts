import { describe, expect, test } from "vitest";
import { type CoreProblem, type CoreResult, solveCore } from "../../../envs/lib/knapsack-core.ts";
import { rngFor } from "../../../envs/lib/rng.ts";
import { share } from "../../support/share.ts";

interface Item {
  readonly weight: number;
  readonly value: number;
}

/** Items of every kind: of few or many weights, worth the same per weight or not, and capacities from none to all. */
function randomItems(itemsMax: number, seed: number): { readonly items: readonly Item[]; readonly capacity: number } {
  const rng = rngFor("core", itemsMax, seed);
  const largest = rng.pick([1, 3, 10, 100, 100_000]);
  const kind = rng.pick(["any", "equal", "one", "near"] as const);
  const items = Array.from({ length: rng.int(0, itemsMax) }, () => {
    const weight = rng.int(1, largest);
    const values = { any: rng.int(1, largest), equal: 3 * weight, one: 1, near: weight + rng.int(0, 2) };
    return { weight, value: values[kind] };
  });
  const all = items.reduce((sum, { weight }) => sum + weight, 0);
  return { items, capacity: rng.int(0, Math.ceil(all * rng.pick([0.3, 0.7, 1.1]))) };
}

function problemOf(items: readonly Item[], capacity: number, exact: boolean): CoreProblem {
  const sorted = [...items].sort((a, b) => b.value * a.weight - a.value * b.weight);
  return { weights: sorted.map(({ weight }) => weight), values: sorted.map(({ value }) => value), capacity, exact };
}

/** The best of all subsets; −1: none fits exactly. */
function bestSubset({ weights, values, capacity, exact }: CoreProblem): number {
  let best = -1;
  const extend = (item: number, weight: number, value: number): void => {
    if (weight > capacity) return;
    if (item === weights.length) {
      if (!exact || weight === capacity) best = Math.max(best, value);
      return;
    }
    extend(item + 1, weight, value);
    extend(item + 1, weight + weights[item]!, value + values[item]!);
  };
  extend(0, 0, 0);
  return best;
}

function expectChoice({ weights, values, capacity, exact }: CoreProblem, { chosen, value }: CoreResult): void {
  const sum = (amounts: ArrayLike<number>): number => (chosen ?? []).reduce((all, item) => all + amounts[item]!, 0);
  expect(new Set(chosen).size).toBe(chosen?.length);
  expect(sum(values)).toBe(value);
  if (exact) expect(sum(weights)).toBe(capacity);
  else expect(sum(weights)).toBeLessThanOrEqual(capacity);
}

describe.each([
  ["within the capacity", false],
  ["of exactly the capacity", true],
])("%s", (_, exact) => {
  test("instances of up to 12 items match every subset, from any incumbent", () => {
    for (let seed = 0; seed < share(4000); seed++) {
      const { items, capacity } = randomItems(12, seed);
      const problem = problemOf(items, capacity, exact);
      const optimum = bestSubset(problem);
      const found = solveCore(problem, -1, Infinity);
      expect(found).toMatchObject({ value: optimum, bound: optimum });
      if (optimum >= 0) expectChoice(problem, found);
      const better = solveCore(problem, optimum, Infinity);
      expect(better).toMatchObject({ chosen: undefined, value: optimum, bound: optimum });
    }
  });

  test("instances stopped anywhere leave a bound that holds", () => {
    let open = 0;
    for (let seed = 0; seed < share(2000); seed++) {
      const { items, capacity } = randomItems(12, seed);
      const problem = problemOf(items, capacity, exact);
      const optimum = bestSubset(problem);
      for (const statesMax of [0, 1, 2, 6, 20]) {
        const cut = solveCore(problem, -1, statesMax);
        expect(cut.states).toBeLessThanOrEqual(statesMax);
        expect(cut.bound).toBeGreaterThanOrEqual(optimum);
        expect(cut.value).toBeLessThanOrEqual(optimum);
        if (cut.chosen !== undefined) expectChoice(problem, cut);
        if (cut.bound > cut.value) open++;
      }
    }
    expect(open).toBeGreaterThan(share(2000));
  });
});
