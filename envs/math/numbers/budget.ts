/**
 * Steps that one comparison may still spend. A step is about a microsecond of work, but no time is measured. `spend`
 * changes the budget in place.
 */
export interface Budget {
  left: number;
}

/** Steps of one comparison: some ten milliseconds on a slow core. */
export const STEPS_MAX = 8_000;

/** Spends steps. Returns whether the budget sufficed. */
export function spend(budget: Budget, steps: number): boolean {
  budget.left -= steps;
  return budget.left >= 0;
}

/** Returns the approximate number of bits of a number, at most four too many. */
export function bitLength(value: bigint): number {
  if (BigInt.asIntN(64, value) === value) return value === 0n ? 0 : Math.ceil(Math.log2(Math.abs(Number(value)) + 1));
  return value.toString(16).length * 4;
}
