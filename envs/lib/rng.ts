/** The one place where random streams are made and their keys are built. */
import { hash } from "node:crypto";
import seedrandom from "seedrandom";

/** A stream of randomness. */
export interface Rng {
  /** A whole number in [min, max], both included; max − min < 2^32. */
  int(min: number, max: number): number;
  /** A number in [0, 1), a multiple of 2^-32. */
  float(): number;
  /** One item, evenly; items must not be empty. */
  pick<T>(items: readonly T[]): T;
  /** A shuffled copy. */
  shuffle<T>(items: readonly T[]): T[];
}

/** Parts with their lengths, injective in the parts. The key of a list is the keys of its pieces, one after the other. */
export function keyOf(...parts: readonly (string | number | bigint)[]): string {
  let key = "";
  for (const part of parts) {
    const text = `${typeof part}:${part}`;
    // Numbers are written in ASCII.
    key += `${typeof part === "string" ? Buffer.byteLength(text) : text.length}:${text};`;
  }
  return key;
}

/**
 * SHA-256 over the key of parts, in hex. seedrandom gives equal streams to keys such as "1" and "11", so no key reaches
 * it but through this: of fixed width, and injective in the parts.
 */
export function hashKey(...parts: readonly (string | number | bigint)[]): string {
  return hashOf(keyOf(...parts));
}

/** In one piece: an update for each part costs more than all the hashing. */
function hashOf(key: string): string {
  return hash("sha256", key, "hex");
}

/** A seed (fixed64) made of parts: the first 8 bytes of their hash. */
export function deriveSeed(...parts: readonly (string | number | bigint)[]): bigint {
  return BigInt(`0x${hashKey(...parts).slice(0, 16)}`);
}

/** The stream that belongs to these parts, e.g. ("np/tsp", 1, seed, attempt). */
export function rngFor(...parts: readonly (string | number | bigint)[]): Rng {
  return rngForKey(keyOf(...parts));
}

/** The same for parts whose key is known. */
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

// Some of the numbers 0 … size − 1, each once, in random order; every selection is as likely as any other.

export function sample(size: number, count: number, rng: Rng): readonly number[] {
  return rng.shuffle(Array.from({ length: size }, (_, i) => i)).slice(0, count);
}

// Seeded permutations that are never written out: one place of one costs the same whatever the size.

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
export function mix(value: number): number {
  let h = value >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
