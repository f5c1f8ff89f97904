/** Pairs the samples of two evaluations by task, to compare two models on the same tasks. */

/** Sample of an evaluation, as far as a comparison needs it. */
export interface PairSample {
  /** Part of the suite to which the task belongs. */
  readonly part: string;
  /** Hash of the task's instance, which equal tasks share. */
  readonly instance: string;
  /** Reward of the sample. Undefined: it has none. */
  readonly reward: number | undefined;
  readonly solved: boolean;
}

/** One model's samples of a task, added up. */
export interface PairSide {
  readonly samples: number;
  /** Number of samples that have a reward. */
  readonly rewarded: number;
  /** Sum of the rewards. */
  readonly reward: number;
  /** Number of samples with a reward that are solved. */
  readonly solved: number;
}

/** A task with the samples of both models. */
export interface TaskPair {
  readonly part: string;
  readonly instance: string;
  readonly sides: readonly [PairSide, PairSide];
}

/**
 * Models that solve a task with at least one sample: only the first, only the second, both, or neither. "unknown": a
 * model has no sample of the task with a reward.
 */
export type PairSolvers = "first" | "second" | "both" | "neither" | "unknown";

/** All values of PairSolvers, in the order in which they are shown. */
export const pairSolvers: readonly PairSolvers[] = ["first", "second", "both", "neither", "unknown"];

const EMPTY: PairSide = { samples: 0, rewarded: 0, reward: 0, solved: 0 };

function added(side: PairSide, { reward, solved }: PairSample): PairSide {
  if (reward === undefined) return { ...side, samples: side.samples + 1 };
  return {
    samples: side.samples + 1,
    rewarded: side.rewarded + 1,
    reward: side.reward + reward,
    solved: side.solved + Number(solved),
  };
}

/** Returns the tasks of two evaluations, each with both models' samples, in the order of their first samples. */
export function pairTasks(first: Iterable<PairSample>, second: Iterable<PairSample>): readonly TaskPair[] {
  const pairs = new Map<string, TaskPair>();
  const add = (sample: PairSample, isFirst: boolean): void => {
    const { part, instance } = sample;
    const key = `${part} ${instance}`;
    const [one, two] = pairs.get(key)?.sides ?? [EMPTY, EMPTY];
    pairs.set(key, { part, instance, sides: isFirst ? [added(one, sample), two] : [one, added(two, sample)] });
  };
  for (const sample of first) add(sample, true);
  for (const sample of second) add(sample, false);
  return [...pairs.values()];
}

/** Returns the mean reward of a model's samples of a task. Undefined: none has a reward. */
export function meanReward({ reward, rewarded }: PairSide): number | undefined {
  return rewarded === 0 ? undefined : reward / rewarded;
}

/** Returns the second model's mean reward less the first's. Undefined: a model has no sample with a reward. */
export function rewardGap({ sides: [first, second] }: TaskPair): number | undefined {
  const [one, two] = [meanReward(first), meanReward(second)];
  return one === undefined || two === undefined ? undefined : two - one;
}

export function solversOf({ sides: [first, second] }: TaskPair): PairSolvers {
  if (first.rewarded === 0 || second.rewarded === 0) return "unknown";
  if (first.solved > 0) return second.solved > 0 ? "both" : "first";
  return second.solved > 0 ? "second" : "neither";
}

/** Orders of tasks: by the absolute gap of mean rewards, or by how much better the first or the second model is. */
export type PairOrder = "gap" | "first" | "second";

/** Returns the pairs in an order, the greatest difference first. Pairs without a gap are treated as equal. */
export function orderPairs(pairs: readonly TaskPair[], order: PairOrder): readonly TaskPair[] {
  const worth = (pair: TaskPair): number => {
    const gap = rewardGap(pair) ?? 0;
    return order === "gap" ? Math.abs(gap) : order === "second" ? gap : -gap;
  };
  return pairs
    .map((pair) => ({ pair, worth: worth(pair) }))
    .sort((a, b) => b.worth - a.worth)
    .map(({ pair }) => pair);
}
