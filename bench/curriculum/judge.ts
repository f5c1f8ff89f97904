/** Judges policies: every one against every kind of students, beside equal shares on the same ones, with intervals. */
import type { SimulatedOutcome } from "../../server/simulation/simulated-outcome.ts";
import { bootstrap, type Interval, mean, median } from "../../server/simulation/statistics.ts";
import type { KindSet } from "./judged-kinds.ts";

/** Students of one kind under a policy and under equal shares, in pairs. */
export interface Played {
  readonly kind: string;
  readonly set: KindSet;
  readonly policy: string;
  readonly pairs: readonly { readonly policy: SimulatedOutcome; readonly uniform: SimulatedOutcome }[];
}

/** A figure with its 95% interval. */
export interface Figure extends Interval {
  readonly value: number;
}

export interface Judgement {
  readonly kind: string;
  readonly set: KindSet;
  readonly policy: string;
  readonly students: number;
  /** Students that even equal shares did not bring to the target in the time: they say nothing of the ratio. */
  readonly unreached: number;
  /**
   * Students that equal shares brought to the target and this policy did not, within twice the time of equal shares.
   */
  readonly lost: number;
  /** The median over the students of its rollouts to the target over those of equal shares. Infinity: most are lost. */
  readonly ratio: Figure;
  /** Mean difference of the score to that of equal shares, after twice the time of equal shares. */
  readonly late: Figure;
  /** Median rollouts of equal shares. */
  readonly uniformRollouts: number;
  /** Share of rollouts on arms that cannot be learnt. */
  readonly wasted: number;
  /** Share of groups that teach. */
  readonly useful: number;
}

type Pair = Played["pairs"][number];

function ratioOf({ policy, uniform }: Pair): number {
  return (policy.rolloutsToTarget ?? Infinity) / (uniform.rolloutsToTarget ?? NaN);
}

/** Returns a figure that is resampled by student. All policies of one kind are compared on the same resamples. */
function figure(kind: string, values: readonly number[], statistic: (values: readonly number[]) => number): Figure {
  const at = (places: readonly number[]): number => statistic(places.map((place) => values[place] ?? NaN));
  return { value: statistic(values), ...bootstrap(values.length, at, kind) };
}

export function judged({ kind, set, policy, pairs }: Played): Judgement {
  const reached = pairs.filter(({ uniform }) => uniform.rolloutsToTarget !== null);
  const ratios = reached.map(ratioOf);
  const lives = pairs.map((pair) => pair.policy);
  const differences = pairs.map((pair) => pair.policy.final - pair.uniform.final);
  return {
    kind,
    set,
    policy,
    students: pairs.length,
    unreached: pairs.length - reached.length,
    lost: ratios.filter((ratio) => ratio === Infinity).length,
    ratio: figure(kind, ratios, median),
    late: figure(kind, differences, mean),
    uniformRollouts: median(pairs.map(({ uniform }) => uniform.rolloutsToTarget ?? Infinity)),
    wasted: mean(lives.map(({ wasted }) => wasted)),
    useful: mean(lives.map(({ useful }) => useful)),
  };
}

/** Figures that the bar is about: one policy over all kinds of a set. */
export interface Overall {
  readonly policy: string;
  readonly set: KindSet;
  /** Median of the kinds' ratios. */
  readonly median: number;
  readonly worst: number;
  /** Highest upper end of an interval, and the kind that has it. */
  readonly upper: number;
  readonly worstKind: string;
  readonly lost: number;
  /** Smallest late difference, and the kind that has it. */
  readonly late: number;
  readonly lateKind: string;
  readonly meetsBar: boolean;
}

/**
 * The bar: the share of equal shares' rollouts that a policy may use, on the median kind, and at the upper end of the
 * interval on any kind.
 */
export const BAR = { median: 0.7, upper: 1.05 } as const;

function greatest<T>(items: readonly T[], of: (item: T) => number): T | undefined {
  let best = items[0];
  for (const item of items) if (best !== undefined && of(item) > of(best)) best = item;
  return best;
}

export function overall(judgements: readonly Judgement[], set: KindSet): readonly Overall[] {
  const here = judgements.filter((judgement) => judgement.set === set);
  return [...new Set(here.map(({ policy }) => policy))].map((policy) => {
    const of = here.filter((judgement) => judgement.policy === policy);
    const middle = median(of.map(({ ratio }) => ratio.value));
    const worst = greatest(of, ({ ratio }) => ratio.high);
    const latest = greatest(of, ({ late }) => -late.value);
    const upper = worst?.ratio.high ?? NaN;
    return {
      policy,
      set,
      median: middle,
      worst: Math.max(...of.map(({ ratio }) => ratio.value)),
      upper,
      worstKind: worst?.kind ?? "",
      lost: of.reduce((sum, { lost }) => sum + lost, 0),
      late: latest?.late.value ?? NaN,
      lateKind: latest?.kind ?? "",
      meetsBar: middle <= BAR.median && upper <= BAR.upper,
    };
  });
}
