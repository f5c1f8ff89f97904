/**
 * Colour refinement (Weisfeiler and Leman, "The reduction of a graph to canonical form", 1968): a number that two
 * structures share if they differ only in how their nodes are numbered. In each round a node's colour is hashed with
 * the colours of its neighbours, whatever their order.
 *
 * Structures that differ otherwise may share a number too: some regular graphs do, and hashes of 32 bits collide. Who
 * uses it must not mind; splits do not, for it only puts two different tasks into one split.
 */
import { mix } from "./rng.ts";

export interface Structure {
  /** What each node is, apart from its number; 32 bits. */
  readonly colours: readonly number[];
  /** The edges, one after another: two nodes, and a whole number that says what joins them. */
  readonly edges: readonly number[];
}

/**
 * After three rounds a colour tells what lies within three edges of a node. Of 10,000 easy clique tasks, which are of
 * 2,518 classes, two rounds tell 2,392 apart, three 2,503 and four 2,508.
 */
const ROUNDS = 3;

/** Added before hashing, for 0 is hashed to 0: 2^32 over the golden ratio (Knuth, TAOCP, section 6.4). */
const STEP = 0x9e3779b9;

/** The same for two structures if a renumbering of the nodes makes one of the other: 8 hex digits. */
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

/** Odd, so that a neighbour's hash times the factor still tells the neighbour. */
function factorsOf(edges: readonly number[]): Int32Array {
  const factors = new Int32Array(edges.length / 3);
  for (let edge = 0; edge < factors.length; edge++) factors[edge] = mix(edges[3 * edge + 2]!) | 1;
  return factors;
}

/** A colour made of several numbers, in their order. */
export function colourOf(numbers: readonly number[]): number {
  let colour = numbers.length;
  for (const number of numbers) colour = mix(Math.imul(colour, 3) + number);
  return colour;
}
