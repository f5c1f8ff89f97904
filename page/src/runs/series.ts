/** Computes the data of a run's charts from its history: points over its rollouts or its tokens, for each line. */
import type { BatchRecord } from "../../../clients/ts/src/public.ts";
import type { History } from "./history.ts";
import { solvedShares, WINDOWS } from "./learning.ts";
import type { Line } from "./lines.ts";
import { axisOf, type Over } from "./rollouts.ts";
import type { ReadRun } from "./state.ts";

/** The values of all charts at one step of a run. Lists have one entry for each line, in order. */
export interface Point {
  /** Position on the horizontal axis of the chart. */
  readonly x: number;
  readonly shares: readonly number[];
  readonly probabilities: readonly number[];
  /** Mean over each line's arms of the value that the policy computes for an arm, e.g. its expected success. */
  readonly values: readonly number[];
  /**
   * Highest open level of each line's arms, as a value of their growth axis, e.g. 23 vertices. 0: the arms do not grow.
   */
  readonly frontiers: readonly number[];
  readonly solved: number | undefined;
  readonly reward: number | undefined;
  /**
   * Mean reward of each line's samples. Undefined if no sample has a reward, or if the server does not send rewards by
   * arm.
   */
  readonly rewards: readonly (number | undefined)[];
  /**
   * Solved share of each line over a window of its rollouts. Undefined if the line has no rollout with a reward in this
   * step, or if the server does not send how many are solved.
   */
  readonly solvedShares: readonly (number | undefined)[];
  /**
   * Mean over the lines of their last known mean rewards. All lines count alike, so this mean does not depend on how
   * often each is drawn.
   */
  readonly rewardAlike: number | undefined;
  /**
   * Share of an update batch's prompts that gave a useful group, whose outcomes differ. Undefined unless all groups of
   * the batch are closed.
   */
  readonly useful: number | undefined;
  /** Seconds between the draws of two successive update batches. */
  readonly seconds: number | undefined;
}

export interface Mark {
  readonly x: number;
  readonly words: string;
}

export interface Evaluated {
  readonly arm: string;
  readonly x: number;
  readonly solved: number | undefined;
}

export interface Series {
  readonly lines: readonly Line[];
  readonly points: readonly Point[];
  readonly marks: readonly Mark[];
  readonly evaluations: readonly Evaluated[];
  /** Name of the horizontal axis, e.g. "rollouts". */
  readonly axis: string;
  /** Position on the horizontal axis where the last update batch ends. */
  readonly end: number;
  /** Whether lengths of completions are known, so that charts can be over tokens. */
  readonly hasLengths: boolean;
}

/** Kinds of changes that charts do not mark, because they are frequent, automatic and do not affect the charts. */
const PASSED_OVER = ["close_groups", "reopen_groups", "note", "tags"];

export function seriesOf(
  { config }: Pick<ReadRun, "config">,
  history: History,
  over: Over = "rollouts",
  window: number = WINDOWS[0],
): Series {
  const { lines } = history;
  const learning = lines.map(() => solvedShares(window));
  const { words: axis, at: xOf, hasLengths } = axisOf(config, history.records, over);
  const points: Point[] = [];
  const marks: Mark[] = [];
  const evaluations: Evaluated[] = [];
  let before: { readonly at: number; readonly batches: number } | undefined;
  let end = 0;
  const latest: (number | undefined)[] = [];
  for (const { kind, rolledBack, time } of history.records) {
    if (rolledBack) continue;
    if (kind.case === "batch") {
      const at = Number(time?.seconds ?? 0n) + (time?.nanos ?? 0) / 1e9;
      const seconds = before === undefined ? undefined : (at - before.at) / before.batches;
      before = { at, batches: Math.max(1, kind.value.merged) };
      const point = pointOf(kind.value, lines);
      for (const [line, reward] of point.rewards.entries()) latest[line] = reward ?? latest[line];
      const { solvedCounts, rewardCounts } = kind.value;
      const shares = learning.map((next, at) => next(rewardCounts[at] ?? 0, solvedCounts[at]));
      const x = xOf(kind.value.cursor);
      points.push({ x, seconds, ...point, rewardAlike: meanOf(latest), solvedShares: shares });
      end = xOf(kind.value.cursor + BigInt(total(kind.value.counts)));
    } else if (kind.case === "control" && !PASSED_OVER.includes(kind.value.kind)) {
      marks.push({ x: xOf(kind.value.cursor), words: kind.value.kind.replaceAll("_", " ") });
    } else if (kind.case === "evaluation") {
      const { armId, cursor, solvedShare } = kind.value;
      evaluations.push({ arm: armId, x: xOf(cursor), solved: solvedShare });
    }
  }
  return { lines, points, marks, evaluations, axis, end: Math.max(end, ...marks.map(({ x }) => x)), hasLengths };
}

function pointOf(
  batch: BatchRecord,
  lines: readonly Line[],
): Omit<Point, "x" | "seconds" | "rewardAlike" | "solvedShares"> {
  const { counts, probabilities, values, closed, prompts, useful, rewardMean, solvedShare } = batch;
  const { rewardSums, rewardCounts, frontiers } = batch;
  const tasks = total(counts);
  const byLine = (of: readonly number[]) => lines.map((_, at) => of[at] ?? 0);
  return {
    shares: byLine(counts).map((sum) => (tasks === 0 ? 0 : sum / tasks)),
    probabilities: byLine(probabilities),
    values: byLine(values),
    frontiers: byLine(frontiers),
    solved: solvedShare,
    reward: rewardMean,
    rewards: lines.map((_, at) => (rewardCounts[at] ? (rewardSums[at] ?? 0) / rewardCounts[at] : undefined)),
    useful: closed && prompts > 0 ? Math.min(1, useful / prompts) : undefined,
  };
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function meanOf(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : total(known) / known.length;
}
