/** What one comparison may still spend: steps of about a microsecond, never time. Changed in place by who spends it. */
export interface Budget {
  left: number;
}

/** Steps of one comparison: some ten milliseconds on a slow core. */
export const STEPS_MAX = 8_000;

/** Takes steps; whether there were enough. */
export function spend(budget: Budget, steps: number): boolean {
  budget.left -= steps;
  return budget.left >= 0;
}

/** About how many bits a number has; exact to four. */
export function bitLength(value: bigint): number {
  if (BigInt.asIntN(64, value) === value) return value === 0n ? 0 : Math.ceil(Math.log2(Math.abs(Number(value)) + 1));
  return value.toString(16).length * 4;
}
