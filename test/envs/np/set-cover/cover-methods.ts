/** Independent exact methods on set cover, to check the solver against. */
import { hasBit } from "../../../../envs/lib/bit-matrix.ts";
import type { BitMatrix } from "../../../../envs/lib/bit-matrix.ts";

/** The fewest subsets for each set of elements, subset by subset: 2^elements · subsets steps; up to 12 elements. */
export function coverByTable(subsets: BitMatrix): number {
  const full = 2 ** subsets.columns - 1;
  const fewest = new Float64Array(full + 1).fill(Infinity);
  fewest[0] = 0;
  for (let subset = 0; subset < subsets.rows; subset++) {
    let mask = 0;
    for (let e = 0; e < subsets.columns; e++) if (hasBit(subsets, subset, e)) mask |= 1 << e;
    for (let set = full; set >= 0; set--) {
      const next = set | mask;
      fewest[next] = Math.min(fewest[next]!, fewest[set]! + 1);
    }
  }
  return fewest[full]!;
}

/**
 * Returns for each count whether as many subsets suffice. The first uncovered element tries all subsets that contain
 * it.
 */
export function coverByDeepening(subsets: BitMatrix): number {
  const { rows, columns } = subsets;
  const members = Array.from({ length: rows }, (_, s) => {
    let mask = 0n;
    for (let e = 0; e < columns; e++) if (hasBit(subsets, s, e)) mask |= 1n << BigInt(e);
    return mask;
  });
  const all = (1n << BigInt(columns)) - 1n;
  const covers = (covered: bigint, left: number): boolean => {
    if (covered === all) return true;
    if (left === 0) return false;
    let e = 0;
    while ((covered >> BigInt(e)) & 1n) e++;
    return members.some((mask) => ((mask >> BigInt(e)) & 1n) === 1n && covers(covered | mask, left - 1));
  };
  let count = 1;
  while (!covers(0n, count)) count++;
  return count;
}
