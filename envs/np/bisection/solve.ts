/** The exact solver, in the environment's words. */
import type { Solver } from "../../environment.ts";
import { cutWeight } from "./instance.ts";
import type { BisectionInstance } from "./instance.ts";
import type { Sides } from "./parse.ts";
import { solveBisection } from "./solve/index.ts";

export const solver: Solver<BisectionInstance, Sides> = {
  solve(instance, nodesMax) {
    const { spins, ...rest } = solveBisection(instance, nodesMax === undefined ? {} : { nodesMax });
    const vertices = Array.from({ length: instance.vertices }, (_, v) => v);
    // The side of vertex 0 comes first.
    const [first] = spins;
    const sides: Sides = [vertices.filter((v) => spins[v] === first), vertices.filter((v) => spins[v] !== first)];
    return { answer: sides, ...rest };
  },
  /** The first half of the vertices against the second. */
  trivial: (instance) => {
    const half = Math.ceil(instance.vertices / 2);
    return cutWeight(
      instance,
      Array.from({ length: instance.vertices }, (_, v) => Number(v < half)),
    );
  },
};
