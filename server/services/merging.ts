/**
 * Update batches that are told as one. They are added up as they are read: a history has millions of numbers where both
 * the run is long and its arms are many.
 */
import type { HistoryEntry } from "../curriculum/core/history.ts";

export type BatchEntry = HistoryEntry & { readonly kind: "batch" };

export interface Merging {
  add(batch: BatchEntry): void;
  count(): number;
  /** The first one, in which counts are sums and the others means over those that have one; undefined: there is none. */
  entry(): BatchEntry | undefined;
}

/** A mean that grows. */
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

/** Adds numbers by arm to sums, which grow where a later batch has more arms. */
function addAll(sums: number[], numbers: readonly number[]): void {
  for (let arm = 0; arm < numbers.length; arm++) sums[arm] = (sums[arm] ?? 0) + (numbers[arm] as number);
}

/** Joins arms by their groups' numbers: what a batch has by arm it has by group then. */
export function joining(armGroups: readonly number[]): (entry: HistoryEntry) => HistoryEntry {
  const groups = Uint32Array.from(armGroups);
  const groupCount = 1 + groups.reduce((most, group) => Math.max(most, group), -1);
  const sums = (numbers: readonly number[]): number[] => {
    const joined = new Float64Array(groupCount);
    const armCount = Math.min(numbers.length, groups.length);
    for (let arm = 0; arm < armCount; arm++) {
      const group = groups[arm] as number;
      joined[group] = (joined[group] as number) + (numbers[arm] as number);
    }
    return Array.from(joined);
  };
  let [armCount, sizes] = [-1, [] as readonly number[]];
  return (entry) => {
    if (entry.kind !== "batch") return entry;
    const { probabilities, values, counts, rewardSums, rewardCounts } = entry;
    if (armCount !== values.length) [armCount, sizes] = [values.length, sums(values.map(() => 1))];
    const means = sums(values).map((sum, group) => sum / Math.max(1, sizes[group] as number));
    const joined = { probabilities: sums(probabilities), values: means, counts: sums(counts) };
    const rewards = { rewardSums: rewardSums && sums(rewardSums), rewardCounts: rewardCounts && sums(rewardCounts) };
    return { ...entry, ...joined, ...rewards };
  };
}

export function mergingOf(): Merging {
  let first: BatchEntry | undefined;
  let count = 0;
  let [prompts, released, useful, closed] = [0, 0, 0, true];
  const [reward, solved] = [meaning(), meaning()];
  const probabilities: number[] = [];
  const values: number[] = [];
  const counts: number[] = [];
  const [rewardSums, rewardCounts]: [number[], number[]] = [[], []];
  /** Batches that had so many arms, by how many: an arm that was added is in the later ones alone. */
  const sizes = new Map<number, number>();
  return {
    add(batch) {
      first ??= batch;
      count++;
      prompts += batch.prompts;
      released += batch.released;
      useful += batch.useful;
      closed &&= batch.closed;
      reward.add(batch.rewardMean);
      solved.add(batch.solvedShare);
      addAll(probabilities, batch.probabilities);
      addAll(values, batch.values);
      addAll(counts, batch.counts);
      addAll(rewardSums, batch.rewardSums ?? []);
      addAll(rewardCounts, batch.rewardCounts ?? []);
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
        probabilities: probabilities.map(mean),
        values: values.map(mean),
        counts,
        rewardSums,
        rewardCounts,
        prompts,
        released,
        useful,
        closed,
        rewardMean: reward.mean(),
        solvedShare: solved.mean(),
      };
    },
  };
}
