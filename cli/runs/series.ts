/** What a run drew, as a series over its cursor; long ones in so many steps. */
import type { HistoryRecord } from "../../clients/ts/src/public.ts";

/** Update batches that lie together, as one. */
export interface Step {
  /** The cursor of its first task. */
  readonly cursor: number;
  readonly tasks: number;
  /** Each arm's share of the tasks, in the configuration's order, as the next two. */
  readonly shares: readonly number[];
  /** Means over its batches; undefined: the run had not the arm yet. */
  readonly probabilities: readonly (number | undefined)[];
  readonly values: readonly (number | undefined)[];
  /** Undefined: no reward is known. */
  readonly rewardMean: number | undefined;
  readonly solvedShare: number | undefined;
}

export interface Change {
  readonly cursor: number;
  /** What was changed, e.g. "weights". */
  readonly kind: string;
}

export type Series = ReturnType<typeof seriesOf>;

type Batch = Extract<HistoryRecord["kind"], { readonly case: "batch" }>["value"];

/** Changes that happen by themselves, often, and change nothing that is drawn. */
const PASSED_OVER = ["close_groups"];

/** An arm of the run's state: a run may be given more than it was created with. */
export interface DrawnArm {
  readonly id: string;
  /** Undefined: it is not known; arms whose ids begin alike are of one kind then. */
  readonly environment?: string | undefined;
}

/** What an import undid is left out: it is no part of how the run came to where it is. */
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
  // The families colour the arms, and `tasks` were drawn in all, `drawn` of them from each arm.
  return { arms, families, steps, changes, tasks: sum(drawn), drawn };
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
