import { describe, expect, test } from "vitest";
import { cornersOf } from "./corners.ts";
import { gapOf, instancesOf, solverOf } from "../../../bench/solvers/timed.ts";
import { synchronous } from "../every.ts";

/** Node limit at which each solver stops by default. Its other work is bounded too, but not counted in nodes. */
const NODES_MAX: Readonly<Record<string, number>> = {
  "np/bisection": 20_000,
  "np/clique": 150_000,
  "np/coloring": 500_000,
  "np/hamiltonian": 200_000,
  "np/independent-set": 150_000,
  "np/knapsack": 5_000_000,
  "np/meetings": 3_000_000,
  "np/set-cover": 170_000,
  "np/subset-sum": 5_000_000,
  "np/tsp": 1500,
};

const GAP_MAX = 0.1;
const SEEDS = 1;

/** Games have no sizes to grow: each of their levels is proven in test/envs/games. */
const problems = synchronous.filter(({ id }) => id.startsWith("np/"));

describe.each(problems)("the largest parameters of $id", (environment) => {
  test.each(cornersOf(environment))("$name", ({ parameters }) => {
    for (const instance of instancesOf(environment, parameters, SEEDS, 0)) {
      const solution = solverOf(environment).solve(instance);
      const { answer, value, bound, nodes } = solution;
      expect(environment.verify(instance, answer)).toEqual({ kind: "feasible", objective: value });
      expect(environment.goal === "minimize" ? value - bound : bound - value).toBeGreaterThanOrEqual(0);
      expect(gapOf(solution)).toBeLessThanOrEqual(GAP_MAX);
      expect(nodes).toBeLessThanOrEqual(NODES_MAX[environment.id]!);
    }
  });
});

test("every problem has corners, and some at each declared maximum of sizes", () => {
  for (const environment of problems) {
    const corners = cornersOf(environment);
    expect(corners.length).toBeGreaterThan(0);
    const [size] = (environment.generator?.parameters ?? []).filter(({ name }) => name.endsWith("_max"));
    expect(corners.some(({ parameters }) => parameters[size!.name] === size!.max)).toBe(true);
  }
});
