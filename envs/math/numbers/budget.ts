/**
 * Steps that remain for comparing two answers. A step stands for about a microsecond of work, but no clock is read, so
 * results do not depend on the machine. The function `spend` changes the budget in place.
 */
export interface Budget {
  left: number;
}

/** Budget for comparing two answers, in steps. All of it takes about ten milliseconds on a slow core. */
export const STEPS_MAX = 8_000;

/** Takes steps from the budget. Returns false if the budget is exhausted. */
export function spend(budget: Budget, steps: number): boolean {
  budget.left -= steps;
  return budget.left >= 0;
}

/** Returns the bit length of a number. The result may be up to four bits too high. */
export function bitLength(value: bigint): number {
  if (BigInt.asIntN(64, value) === value) return value === 0n ? 0 : Math.ceil(Math.log2(Math.abs(Number(value)) + 1));
  return value.toString(16).length * 4;
}
