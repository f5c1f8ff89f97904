/**
 * Computes the digest of a loaded pool. The digest changes if the rows change, or their numbers in the file, their
 * levels or their splits.
 */
import { createHash } from "node:crypto";
import type { Pool } from "../../envs/pool.ts";

const DIGITS = 16;

const known = new WeakMap<Pool, string>();

/** Returns 16 hex digits, equal for pools with the same rows in the same order. */
export function poolDigest(pool: Pool): string {
  const found = known.get(pool);
  if (found !== undefined) return found;
  const hash = createHash("sha256").update(pool.environment);
  const { rows, hashes, groups } = pool.columns;
  for (const { buffer, byteOffset, byteLength } of [rows, hashes, groups])
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  const digest = hash.digest("hex").slice(0, DIGITS);
  known.set(pool, digest);
  return digest;
}
