/**
 * Handles arms that choose data rows by pass rate, the share of a row's samples that are solved. Keeps what is known of
 * each row, and chooses the rows to draw.
 */
import { LIMITS } from "../../proto/limits.ts";
import { rngFor } from "../../envs/lib/rng.ts";
import type { ClosedGroup } from "./batches.ts";
import type { Fold } from "./policy-updates.ts";
import { looksBack } from "./policies/filter.ts";
import { definitionOf, rankUsesOf } from "./policies/registry.ts";
import { chooseRows } from "./row-choice.ts";
import { type RowGroup, rowTable, type RowTable, withGroups, withRates } from "./row-table.ts";
import type { RunState } from "./state.ts";
import { type Arm, invalid, type Invalid, type Policy, type RunConfig } from "./types.ts";

/**
 * Number of steps from pass rate 0 to pass rate 1. Pass rates that a client gives are stored as whole numbers of such
 * steps.
 */
export const RATE_PARTS = 250;

/**
 * Event that a client gave pass rates (shares of solved samples) of an arm's data rows, e.g. measured before the run.
 */
export interface RowsRated {
  readonly kind: "rowsRated";
  readonly arm: number;
  /** Indices of the rows. Empty: the rows from `first` on, one for each rate. */
  readonly rows: readonly number[];
  readonly first: number;
  /** Pass rate of each row, in multiples of 1/250. */
  readonly rates: Uint8Array;
  /** Number of samples that each given rate counts as, when the run measures further samples of the row. */
  readonly samples: number;
}

/** Pass rates that a client gave, before they are rounded to 250ths. */
export interface Ratings extends Omit<RowsRated, "kind" | "rates"> {
  /** Pass rate of each row, in [0, 1]. */
  readonly rates: readonly number[] | Float64Array;
}

export function ratedEvent({ rates, ...ratings }: Ratings): RowsRated {
  return { kind: "rowsRated", ...ratings, rates: Uint8Array.from(rates, (rate) => Math.round(rate * RATE_PARTS)) };
}

export function freshTable({ rows }: Pick<Arm, "rows">): RowTable | null {
  return rows === undefined ? null : rowTable(rows);
}

export function withRated(tables: RunState["rows"], { arm, rows, first, rates, samples }: RowsRated): RunState["rows"] {
  const table = tables[arm];
  if (table === undefined || table === null)
    throw new Error(`bug: arm ${arm} got pass rates of rows, but has no curriculum over its rows`);
  const rateAt = (i: number): number => (rates[i] ?? 0) / RATE_PARTS;
  return tables.with(arm, withRates(table, { rows, first, rateAt, count: rates.length, samples }));
}

/**
 * Cache with the last result of afterFold for each list of batches. Planning a draw and applying it both need the
 * result.
 */
const folds = new WeakMap<RunState["batches"], { readonly key: string; readonly after: RunState["rows"] }>();

/**
 * Returns the tables of rows after the policy updates `updates`. A group changes nothing if its number of solved
 * samples is not known.
 */
export function afterFold(
  state: Pick<RunState, "rows" | "config" | "batches" | "version">,
  updates: readonly (readonly ClosedGroup[])[],
): RunState["rows"] {
  if (state.rows.every((table) => table === null)) return state.rows;
  const cursors = updates.map((groups) => `${groups[0]?.task.cursor} ${groups.length}`);
  const key = [state.version, ...cursors].join();
  const known = folds.get(state.batches);
  if (known?.key === key) return known.after;
  const after = folded(state, updates);
  folds.set(state.batches, { key, after });
  return after;
}

function folded(
  { rows: tables, config }: Pick<RunState, "rows" | "config">,
  updates: readonly (readonly ClosedGroup[])[],
): RunState["rows"] {
  const groups = tables.map((): RowGroup[] => []);
  for (const { task, outcome } of updates.flat()) {
    if (task.row === undefined || outcome.solved === null || outcome.count === 0) continue;
    groups[task.arm]?.push({ row: task.row, samples: outcome.count, solved: outcome.solved });
  }
  return tables.map((table, arm) => {
    const of = groups[arm] ?? [];
    return table === null || of.length === 0 ? table : withGroups(table, of, config.arms[arm]?.rows?.kept ?? 0);
  });
}

/**
 * Returns the arm's rows that are being sampled, which should not be drawn again yet. If draws wait for feedback, these
 * are all rows of update batches that this draw does not learn from. Their closed groups count too, so that no draw
 * depends on when feedback arrives.
 */
function beingSampled({ batches }: Pick<RunState, "batches">, fold: Fold, arm: number): ReadonlySet<number> {
  const tasks = batches.flatMap(({ index, groups, reserve }) => {
    if (fold.kind === "groups") return groups.flatMap(({ kind, task }) => (kind === "open" ? [task] : []));
    return index < fold.batches ? [] : [...groups.map(({ task }) => task), ...reserve];
  });
  return new Set(tasks.flatMap((task) => (task.arm === arm ? (task.row ?? []) : [])));
}

/**
 * Returns the row for each task (slot) of a draw. Undefined: the task's arm does not choose rows by pass rate, but
 * takes its tasks in order.
 */
export function chosenRows(
  state: RunState,
  tables: RunState["rows"],
  { slots, batch, fold }: { readonly slots: readonly number[]; readonly batch: number; readonly fold: Fold },
): readonly (number | undefined)[] {
  const { config, prompts } = state;
  const share = config.length === 0 ? 0 : Math.min(1, prompts / config.length);
  const chosen = tables.map((table, arm) => {
    const rule = config.arms[arm]?.rows;
    // The tasks of an arm are counted only if the arm chooses rows by pass rate, because most arms of a large run do
    // not.
    if (table === null || rule === undefined) return [][Symbol.iterator]();
    const count = slots.filter((slot) => slot === arm).length;
    if (count === 0) return [][Symbol.iterator]();
    const taken = beingSampled(state, fold, arm);
    const rng = rngFor("rows", config.seed, config.arms[arm]?.id ?? "", batch);
    return chooseRows(rule, table, { count, share, taken }, rng)[Symbol.iterator]();
  });
  return slots.map((arm) => chosen[arm]?.next().value);
}

function checkRule(field: string, { rows, by, floor, kept }: NonNullable<Arm["rows"]>): Invalid | undefined {
  const wrong = (name: string, value: number, min: number, max: number): Invalid | undefined =>
    value >= min && value <= max ? undefined : invalid(`${field}.${name}`, `must be in [${min}, ${max}], not ${value}`);
  const common =
    wrong("rows", rows, 1, LIMITS.RowCurriculum.count.max) ??
    wrong("floor", floor, 0, 1) ??
    wrong("kept", kept / 256, 0, 1);
  if (common !== undefined) return common;
  if (by.kind === "learnability")
    return wrong("learnability.sharpness", by.sharpness, 1, LIMITS.RowLearnability.sharpness.max);
  return (
    wrong("target.start", by.from, 0, 1) ?? wrong("target.end", by.to, 0, 1) ?? wrong("target.width", by.width, 0.01, 1)
  );
}

/** Returns whether the policy repeats the same instances in later passes, e.g. in the cycles of a replay. */
function goesOverAgain(policy: Policy, armCount: number, length: number): boolean {
  const definition = definitionOf(policy);
  const begun = definition.initial(policy.config, armCount, 0);
  return (
    definition.pass?.(policy.config, begun, { batch: 0, cursor: 0, length, size: 1, promptsPerUpdate: 1 }) !== undefined
  );
}

/** Checks arms that choose their rows by pass rate, and that no other setting conflicts with them. */
export function checkRowArms({ arms, policy, feedbackSource, length }: RunConfig): Invalid | undefined {
  for (const [i, { id, rows }] of arms.entries()) {
    if (rows === undefined) continue;
    const field = `arms[${i}].rows`;
    const found = checkRule(field, rows);
    if (found !== undefined) return found;
    if (feedbackSource === "reported")
      return invalid(
        field,
        "needs to know which samples are solved, and reported advantages do not say it: set feedback_source STEP",
      );
    const range = rankUsesOf(policy).find(({ draws }) => draws(id));
    if (range !== undefined)
      return invalid(
        range.field,
        `arm "${id}" already chooses its rows by their pass rates: remove the range of ranks`,
      );
    if (looksBack(policy.filter))
      return invalid(
        "policy.filter",
        `arm "${id}" already chooses its rows by their pass rates: use its rows.retire_after to retire solved rows`,
      );
    if (goesOverAgain(policy, arms.length, length))
      return invalid(
        "policy.replay.instances",
        `arm "${id}" already chooses its rows by their pass rates, which excludes replayed rows: remove one of the two`,
      );
  }
  return undefined;
}
