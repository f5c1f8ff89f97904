/** The exact solver, in the environment's words. */
import type { Solution } from "../../../environment.ts";
import { rngFor } from "../../../lib/rng.ts";
import { type BisectionInstance, cutWeight } from "../generate.ts";
import type { Sides } from "../verify.ts";
import { relaxationOf, rootBound } from "./bound.ts";
import { cutOf, nodeOf, type Problem, problemOf } from "./problem.ts";
import { explore, searchOf } from "./search.ts";
import { searchTabu } from "./tabu.ts";

export interface BisectionSolution {
  /** The side of each vertex: 1 or −1. */
  readonly spins: Int8Array;
  readonly value: number;
  /** No cut is lighter than this; equal to `value` when proven. */
  readonly bound: number;
  readonly proven: boolean;
  /** Branch-and-bound nodes searched. */
  readonly nodes: number;
}

export interface BisectionOptions {
  /** Branch-and-bound nodes at most; 0 leaves the root's bound. */
  readonly nodesMax?: number;
}

/**
 * A lightest cut into two sides whose sizes differ by at most one: tabu search for the cut, a semidefinite bound, and
 * branch and bound on the vertices that it leaves between the sides. Pure, and the same on every machine: of floating
 * point it uses only what IEEE 754 rounds correctly.
 */
export function solveBisection(instance: BisectionInstance, options: BisectionOptions = {}): BisectionSolution {
  const problem = problemOf(instance);
  const rng = rngFor("np/bisection", "solve");
  const relaxation = relaxationOf(problem, rng);
  const nodesMax = options.nodesMax ?? nodesMaxDefault(problem.n);
  const search = searchOf(problem, relaxation, searchTabu(problem, rng), nodesMax);
  const root = rootSpins(problem);
  if (search.best.agreement < problem.total) explore(search, root);
  const { spins, agreement } = search.best;
  const value = cutOf(problem, agreement);
  const bound = search.open ? rootBound(relaxation, nodeOf(problem, root), value) : value;
  return { spins: spins.slice(0, instance.vertices), value, bound, proven: bound === value, nodes: search.nodes };
}

/** Sides have no names, so that one vertex may be decided: the one with the heaviest edges. */
export function rootSpins({ n, degree }: Problem): Int8Array {
  const spins = new Int8Array(n);
  spins[degree.indexOf(Math.max(...degree))] = 1;
  return spins;
}

/** Never reached at 52 vertices; what nodes cost is limited apart from their count. */
function nodesMaxDefault(n: number): number {
  return Math.min(20_000, Math.floor(4e7 / (n * n)));
}

export function solve(instance: BisectionInstance, nodesMax?: number): Solution<Sides> {
  const { spins, ...rest } = solveBisection(instance, nodesMax === undefined ? {} : { nodesMax });
  const vertices = Array.from({ length: instance.vertices }, (_, v) => v);
  // The side of vertex 0 comes first.
  const [first] = spins;
  const sides: Sides = [vertices.filter((v) => spins[v] === first), vertices.filter((v) => spins[v] !== first)];
  return { answer: sides, ...rest };
}

/** The objective of the first half of the vertices against the second. */
export function trivial(instance: BisectionInstance): number {
  const half = Math.ceil(instance.vertices / 2);
  return cutWeight(
    instance,
    Array.from({ length: instance.vertices }, (_, v) => Number(v < half)),
  );
}
