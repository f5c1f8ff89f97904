/** The exact solver, in the environment's words. */
import type { Solution } from "../../../environment.ts";
import { type BitMatrix, onesOf } from "../../../lib/bit-matrix.ts";
import type { Graph } from "../../../lib/graph.ts";
import { type Rng, rngFor } from "../../../lib/rng.ts";
import type { Cycle } from "../verify.ts";
import { type Neighbours, rotate } from "./rotations.ts";
import { explore, type Search } from "./search.ts";
import { has, partsOf, searchSeparators, type Separation, setOf, sizeOf, type VertexSet } from "./separators.ts";
import { type Block, blocksOf, stateOf } from "./state.ts";

export interface CycleSolution {
  /** In the order they are visited; empty if the graph has no cycle. */
  readonly cycle: readonly number[];
  readonly value: number;
  /** No cycle has more vertices; equal to `value` when proven. */
  readonly bound: number;
  readonly proven: boolean;
  /** Branch-and-bound nodes searched. */
  readonly nodes: number;
}

export interface CycleOptions {
  /** Branch-and-bound nodes at most; 0 leaves the separators' bound. */
  readonly nodesMax?: number;
}

const STARTS = 4;
const STEPS_PER_VERTEX = 30;

/**
 * A longest cycle: rotations of paths against the bound of separators, and where the two do not meet, branch and bound.
 * Pure, and the same on every machine.
 */
export function longestCycle({ adjacency }: Graph, options: CycleOptions = {}): CycleSolution {
  const rng = rngFor("np/hamiltonian", "solve");
  const search: Search = {
    incumbent: { cycle: [] },
    nodesMax: options.nodesMax ?? nodesMaxDefault(adjacency.rows),
    nodes: 0,
    open: false,
  };
  const blocks = [...blocksOf(adjacency)].sort((a, b) => b.length - a.length);
  let bound = 0;
  for (const block of blocks) bound = Math.max(bound, tryBlock(adjacency, block, search, rng));
  if (search.incumbent.cycle.length < bound)
    explore(
      search,
      stateOf(adjacency),
      Array.from({ length: adjacency.rows }, (_, v) => v),
    );
  const { cycle } = search.incumbent;
  if (!search.open) bound = cycle.length;
  return { cycle, value: cycle.length, bound, proven: bound === cycle.length, nodes: search.nodes };
}

/** Looks for a long cycle in a block, and returns the block's bound. */
function tryBlock(adjacency: BitMatrix, block: Block, { incumbent }: Search, rng: Rng): number {
  const present = setOf(block, adjacency.words);
  const separation = searchSeparators(adjacency, present, incumbent.cycle.length, 1);
  const { bound } = separation;
  for (let start = 0; start < STARTS && incumbent.cycle.length < bound; start++) {
    // By turns where a cycle of the bound's length must lie, and in the whole block, which may have none.
    const neighbours = start % 2 === 0 ? tight(adjacency, present, separation, rng) : within(adjacency, present);
    const starts = block.filter((v) => neighbours[v]!.length > 1);
    if (starts.length === 0) continue;
    const found = rotate(neighbours, rng.pick(starts), STEPS_PER_VERTEX * block.length, bound, rng);
    if (found.length > incumbent.cycle.length) incumbent.cycle = found;
  }
  return bound;
}

function within(adjacency: BitMatrix, present: VertexSet): Neighbours {
  return Array.from({ length: adjacency.rows }, (_, v) =>
    has(present, v) ? Int32Array.from(onesOf(adjacency, v).filter((u) => has(present, u))) : new Int32Array(),
  );
}

/**
 * Where a cycle must lie to have as many vertices as the bound allows, if parts are left out: it visits the largest
 * parts, of equal ones any, and goes from a separator to a part each time, as there are as many paths as separators.
 */
function tight(adjacency: BitMatrix, present: VertexSet, { separators, surplus }: Separation, rng: Rng): Neighbours {
  if (surplus < 0) return within(adjacency, present);

  const parts = rng.shuffle(partsOf(adjacency, present, separators)).sort((a, b) => sizeOf(b) - sizeOf(a));
  const left = present.slice();
  for (const part of parts.slice(sizeOf(separators)))
    for (const [w, word] of part.entries()) left[w] = left[w]! & ~word;
  return within(adjacency, left).map((list, v) =>
    has(separators, v) ? list.filter((u) => !has(separators, u)) : list,
  );
}

/** A node costs about n³: this is about a second of CPU time, and no level needs a hundredth of it. */
function nodesMaxDefault(n: number): number {
  return Math.min(20_000, Math.floor(2.5e8 / n ** 3));
}

export function solve(graph: Graph, nodesMax?: number): Solution<Cycle> {
  const { cycle, ...rest } = longestCycle(graph, nodesMax === undefined ? {} : { nodesMax });
  return { answer: cycle, ...rest };
}

/** The objective of no cycle. */
export function trivial(): number {
  return 0;
}
