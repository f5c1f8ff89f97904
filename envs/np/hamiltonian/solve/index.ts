/** Finds longest cycles exactly, or with a bound if the nodes run out. */
import type { Solution } from "../../../environment.ts";
import { type BitMatrix, onesOf } from "../../../lib/bit-matrix.ts";
import type { Graph } from "../../../lib/graph.ts";
import { type Rng, rngFor } from "../../../lib/rng.ts";
import type { Cycle } from "../verify.ts";
import { type Neighbours, rotate } from "./rotations.ts";
import { explore, type Search } from "./search.ts";
import { has, partsOf, searchSeparators, type Separation, setOf, sizeOf, type VertexSet } from "./separators.ts";
import { type Block, blocksOf, stateOf } from "./state.ts";

const STARTS = 4;
const STEPS_PER_VERTEX = 30;
/** Maximum number of search nodes, about a second of CPU time. No level needs more than 20. */
const NODES_MAX = 200_000;

/**
 * Finds a longest cycle. Local search by rotations of a path finds cycles, and separators give a bound; branch and
 * bound runs if the two differ. The answer is empty if the graph has no cycle. With nodesMax = 0, the bound is that of
 * the separators. Results are the same on every machine.
 */
export function solve({ adjacency }: Graph, nodesMax = NODES_MAX): Solution<Cycle> {
  const rng = rngFor("np/hamiltonian", "solve");
  const search: Search = {
    incumbent: { cycle: [] },
    nodesMax,
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
  return { answer: cycle, value: cycle.length, bound, proven: bound === cycle.length, nodes: search.nodes };
}

/**
 * Searches a block (a part that no single vertex separates) for a long cycle. Returns an upper bound on the length of
 * the block's cycles.
 */
function tryBlock(adjacency: BitMatrix, block: Block, { incumbent }: Search, rng: Rng): number {
  const present = setOf(block, adjacency.words);
  const separation = searchSeparators(adjacency, present, incumbent.cycle.length, 1);
  const { bound } = separation;
  for (let start = 0; start < STARTS && incumbent.cycle.length < bound; start++) {
    // If `start` is even, use only the edges that a cycle as long as the bound may use, which may contain no cycle. If
    // it is odd, use the whole block.
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
 * Returns the edges that a cycle as long as the bound can use. Such a cycle visits the largest parts and leaves out the
 * others; of parts of equal size, random ones are kept. It has as many paths as separators, so every separator lies
 * between two parts and no edge joins two separators.
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

/** Returns the objective of the trivial answer, which has no cycle. */
export function trivial(): number {
  return 0;
}
