/**
 * Finds two sides by tabu search over swaps of two vertices, without a bound. The papers' public code instead uses
 * simulated annealing over such swaps until a time limit.
 */
import { rngFor } from "../../lib/rng.ts";
import type { BisectionInstance } from "./generate.ts";
import { problemOf } from "./solve/problem.ts";
import { searchTabu } from "./solve/tabu.ts";
import type { Sides } from "./verify.ts";

export function heuristic(instance: BisectionInstance): Sides {
  const { spins } = searchTabu(problemOf(instance), rngFor("np/bisection", "heuristic"));
  const vertices = Array.from({ length: instance.vertices }, (_, v) => v);
  return [vertices.filter((v) => spins[v] === 1), vertices.filter((v) => spins[v] !== 1)];
}
