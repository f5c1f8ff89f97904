/** Independent exact methods on subset sum, to check the solver against. */
import type { SubsetSumInstance } from "../../../../envs/np/subset-sum/generate.ts";

/** The largest of all subsets that sum up to the target: 2^numbers steps. */
export function largestOfAll({ target, numbers }: SubsetSumInstance): number {
  let largest = -1;
  const extend = (index: number, sum: number, count: number): void => {
    if (index === numbers.length) {
      if (sum === target) largest = Math.max(largest, count);
      return;
    }
    extend(index + 1, sum, count);
    extend(index + 1, sum + numbers[index]!, count + 1);
  };
  extend(0, 0, 0);
  return largest;
}

/** Each sum of one half meets its complement of the other (Horowitz and Sahni 1974): 2^(numbers/2) sums each. */
export function meetInTheMiddle({ target, numbers }: SubsetSumInstance): number {
  const middle = numbers.length >> 1;
  const [left, right] = [countBySum(numbers.slice(0, middle)), countBySum(numbers.slice(middle))];
  let largest = -1;
  for (const [sum, count] of left) {
    const other = right.get(target - sum);
    if (other !== undefined) largest = Math.max(largest, count + other);
  }
  return largest;
}

/** The largest count for every sum of some numbers. */
function countBySum(numbers: Int32Array): Map<number, number> {
  const counts = new Map([[0, 0]]);
  for (const number of numbers) {
    for (const [sum, count] of [...counts]) {
      counts.set(sum + number, Math.max(counts.get(sum + number) ?? 0, count + 1));
    }
  }
  return counts;
}

/** The textbook's table: the largest count for each sum up to the target. */
export function largestByTable({ target, numbers }: SubsetSumInstance): number {
  const largest = new Float64Array(target + 1).fill(-Infinity);
  largest[0] = 0;
  for (const number of numbers) {
    for (let sum = target; sum >= number; sum--) largest[sum] = Math.max(largest[sum]!, largest[sum - number]! + 1);
  }
  return largest[target]!;
}
