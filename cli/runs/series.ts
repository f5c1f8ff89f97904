/**
 * Converts the history of a run's draws into a series of steps for charts. The axis is the cursor, which counts tasks,
 * or the length of the completions. Long series are reduced to a maximum number of steps.
 */
import { type HistoryRecord, lengthAxis, lengthWords } from "../../clients/ts/src/public.ts";

/** Step of a series: some consecutive update batches, taken together. */
export interface Step {
  /** Cursor of the first task of the step, or the length of all completions before it. */
  readonly cursor: number;
  /** Number of tasks of the step, or the length of their completions. */
  readonly tasks: number;
  /** Share of the step's tasks that each arm had, in the order of the arms. */
  readonly shares: readonly number[];
  /** Mean probability of each arm over the step's batches. Undefined if the run did not have the arm yet. */
  readonly probabilities: readonly (number | undefined)[];
  readonly values: readonly (number | undefined)[];
  /**
   * Highest open level of each arm that grows, after the last batch, as a value of its growth axis. Undefined for other
   * arms.
   */
  readonly frontiers: readonly (number | undefined)[];
  /** Mean reward over the step's batches. Undefined if no reward is known. */
  readonly rewardMean: number | undefined;
  readonly solvedShare: number | undefined;
}

export interface Change {
  readonly cursor: number;
  /** Kind of change to the run, e.g. "weights". */
  readonly kind: string;
}

export type Series = ReturnType<typeof seriesOf> & {
  /**
   * Name of the horizontal axis if it is not the cursor (a count of tasks), and the length at its end. Unset: the axis
   * is the cursor.
   */
  readonly axis?: { readonly words: string; readonly end: number };
};

type Batch = Extract<HistoryRecord["kind"], { readonly case: "batch" }>["value"];

/**
 * Kinds of changes of a run that charts do not show, because they happen automatically and often, and do not affect
 * draws.
 */
const PASSED_OVER = ["close_groups", "note", "tags"];

/** Arm in the present state of a run, which may have more arms than at its creation. */
export interface DrawnArm {
  readonly id: string;
  /** Environment of the arm, which is its family in charts. If undefined, arms whose ids begin alike form a family. */
  readonly environment?: string | undefined;
  /** Growth axis of an arm that grows, e.g. "vertices". Undefined: the arm does not grow. */
  readonly axis?: string | undefined;
}

/**
 * Returns the series of a run. Records that an import undid are left out, because they do not lead to the current
 * state.
 */
export function seriesOf(drawnArms: readonly DrawnArm[], history: readonly HistoryRecord[], stepsMax: number) {
  const arms = drawnArms.map(({ id }) => id);
  const families = drawnArms.map(({ id, environment }) => environment ?? id.replace(/\/[^/]*$/, ""));
  const batches: Batch[] = [];
  const changes: Change[] = [];
  for (const { kind, rolledBack } of history) {
    if (rolledBack) continue;
    if (kind.case === "batch") batches.push(kind.value);
    else if (kind.case === "control" && !PASSED_OVER.includes(kind.value.kind))
      changes.push({ cursor: Number(kind.value.cursor), kind: kind.value.kind });
  }
  const each = Math.max(1, Math.ceil(batches.length / stepsMax));
  const steps: Step[] = [];
  for (let from = 0; from < batches.length; from += each)
    steps.push(stepOf(batches.slice(from, from + each), arms.length));
  const drawn = arms.map((_, arm) => sum(batches.map(({ counts }) => counts[arm] ?? 0)));
  // Take the first level of each arm that grows from the batches, because a step has only the level after its last
  // batch.
  const growth = drawnArms.map(({ axis = "" }, arm) => {
    const begun = batches.map(({ frontiers }) => frontiers[arm]).find((frontier) => frontier);
    return begun === undefined ? undefined : { begun, axis };
  });
  // Families decide the arms' colours in charts. `tasks` counts all drawn tasks, and `drawn` the tasks of each arm.
  return { arms, families, growth, steps, changes, tasks: sum(drawn), drawn };
}

/**
 * Returns the series over the lengths of the run's completions, in tokens if the trainer reported them. Undefined: the
 * history has no lengths.
 */
export function overLengths(series: Series, history: readonly HistoryRecord[]): Series | undefined {
  const axis = lengthAxis(history);
  if (axis === undefined) return undefined;
  const at = (cursor: number): number => axis.at(BigInt(cursor));
  const steps = series.steps.map(({ cursor, tasks, ...step }) => {
    return { ...step, cursor: at(cursor), tasks: at(cursor + tasks) - at(cursor) };
  });
  const changes = series.changes.map(({ cursor, kind }) => ({ cursor: at(cursor), kind }));
  const last = steps.at(-1);
  const end = last === undefined ? 0 : last.cursor + last.tasks;
  return { ...series, steps, changes, axis: { words: lengthWords(axis), end } };
}

function stepOf(batches: readonly Batch[], armCount: number): Step {
  const arms = Array.from({ length: armCount }, (_, arm) => arm);
  const counts = arms.map((arm) => sum(batches.map((batch) => batch.counts[arm] ?? 0)));
  const tasks = sum(counts);
  const known = (of: (batch: Batch) => number | undefined): number | undefined =>
    mean(batches.map(of).filter((value) => value !== undefined));
  return {
    cursor: Number(batches[0]?.cursor ?? 0),
    tasks,
    shares: counts.map((count) => (tasks === 0 ? 0 : count / tasks)),
    probabilities: arms.map((arm) => known((batch) => batch.probabilities[arm])),
    values: arms.map((arm) => known((batch) => batch.values[arm])),
    frontiers: arms.map((arm) => batches.at(-1)?.frontiers[arm] || undefined),
    rewardMean: known(({ rewardMean }) => rewardMean),
    solvedShare: known(({ solvedShare }) => solvedShare),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function mean(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : sum(values) / values.length;
}
