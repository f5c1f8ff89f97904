/** What a subset sum task is. */
import type { InlineCodec } from "../../environment.ts";
import { decodeNumbers, encodeNumbers } from "../../lib/inline-numbers.ts";

/** Numbers at the indices 0 … n − 1, the same number perhaps at several. */
export interface SubsetSumInstance {
  readonly target: number;
  readonly numbers: Int32Array;
  /** Indices whose numbers sum up to the target: the way it was made. The prompt does not hold them. */
  readonly planted: readonly number[];
}

/** What the numbers at some indices sum up to. */
export function sumOf(numbers: Int32Array, indices: readonly number[]): number {
  let sum = 0;
  for (const index of indices) sum += numbers[index] as number;
  return sum;
}

/** The target, how many numbers there are, the numbers, and the indices planted. */
export const inline: InlineCodec<SubsetSumInstance> = {
  encode: ({ target, numbers, planted }) => encodeNumbers([target, numbers.length, ...numbers, ...planted]),
  decode: (bytes) => {
    const [target = 0, count = 0, ...rest] = decodeNumbers(bytes);
    return { target, numbers: Int32Array.from(rest.slice(0, count)), planted: rest.slice(count) };
  },
};
