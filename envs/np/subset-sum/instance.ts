/** What a subset sum task is. */

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
