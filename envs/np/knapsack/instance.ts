/** What a knapsack task is. */
import type { InlineCodec } from "../../environment.ts";
import { decodeNumbers, encodeNumbers } from "../../lib/inline-numbers.ts";

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

/** The capacity, the weights, and as many values. */
export const inline: InlineCodec<KnapsackInstance> = {
  encode: ({ capacity, weights, values }) => encodeNumbers([capacity, ...weights, ...values]),
  decode: (bytes) => {
    const [capacity = 0, ...rest] = decodeNumbers(bytes);
    const amounts = Int32Array.from(rest);
    const count = amounts.length / 2;
    return { capacity, weights: amounts.slice(0, count), values: amounts.slice(count) };
  },
};
