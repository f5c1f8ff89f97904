/** Blocks: what no single vertex can separate. Every cycle lies within one. */
import { onesOf } from "../../../lib/bit-matrix.ts";
import type { BitMatrix } from "../../../lib/bit-matrix.ts";

export type Block = readonly number[];

interface Walk {
  readonly adjacency: BitMatrix;
  /** When each vertex was reached, from 1 on; 0: not yet. */
  readonly reached: Int32Array;
  /** The earliest vertex that an edge from below each vertex leads back to. */
  readonly low: Int32Array;
  readonly stack: number[];
  readonly blocks: Block[];
  time: number;
}

/** The blocks of at least three vertices, by depth-first search (Hopcroft and Tarjan 1973). */
export function blocksOf(adjacency: BitMatrix): readonly Block[] {
  const n = adjacency.rows;
  const walk: Walk = { adjacency, reached: new Int32Array(n), low: new Int32Array(n), stack: [], blocks: [], time: 0 };
  for (let v = 0; v < n; v++) if (walk.reached[v] === 0) visit(walk, v, -1);
  return walk.blocks;
}

function visit(walk: Walk, v: number, from: number): void {
  const { reached, low, stack } = walk;
  reached[v] = low[v] = ++walk.time;
  stack.push(v);
  for (const u of onesOf(walk.adjacency, v)) {
    if (u === from) continue;
    if (reached[u]! > 0) {
      low[v] = Math.min(low[v], reached[u]!);
      continue;
    }
    visit(walk, u, v);
    low[v] = Math.min(low[v], low[u]!);
    // Nothing below u leads back above v: what lies above u on the stack is a block with v.
    if (low[u]! < reached[v]) continue;
    const block = [v, ...stack.splice(stack.indexOf(u))];
    if (block.length >= 3) walk.blocks.push(block);
  }
}
