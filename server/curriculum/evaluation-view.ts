/** Rounds of evaluation for a run's readers: in its state, and in its history. */
import { findRound } from "./evaluation-rounds.ts";
import type { RunEvent } from "./events.ts";
import type { EvaluationRound, RunState } from "./state.ts";
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

type Sums = Pick<EvaluationView, "samples" | "withoutReward" | "rewardMean" | "solvedShare">;

/** They are asked for with every change of the run, and most changes are none of a round. */
const known = new WeakMap<EvaluationRound, Sums>();

/** By ordinal and sample, so that the mean is the same to the bit in whatever order the samples came. */
function sumsOf(round: EvaluationRound): Sums {
  const found = known.get(round);
  if (found !== undefined) return found;
  let [samples, rewards, sum, solved] = [0, 0, 0, 0];
  for (const task of round.tasks) {
    for (const result of task?.results ?? []) {
      if (result === null) continue;
      samples++;
      if (result.kind !== "reward") continue;
      rewards++;
      sum += result.reward;
      solved += Number(result.solved);
    }
  }
  const means = rewards === 0 ? {} : { rewardMean: sum / rewards, solvedShare: solved / rewards };
  const sums = { samples, withoutReward: samples - rewards, ...means };
  known.set(round, sums);
  return sums;
}

export function evaluationView(round: EvaluationRound, { evaluationArms }: RunConfig): EvaluationView {
  return {
    armId: evaluationArms[round.arm]?.id ?? "",
    round: round.round,
    cursor: round.cursor,
    tasks: round.tasks.length,
    ...sumsOf(round),
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
