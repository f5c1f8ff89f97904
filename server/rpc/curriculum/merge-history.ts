/**
 * Merges several update batches of a run's history into one record. It adds each batch when it is read, because a long
 * history has millions of numbers.
 */
import type { HistoryEntry } from "../../curriculum/history.ts";
import { addLengths, type Lengths } from "../../curriculum/lengths.ts";

export type BatchEntry = HistoryEntry & { readonly kind: "batch" };

export interface Merging {
  add(batch: BatchEntry): void;
  count(): number;
  /**
   * Returns the merged record, a copy of the first batch with merged numbers. Counts and sums are added, other numbers
   * are averaged over the batches that have them, and `frontiers` is from the last batch. `solvedCounts` is left out if
   * a batch has none, because `rewardCounts` would then count more samples. Undefined: no batch was added.
   */
  entry(): BatchEntry | undefined;
}

/** Returns an object that computes the mean of added values. */
function meaning() {
  let sum = 0;
  let count = 0;
  return {
    add(value: number | undefined): void {
      if (value === undefined) return;
      sum += value;
      count++;
    },
    mean: (): number | undefined => (count === 0 ? undefined : sum / count),
  };
}

/** Adds one number for each arm to the sums. The sums grow if a later batch has more arms. */
function addAll(sums: number[], numbers: readonly number[]): void {
  for (let arm = 0; arm < numbers.length; arm++) sums[arm] = (sums[arm] ?? 0) + (numbers[arm] as number);
}

/**
 * Returns a function that replaces the lists with a number per arm, in a batch's record, by lists with a number per
 * group of arms. `armGroups` has each arm's group number.
 */
export function joining(armGroups: readonly number[]): (entry: HistoryEntry) => HistoryEntry {
  const groupCount = 1 + armGroups.reduce((most, group) => Math.max(most, group), -1);
  const sums = (numbers: readonly number[]): number[] => {
    const joined = new Array<number>(groupCount).fill(0);
    const armCount = Math.min(numbers.length, armGroups.length);
    for (let arm = 0; arm < armCount; arm++) joined[armGroups[arm]!]! += numbers[arm]!;
    return joined;
  };
  const greatest = (numbers: readonly number[]): number[] => {
    const joined = new Array<number>(groupCount).fill(0);
    for (const [arm, group] of armGroups.entries()) joined[group] = Math.max(joined[group]!, numbers[arm] ?? 0);
    return joined;
  };
  let [armCount, sizes] = [-1, [] as readonly number[]];
  return (entry) => {
    if (entry.kind !== "batch") return entry;
    const { probabilities, values, counts, rewardSums, rewardCounts, solvedCounts, frontiers } = entry;
    if (armCount !== values.length) [armCount, sizes] = [values.length, sums(values.map(() => 1))];
    const means = sums(values).map((sum, group) => sum / Math.max(1, sizes[group] as number));
    const joined = { probabilities: sums(probabilities), values: means, counts: sums(counts) };
    const rewards = {
      rewardSums: rewardSums && sums(rewardSums),
      rewardCounts: rewardCounts && sums(rewardCounts),
      solvedCounts: solvedCounts && sums(solvedCounts),
    };
    return { ...entry, ...joined, ...rewards, ...(frontiers && { frontiers: greatest(frontiers) }) };
  };
}

/** Lists in a batch's record that have one number for each arm. */
const BY_ARM = ["probabilities", "values", "counts", "rewardSums", "rewardCounts", "solvedCounts"] as const;
const TOTALS = ["prompts", "released", "useful"] as const;

export function mergingOf(): Merging {
  let first: BatchEntry | undefined;
  let count = 0;
  let [closed, haveSolved] = [true, true];
  let frontiers: BatchEntry["frontiers"];
  const totals = { prompts: 0, released: 0, useful: 0 };
  const [reward, solved] = [meaning(), meaning()];
  let lengths: Lengths | undefined;
  type Sums = Record<(typeof BY_ARM)[number], number[]>;
  const sums = Object.fromEntries(BY_ARM.map((name): [string, number[]] => [name, []])) as Sums;
  /** Number of batches for each number of arms. An arm that was added to the run occurs only in later batches. */
  const sizes = new Map<number, number>();
  return {
    add(batch) {
      first ??= batch;
      frontiers = batch.frontiers;
      count++;
      closed &&= batch.closed;
      haveSolved &&= batch.solvedCounts !== undefined;
      for (const name of TOTALS) totals[name] += batch[name];
      reward.add(batch.rewardMean);
      solved.add(batch.solvedShare);
      lengths = addLengths(lengths, batch.lengths);
      for (const name of BY_ARM) addAll(sums[name], batch[name] ?? []);
      sizes.set(batch.counts.length, (sizes.get(batch.counts.length) ?? 0) + 1);
    },
    count: () => count,
    entry() {
      if (first === undefined) return undefined;
      const having = (arm: number): number => {
        let batches = 0;
        for (const [arms, times] of sizes) if (arms > arm) batches += times;
        return batches;
      };
      const mean = (sum: number, arm: number): number => sum / having(arm);
      return {
        ...first,
        ...totals,
        ...sums,
        probabilities: sums.probabilities.map(mean),
        values: sums.values.map(mean),
        closed,
        solvedCounts: haveSolved ? sums.solvedCounts : undefined,
        ...(frontiers && { frontiers }),
        rewardMean: reward.mean(),
        solvedShare: solved.mean(),
        lengths,
      };
    },
  };
}
