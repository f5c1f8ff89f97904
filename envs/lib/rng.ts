/** Creates streams of pseudo-random numbers, and the keys that determine them. No other code does. */
import { hash } from "node:crypto";
import seedrandom from "seedrandom";

/** Stream of pseudo-random numbers. Its key determines all of them. */
export interface Rng {
  /** Returns an integer in [min, max], both included. The difference max − min must be below 2^32. */
  int(min: number, max: number): number;
  /** Returns a number in [0, 1), a multiple of 2^-32. */
  float(): number;
  /** Returns one of the items, each equally likely. The list must not be empty. */
  pick<T>(items: readonly T[]): T;
  /** Returns a shuffled copy. */
  shuffle<T>(items: readonly T[]): T[];
}

/**
 * Joins parts, each with its length, into the key of a random stream, so that different parts give different keys. The
 * key of a concatenated list is the concatenation of the keys.
 */
export function keyOf(...parts: readonly (string | number | bigint)[]): string {
  let key = "";
  for (const part of parts) {
    const text = `${typeof part}:${part}`;
    // The text of a number is ASCII, so that its length in characters is its length in bytes.
    key += `${typeof part === "string" ? Buffer.byteLength(text) : text.length}:${text};`;
  }
  return key;
}

/**
 * Returns the SHA-256 of the key of the parts, in hex. `seedrandom` gives equal streams for keys such as "1" and "11", so
 * every stream is seeded through this hash of fixed width.
 */
export function hashKey(...parts: readonly (string | number | bigint)[]): string {
  return hashOf(keyOf(...parts));
}

/**
 * Returns the SHA-256 of a text in hex. The whole text is hashed in one call, because a call for each part would cost
 * more than the hashing itself.
 */
function hashOf(key: string): string {
  return hash("sha256", key, "hex");
}

/** Returns a 64-bit seed (fixed64) that the parts determine: the first 8 bytes of the SHA-256 of their key. */
export function deriveSeed(...parts: readonly (string | number | bigint)[]): bigint {
  return BigInt(`0x${hashKey(...parts).slice(0, 16)}`);
}

/** Returns the random stream that these parts determine, e.g. ("np/tsp", 1, seed, attempt). */
export function rngFor(...parts: readonly (string | number | bigint)[]): Rng {
  return rngForKey(keyOf(...parts));
}

/** Returns the random stream of a key that `keyOf` built. */
export function rngForKey(key: string): Rng {
  const next = seedrandom.alea(hashOf(key));
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  const pick = <T>(items: readonly T[]): T => items[int(0, items.length - 1)] as T;
  const shuffle = <T>(items: readonly T[]): T[] => {
    const copy = [...items];
    for (let i = copy.length - 1; i > 0; i--) {
      const j = int(0, i);
      [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
    }
    return copy;
  };
  return { int, float: next, pick, shuffle };
}

// Returns `count` of the numbers 0 to size − 1, each at most once, in random order. All selections are equally
// likely.

export function sample(size: number, count: number, rng: Rng): readonly number[] {
  return rng.shuffle(Array.from({ length: size }, (_, i) => i)).slice(0, count);
}

// Number of rounds of the Feistel network, which computes seeded permutations without storing them. Looking up one
// position costs the same at any size.

const ROUNDS = 8;
const UINT32 = 2 ** 32;

/**
 * Maps a position by a permutation of 0 to size − 1 that the key fixes. The size is at most 2^32. A Feistel network
 * permutes the range up to the next even power of two. A value of size or more is permuted again (cycle walking: Black
 * and Rogaway, "Ciphers with arbitrary finite domains", 2002).
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

/**
 * Mixes the bits of a 32-bit integer (the finaliser of MurmurHash3): each input bit changes about half of the output
 * bits.
 */
export function mix(value: number): number {
  let h = value >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
