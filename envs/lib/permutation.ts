/** Seeded permutations that are never written out: one place of one costs the same whatever the size. */
import { rngFor } from "./rng.ts";

const ROUNDS = 8;
const UINT32 = 2 ** 32;

/**
 * Where a permutation of 0 … size − 1, fixed by the key, takes a position; size is at most 2^32. A Feistel network over
 * the next even power of two permutes that; a value past the size is permuted again, which leaves a permutation of the
 * rest (cycle walking: Black and Rogaway, "Ciphers with arbitrary finite domains", 2002).
 */
export function permuted(size: number, position: number, ...key: readonly (string | number | bigint)[]): number {
  const rng = rngFor("permutation", size, ...key);
  const roundKeys = Array.from({ length: ROUNDS }, () => rng.int(0, UINT32 - 1));
  const half = 2 ** Math.ceil(Math.log2(Math.max(2, size)) / 2);
  let value = position;
  do value = feistel(value, half, roundKeys);
  while (value >= size);
  return value;
}

function feistel(value: number, half: number, roundKeys: readonly number[]): number {
  let left = Math.floor(value / half);
  let right = value % half;
  for (const roundKey of roundKeys) [left, right] = [right, (left + (mix(right ^ roundKey) % half)) % half];
  return left * half + right;
}

/** MurmurHash3's finaliser: each bit of the input moves about half of the output's. */
function mix(value: number): number {
  let h = value >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
