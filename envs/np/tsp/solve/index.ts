import { scaleInstance } from "./instance.ts";
import { prove } from "./proof.ts";
import { openProof } from "./root.ts";
import type { Tour } from "./tour.ts";

export interface TspSolution {
  /** Every city once, from city 0; the way back is left out. */
  readonly tour: readonly number[];
  readonly value: number;
  /** No tour is shorter than this; equal to `value` when proven. */
  readonly bound: number;
  readonly proven: boolean;
  /** Branch-and-bound nodes searched. */
  readonly nodes: number;
}

export interface TspOptions {
  /** Branch-and-bound nodes at most; 0 leaves the root's bound. By default 20,000, and fewer above 54 cities. */
  readonly nodesMax?: number;
}

/**
 * A shortest closed tour through a symmetric matrix of integers from 0 to 1e6, at least 3
 * cities: local search for a tour, 1-tree ascent for a bound (Held and Karp 1971), then
 * branch and bound on the edges that the bound leaves. Pure, and the same on every machine.
 */
export function solveTsp(distances: readonly (readonly number[])[], options: TspOptions = {}): TspSolution {
  const instance = scaleInstance(distances);
  const p = openProof(instance, options.nodesMax ?? nodesMaxDefault(instance.n));
  prove(p);
  const value = p.upper / instance.scale;
  return { tour: fromZero(p.local.tour), value, bound: p.bound, proven: p.bound === value, nodes: p.nodes };
}

function fromZero(tour: Tour): number[] {
  const start = tour.at[0]!;
  return Array.from(tour.city, (_, k) => tour.city[(start + k) % tour.n]!);
}

/** A node costs about n²; this keeps 200 cities to seconds; benchmark level took 73 of 19,834 at most. */
function nodesMaxDefault(n: number): number {
  return Math.min(20_000, Math.floor(6e7 / (n * n)));
}
