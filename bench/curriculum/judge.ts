/** Judges policies: every one against every student, with intervals. */
import type { Life } from "../../server/curriculum/simulation/life.ts";
import { bootstrap, type Interval, mean, median } from "../../server/curriculum/simulation/statistics.ts";

/** Lives of one policy under the students of one family, in the order of the seeds. */
export interface Played {
  readonly student: string;
  readonly policy: string;
  readonly lives: readonly Life[];
}

/** A figure with its 95% interval. */
export interface Figure extends Interval {
  readonly value: number;
}

export interface Judgement {
  readonly student: string;
  readonly policy: string;
  readonly seeds: number;
  /** Runs that never arrived. */
  readonly lost: number;
  /** Median over the seeds; Infinity where most are lost. */
  readonly rollouts: Figure;
  /** Median rollouts over uniform's. Infinity: the policy's are lost. NaN: both are. */
  readonly ratio: Figure;
  readonly final: Figure;
  /** Mean over the run of how far the score is below the oracle's. */
  readonly regret: Figure;
  /** Share of rollouts on arms that cannot be learnt. */
  readonly wasted: Figure;
  /** Share of groups that teach. */
  readonly useful: Figure;
  /** Median score at even distances. */
  readonly curve: readonly number[];
}

const rolloutsOf = ({ rolloutsToTarget }: Life): number => rolloutsToTarget ?? Infinity;

/** Resampled by student, so that policies are compared on the same ones. */
function figure(of: Played, statistic: (places: readonly number[]) => number): Figure {
  const all = [...of.lives.keys()];
  return { value: statistic(all), ...bootstrap(all.length, statistic, of.student) };
}

function judged(of: Played, uniform: Played, oracle: Played): Judgement {
  const { student, policy, lives } = of;
  const at = (played: Played, places: readonly number[]): readonly Life[] =>
    places.flatMap((place) => played.lives[place] ?? []);
  const rollouts = (played: Played, places: readonly number[]): number => median(at(played, places).map(rolloutsOf));
  const meanOf = (what: (life: Life) => number): Figure => figure(of, (places) => mean(at(of, places).map(what)));
  return {
    student,
    policy,
    seeds: lives.length,
    lost: lives.filter(({ rolloutsToTarget }) => rolloutsToTarget === null).length,
    rollouts: figure(of, (places) => rollouts(of, places)),
    ratio: figure(of, (places) => rollouts(of, places) / rollouts(uniform, places)),
    final: meanOf(({ final }) => final),
    regret: figure(of, (places) => {
      const score = (played: Played): number => mean(at(played, places).map((life) => life.mean));
      return score(oracle) - score(of);
    }),
    wasted: meanOf(({ wasted }) => wasted),
    useful: meanOf(({ useful }) => useful),
    curve: (lives[0]?.curve ?? []).map((_, i) => median(lives.map(({ curve }) => curve[i] ?? 0))),
  };
}

export function judge(played: readonly Played[], uniform: string, oracle: string): readonly Judgement[] {
  const find = (student: string, policy: string): Played => {
    const found = played.find((of) => of.student === student && of.policy === policy);
    if (found === undefined) throw new Error(`${policy} was not played with ${student}`);
    return found;
  };
  return played.map((of) => judged(of, find(of.student, uniform), find(of.student, oracle)));
}

/** What the bar is about: a policy over all students. */
export interface Overall {
  readonly policy: string;
  /** Ratio to uniform on the median student. */
  readonly median: number;
  readonly worst: number;
  readonly worstStudent: string;
  readonly lost: number;
  readonly meetsBar: boolean;
}

/** At most so much of uniform's rollouts on the median student, and on any. */
export const BAR = { median: 0.7, worst: 1.1 } as const;

export function overall(judgements: readonly Judgement[]): readonly Overall[] {
  const policies = [...new Set(judgements.map(({ policy }) => policy))];
  return policies.map((policy) => {
    const of = judgements.filter((judgement) => judgement.policy === policy);
    const ratios = of.map(({ ratio }) => ratio.value);
    const middle = median(ratios);
    const worst = Math.max(...ratios);
    const worstStudent = of.find(({ ratio }) => ratio.value === worst)?.student ?? "";
    const lost = of.reduce((sum, judgement) => sum + judgement.lost, 0);
    const meetsBar = middle <= BAR.median && worst <= BAR.worst;
    return { policy, median: middle, worst, worstStudent, lost, meetsBar };
  });
}
