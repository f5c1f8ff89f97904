/** Rounds of evaluation for a run's readers: in its state, and in its history. */
import { findRound } from "./evaluation-rounds.ts";
import type { RunEvent } from "./events.ts";
import type { EvaluationPage, EvaluationRound, RunState } from "./state.ts";
import type { RunConfig } from "./types.ts";

export interface EvaluationView {
  readonly armId: string;
  readonly round: number;
  /** The run's, when the round was opened. */
  readonly cursor: number;
  /** In the set. */
  readonly tasks: number;
  /** That have come. */
  readonly samples: number;
  /** Of those, how many have no reward. */
  readonly withoutReward: number;
  /** Over the samples with a reward, as the next; undefined: none. */
  readonly rewardMean?: number | undefined;
  readonly solvedShare?: number | undefined;
  readonly closed: boolean;
}

/** Of the samples of a page. */
interface Sums {
  readonly samples: number;
  readonly rewards: number;
  readonly sum: number;
  readonly solved: number;
}

/** They are asked for with every change of the run, and most changes are none of a page. */
const known = new WeakMap<EvaluationPage, Sums>();

/** By ordinal and sample, so that a mean is the same to the bit in whatever order the samples came. */
function sumsOf(page: EvaluationPage): Sums {
  const found = known.get(page);
  if (found !== undefined) return found;
  const sums = { samples: 0, rewards: 0, sum: 0, solved: 0 };
  for (const task of page) {
    for (const result of task?.results ?? []) {
      if (result === null) continue;
      sums.samples++;
      if (result.kind !== "reward") continue;
      sums.rewards++;
      sums.sum += result.reward;
      sums.solved += Number(result.solved);
    }
  }
  known.set(page, sums);
  return sums;
}

function figures({ pages }: EvaluationRound) {
  const all = pages.map(sumsOf);
  const total = (name: keyof Sums): number => all.reduce((sum, page) => sum + page[name], 0);
  const [samples, rewards] = [total("samples"), total("rewards")];
  const means = rewards === 0 ? {} : { rewardMean: total("sum") / rewards, solvedShare: total("solved") / rewards };
  return { samples, withoutReward: samples - rewards, ...means };
}

export function evaluationView(round: EvaluationRound, { evaluationArms }: RunConfig): EvaluationView {
  return {
    armId: evaluationArms[round.arm]?.id ?? "",
    round: round.round,
    cursor: round.cursor,
    tasks: round.size,
    ...figures(round),
    closed: round.missing === 0,
  };
}

/** The newest round of each evaluation arm. */
export function newestEvaluations({ config, evaluations }: RunState): readonly EvaluationView[] {
  return config.evaluationArms.flatMap((_, arm) => {
    const newest = evaluations.findLast((round) => round.arm === arm);
    return newest === undefined ? [] : [evaluationView(newest, config)];
  });
}

/** Whose records an event writes: rounds that it opens, closes or drops unfinished, and those that an import opens again. */
export function roundsToWrite(
  before: RunState | undefined,
  event: RunEvent,
  after: RunState,
): readonly EvaluationRound[] {
  const { evaluations } = after;
  switch (event.kind) {
    case "evaluation_opened": {
      const dropped = before?.evaluations.filter((round) => round.missing > 0 && findRound(after, round) === undefined);
      return [...(dropped ?? []), ...evaluations.slice(-1)];
    }
    case "evaluated":
      return evaluations.filter(
        (round) => round.missing === 0 && before !== undefined && findRound(before, round)?.missing !== 0,
      );
    case "imported":
      return evaluations.filter(({ missing }) => missing > 0);
    default:
      return [];
  }
}

/** How many rounds are not closed. */
export function openRounds({ evaluations }: RunState): number {
  return evaluations.filter(({ missing }) => missing > 0).length;
}
