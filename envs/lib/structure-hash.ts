/**
 * Computes a hash that is equal for two structures that differ only in the numbering of their nodes. Uses colour
 * refinement (Weisfeiler and Leman, "The reduction of a graph to canonical form", 1968). Each round hashes a node's
 * colour with the colours of its neighbours, in any order. Different structures may share a hash: some regular graphs
 * do, and hashes of 32 bits collide. This is harmless for splits, because it only puts two different tasks into one
 * split.
 */
import { mix } from "./rng.ts";

export interface Structure {
  /** Kind of each node as a 32-bit number. Nodes of one kind are equal but for their edges. */
  readonly colours: readonly number[];
  /** Edges, one after another, each as three numbers: two nodes, and the kind of edge. */
  readonly edges: readonly number[];
}

/**
 * Number of rounds of colour refinement. After three rounds, a colour describes everything within three edges of a
 * node. A sample of 10,000 easy clique tasks has 2,518 graphs that differ in more than numbering. Two rounds tell 2,392
 * of them apart, three 2,503 and four 2,508.
 */
const ROUNDS = 3;

/** Constant added before hashing, because 0 hashes to 0: 2^32 over the golden ratio (Knuth, TAOCP, section 6.4). */
const STEP = 0x9e3779b9;

/**
 * Returns a hash of 8 hex digits that is equal for two structures if renumbering the nodes turns one into the other.
 */
export function refine({ colours, edges }: Structure): string {
  const now = Int32Array.from(colours);
  const hashes = new Int32Array(now.length);
  const sums = new Int32Array(now.length);
  const factors = factorsOf(edges);
  for (let round = 0; round < ROUNDS; round++) {
    for (let v = 0; v < now.length; v++) hashes[v] = mix(now[v]! + STEP);
    sums.fill(0);
    for (let at = 0, edge = 0; at < edges.length; at += 3, edge++) {
      const a = edges[at]!;
      const b = edges[at + 1]!;
      const factor = factors[edge]!;
      sums[a] = sums[a]! + Math.imul(hashes[b]!, factor);
      sums[b] = sums[b]! + Math.imul(hashes[a]!, factor);
    }
    for (let v = 0; v < now.length; v++) now[v] = mix(Math.imul(hashes[v]!, 3) + sums[v]!);
  }
  let total = now.length;
  for (const colour of now) total = (total + mix(colour + STEP)) | 0;
  return mix(total).toString(16).padStart(8, "0");
}

/**
 * Returns a factor for each edge, which depends on the kind of edge. A neighbour's hash is multiplied by it. Factors
 * are odd, so that the product still identifies the hash.
 */
function factorsOf(edges: readonly number[]): Int32Array {
  const factors = new Int32Array(edges.length / 3);
  for (let edge = 0; edge < factors.length; edge++) factors[edge] = mix(edges[3 * edge + 2]!) | 1;
  return factors;
}

/** Returns a colour made of several numbers, in their order. */
export function colourOf(numbers: readonly number[]): number {
  let colour = numbers.length;
  for (const number of numbers) colour = mix(Math.imul(colour, 3) + number);
  return colour;
}
