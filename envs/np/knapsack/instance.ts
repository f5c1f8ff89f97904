/** What a knapsack task is. */

/** Items 0 … n − 1, each at most once, within a capacity. */
export interface KnapsackInstance {
  readonly capacity: number;
  /** By item. */
  readonly weights: Int32Array;
  readonly values: Int32Array;
}

/** What some items sum up to, by weights or by values. */
export function total(amounts: Int32Array, items: readonly number[]): number {
  let sum = 0;
  for (const item of items) sum += amounts[item] as number;
  return sum;
}
