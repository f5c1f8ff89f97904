/** Solves bisection exactly, or with a bound if the search reaches its limits. */
import type { Solution } from "../../../environment.ts";
import { rngFor } from "../../../lib/rng.ts";
import { type BisectionInstance, cutWeight } from "../generate.ts";
import type { Sides } from "../verify.ts";
import { relaxationOf, rootBound } from "./bound.ts";
import { cutOf, nodeOf, type Problem, problemOf } from "./problem.ts";
import { explore, searchOf } from "./search.ts";
import { searchTabu } from "./tabu.ts";

/**
 * Finds a lightest cut into two sides whose sizes differ by at most one. Combines tabu search for the cut, a
 * semidefinite bound, and branch and bound on the vertices that the bound leaves undecided. Results are the same on
 * every machine: only floating-point operations that IEEE 754 rounds correctly are used. With nodesMax = 0, the bound
 * is that of the root.
 */
export function solve(instance: BisectionInstance, nodesMax?: number): Solution<Sides> {
  const problem = problemOf(instance);
  const rng = rngFor("np/bisection", "solve");
  const relaxation = relaxationOf(problem, rng);
  const search = searchOf(problem, relaxation, searchTabu(problem, rng), nodesMax ?? nodesMaxDefault(problem.n));
  const root = rootSpins(problem);
  if (search.best.agreement < problem.total) explore(search, root);
  const { spins, agreement } = search.best;
  const value = cutOf(problem, agreement);
  const bound = search.open ? rootBound(relaxation, nodeOf(problem, root), 0, value) : value;
  const vertices = Array.from({ length: instance.vertices }, (_, v) => v);
  // Put the side of vertex 0 first.
  const [first] = spins;
  const answer: Sides = [vertices.filter((v) => spins[v] === first), vertices.filter((v) => spins[v] !== first)];
  return { answer, value, bound, proven: bound === value, nodes: search.nodes };
}

/**
 * Returns spins (sides, 1 or −1) in which only the vertex with the heaviest edges is decided; all others are 0. The
 * sides are interchangeable, so that the side of this vertex may be chosen freely.
 */
export function rootSpins({ n, degree }: Problem): Int8Array {
  const spins = new Int8Array(n);
  spins[degree.indexOf(Math.max(...degree))] = 1;
  return spins;
}

/**
 * Returns the default maximum number of search nodes, which instances of up to 52 vertices never reach. The work within
 * the nodes has a limit of its own.
 */
function nodesMaxDefault(n: number): number {
  return Math.min(20_000, Math.floor(4e7 / (n * n)));
}

/** Returns the cut's weight if the first half of the vertices is one side and the second half the other. */
export function trivial(instance: BisectionInstance): number {
  const half = Math.ceil(instance.vertices / 2);
  return cutWeight(
    instance,
    Array.from({ length: instance.vertices }, (_, v) => Number(v < half)),
  );
}
