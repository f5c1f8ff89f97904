/**
 * Encodes bit matrices, graphs and lists of numbers as bytes that travel in task ids. A matrix has at most 255 rows and
 * columns.
 */
import type { InlineCodec } from "../environment.ts";
import { bitMatrix, type BitMatrix, hasBit, setBit } from "./bit-matrix.ts";
import { adjacent, emptyGraph, type Graph, join } from "./graph.ts";

/**
 * Maximum size, in bytes, of an encoded instance. A larger instance is not encoded. Each Step call then generates it
 * again from its seed, which costs little compared with parsing the answers.
 */
const INLINE_BYTES_MAX = 256;

/** Codec for graphs: the number of vertices, then a bit for each pair of vertices. */
export const inlineGraph: InlineCodec<Graph> = {
  encode(graph) {
    const { vertices } = graph;
    const bytes = bytesFor(1, (vertices * (vertices - 1)) / 2);
    if (bytes === undefined) return undefined;
    bytes[0] = vertices;
    let at = 8;
    for (let a = 0; a < vertices; a++) {
      for (let b = a + 1; b < vertices; b++, at++) if (adjacent(graph, a, b)) putBit(bytes, at);
    }
    return bytes;
  },
  decode(bytes) {
    const graph = emptyGraph(bytes[0] as number);
    let at = 8;
    for (let a = 0; a < graph.vertices; a++) {
      for (let b = a + 1; b < graph.vertices; b++, at++) if (isOne(bytes, at)) join(graph, a, b);
    }
    return graph;
  },
};

/** Codec for bit matrices: the numbers of rows and columns, then the rows. */
export const inlineBits: InlineCodec<BitMatrix> = {
  encode(matrix) {
    const { rows, columns } = matrix;
    const bytes = bytesFor(2, rows * columns);
    if (bytes === undefined) return undefined;
    bytes.set([rows, columns]);
    let at = 16;
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++, at++) if (hasBit(matrix, row, column)) putBit(bytes, at);
    }
    return bytes;
  },
  decode(bytes) {
    const matrix = bitMatrix(bytes[0] as number, bytes[1] as number);
    let at = 16;
    for (let row = 0; row < matrix.rows; row++) {
      for (let column = 0; column < matrix.columns; column++, at++) if (isOne(bytes, at)) setBit(matrix, row, column);
    }
    return matrix;
  },
};

/**
 * Allocates bytes for an encoded instance: `head` bytes for its sizes, and enough bytes for the given number of bits.
 * Returns undefined if the total exceeds INLINE_BYTES_MAX.
 */
function bytesFor(head: number, bits: number): Uint8Array | undefined {
  const length = head + Math.ceil(bits / 8);
  return length > INLINE_BYTES_MAX ? undefined : new Uint8Array(length);
}

function putBit(bytes: Uint8Array, at: number): void {
  bytes[at >>> 3] = (bytes[at >>> 3] as number) | (1 << (at & 7));
}

function isOne(bytes: Uint8Array, at: number): boolean {
  return (((bytes[at >>> 3] as number) >>> (at & 7)) & 1) === 1;
}

// Bit of a byte that says that the next byte belongs to the same number.

const MORE = 128;

/**
 * Encodes integers from 0 to 2^31 − 1 with seven bits a byte, lowest bits first. The eighth bit says that more bytes
 * follow. Returns undefined if the bytes exceed the maximum.
 */
export function encodeNumbers(numbers: Iterable<number>): Uint8Array | undefined {
  const bytes: number[] = [];
  for (const number of numbers) {
    let rest = number;
    for (; rest >= MORE; rest >>>= 7) bytes.push((rest & (MORE - 1)) | MORE);
    bytes.push(rest);
    if (bytes.length > INLINE_BYTES_MAX) return undefined;
  }
  return Uint8Array.from(bytes);
}

/** Decodes the output of `encodeNumbers`. */
export function decodeNumbers(bytes: Uint8Array): readonly number[] {
  const numbers: number[] = [];
  let number = 0;
  let shift = 0;
  for (const byte of bytes) {
    number |= (byte & (MORE - 1)) << shift;
    shift += 7;
    if (byte >= MORE) continue;
    numbers.push(number);
    number = 0;
    shift = 0;
  }
  return numbers;
}
