/**
 * Chooses the instances of an update batch. Each task gets its arm's next instance that the policy and its filter
 * accept and that the run has not issued yet.
 */
import type { DrawPlan } from "./draw.ts";
import { numbersToRecord, toldBefore } from "./by-arm.ts";
import type { BatchDrawn } from "./events.ts";
import { nextOrdinalOf } from "./growth.ts";
import { isIssued } from "./issued-hashes.ts";
import type { DrawnTask } from "./batches.ts";
import type { InstanceKey } from "./types.ts";

/**
 * Maximum number of an arm's task numbers that the search for one new instance skips, because their instance was
 * already issued or because they have none. After that, the search returns an already issued instance.
 */
export const SKIPS_MAX = 64;

/**
 * Maximum number of an arm's instances that one search skips because the policy or the filter's range of ranks excludes
 * them.
 */
export const REFUSALS_MAX = 16_384;

/**
 * Maximum number of an arm's instances that one search skips because of the task filter, e.g. because they were solved
 * before. After that, the search returns the first skipped instance.
 */
export const FILTERED_MAX = 1024;

/**
 * Number of successive task numbers of an arm without an instance, after which the arm counts as exhausted. A retry
 * would not help, because whether a number has an instance depends only on the run's seed.
 */
export const DRY_ORDINALS = 8;

/** Result of looking up a task number of an arm: its instance, or "none" if no instance can be made for the number. */
export type Candidate<Key extends InstanceKey> =
  { readonly kind: "task"; readonly key: Key } | { readonly kind: "none" };

/**
 * Task numbers of one arm whose instances must be made before the draw can continue. For an arm that chooses its rows
 * by pass rate, the numbers are row indices.
 */
export interface MissingInstances {
  readonly arm: number;
  readonly ordinals: readonly number[];
}

/**
 * Returns the instance of the arm's task with this number. If the arm chooses its rows by pass rate, the number is a
 * row's index. Undefined: the instance is not made yet.
 */
export type Lookup<Key extends InstanceKey> = (arm: number, ordinal: number) => Candidate<Key> | undefined;

export type Filled<Key extends InstanceKey> =
  | { readonly kind: "filled"; readonly tasks: readonly DrawnTask<Key>[] }
  /** The caller must make the instances in `wanted`, and then fill the slots again. */
  | { readonly kind: "wanted"; readonly wanted: readonly MissingInstances[] }
  /** No acceptable instance was found for the arm's next `tries` task numbers. */
  | { readonly kind: "barren"; readonly arm: number; readonly tries: number }
  /** The arm is exhausted: its last DRY_ORDINALS task numbers have no instance. `ordinal` is the last one searched. */
  | { readonly kind: "dry"; readonly arm: number; readonly ordinal: number };

type Choice<Key extends InstanceKey> =
  | { readonly kind: "chosen"; readonly ordinal: number; readonly key: Key }
  | { readonly kind: "wanted"; readonly from: number }
  | { readonly kind: "dry"; readonly ordinal: number }
  | { readonly kind: "none"; readonly tries: number };

/**
 * Returns the arm's first instance, from task number `from` on, that policy and filter accept and that was not issued
 * before. If the limits are reached first, it returns the first instance that was issued before, or else the first
 * instance that the filter rejects because of its earlier outcomes.
 */
function choose<Key extends InstanceKey>(
  arm: number,
  from: number,
  isKnown: (hash: string) => boolean,
  { verdict, isGone }: DrawPlan,
  lookup: Lookup<Key>,
): Choice<Key> {
  let repeat: Choice<Key> | undefined;
  let fallback: Choice<Key> | undefined;
  const passed = { known: 0, filtered: 0, refused: 0 };
  let missing = 0;
  let ordinal = from;
  for (; passed.known <= SKIPS_MAX && passed.filtered <= FILTERED_MAX && passed.refused <= REFUSALS_MAX; ordinal++) {
    if (isGone(arm, ordinal)) continue;
    const candidate = lookup(arm, ordinal);
    if (candidate === undefined) return { kind: "wanted", from: ordinal };
    missing = candidate.kind === "none" ? missing + 1 : 0;
    if (missing === DRY_ORDINALS) return { kind: "dry", ordinal };
    if (candidate.kind === "none") {
      passed.known++;
      continue;
    }
    const { key } = candidate;
    const found = verdict({ arm, hash: key.hash, rank: key.rank });
    // After its first pass through the rows of a pool (epoch 0), an arm issues the rows again on purpose. So already
    // issued rows are then accepted.
    const known = isKnown(key.hash) && (key.epoch ?? 0) === 0;
    const chosen: Choice<Key> = { kind: "chosen", ordinal, key };
    if (found === "accepted" && !known) return chosen;
    if (found === "refused") passed.refused++;
    else if (found === "filtered") {
      passed.filtered++;
      fallback ??= chosen;
    } else {
      passed.known++;
      repeat ??= chosen;
    }
  }
  return repeat ?? fallback ?? { kind: "none", tries: ordinal - from };
}

/**
 * Chooses the instances of a plan's tasks, in cursor order, that the run has not issued before. If instances must be
 * made first, or an arm has none left, the result says so.
 */
export function fillSlots<Key extends InstanceKey>(plan: DrawPlan, lookup: Lookup<Key>): Filled<Key> {
  const { slots, basis: state } = plan;
  const lanes = lanesOf(plan);
  const here = new Set<string>();
  const isKnown = (hash: string): boolean => here.has(hash) || plan.isKnown(hash);
  const tasks: DrawnTask<Key>[] = [];
  const drawn = new Set<string>();
  /**
   * Returns whether the run or this draw already has the instance. One draw may choose a data row twice, or reach it in
   * two passes over a pool.
   */
  const isRepeat = ({ hash }: Key): boolean => {
    const found = drawn.has(hash) || isIssued(state.issued, hash);
    drawn.add(hash);
    return found;
  };
  const missing = missingRows(plan, lookup);
  if (missing.length > 0) return { kind: "wanted", wanted: missing };
  for (const [i, arm] of slots.entries()) {
    const lane = lanes.of(i);
    const from = lane.next;
    const row = plan.rows[i];
    if (row !== undefined) {
      const found = lookup(arm, row);
      if (found?.kind !== "task") return { kind: "barren", arm, tries: 1 };
      const { key } = found;
      tasks.push({ cursor: plan.cursor + i, arm, ordinal: from, row, repeat: isRepeat(key), key });
      lane.next = from + 1;
      continue;
    }
    const choice = choose(arm, from, isKnown, plan, lookup);
    if (choice.kind === "none") return { kind: "barren", arm, tries: choice.tries };
    if (choice.kind === "dry") return { ...choice, arm };
    if (choice.kind === "wanted")
      return { kind: "wanted", wanted: wanted(lanes.all(), lane, choice.from - from, lookup) };
    const { ordinal, key } = choice;
    here.add(key.hash);
    // If the policy begins a new pass over the same instances, `repeat` is true for instances of earlier passes,
    // although the search does not skip them.
    tasks.push({ cursor: plan.cursor + i, arm, ordinal, repeat: isRepeat(key), key });
    lane.next = ordinal + 1;
    lane.left--;
  }
  return { kind: "filled", tasks };
}

/** Counter of one arm's tasks, or of the tasks of one level of an arm that grows, while an update batch is filled. */
interface Lane {
  readonly arm: number;
  /** Number of the arm's task at which the search for the next instance begins. */
  next: number;
  /** Number of the batch's tasks that still need an instance. Tasks whose row was chosen by pass rate do not count. */
  left: number;
}

function lanesOf({ slots, rows, levels, restarts, basis: { arms } }: DrawPlan) {
  const lanes = new Map<string, Lane>();
  const bySlot = slots.map((arm, i): Lane => {
    const level = levels[i];
    const key = `${arm} ${level ?? ""}`;
    const counters = arms[arm];
    const begun = restarts || counters === undefined ? 0 : nextOrdinalOf(counters, level);
    const lane = lanes.get(key) ?? { arm, next: begun, left: 0 };
    lanes.set(key, lane);
    if (rows[i] === undefined) lane.left++;
    return lane;
  });
  return { of: (slot: number): Lane => bySlot[slot] as Lane, all: () => [...lanes.values()] };
}

/** Returns the rows, by arm, that were chosen by pass rate and whose instances are not made yet. */
function missingRows<Key extends InstanceKey>(
  { slots, rows }: DrawPlan,
  lookup: Lookup<Key>,
): readonly MissingInstances[] {
  const missing = new Map<number, number[]>();
  for (const [i, row] of rows.entries()) {
    const arm = slots[i] ?? -1;
    if (row === undefined || lookup(arm, row) !== undefined) continue;
    missing.set(arm, [...(missing.get(arm) ?? []), row]);
  }
  return [...missing].map(([arm, ordinals]) => ({ arm, ordinals: [...new Set(ordinals)] }));
}

/**
 * Returns the instances to make before the search can continue. For each lane (an arm or one of its levels) they belong
 * to the next task numbers, one for each task of the batch that still needs an instance. The lane `stopped`, whose
 * search skipped `skipped` numbers, gets 2 · `skipped` more, so that the search stops less often.
 */
function wanted<Key extends InstanceKey>(
  lanes: readonly Lane[],
  stopped: Lane,
  skipped: number,
  lookup: Lookup<Key>,
): readonly MissingInstances[] {
  return lanes.flatMap((lane) => {
    const { arm, next, left } = lane;
    const count = left + (lane === stopped ? 2 * skipped : 0);
    const all = Array.from({ length: count }, (_, i) => next + i);
    const ordinals = all.filter((ordinal) => lookup(arm, ordinal) === undefined);
    return ordinals.length === 0 ? [] : [{ arm, ordinals }];
  });
}

/** Returns the event "drawn" of an update batch, from its plan and the tasks that were chosen for it. */
export function drawnEvent<Key extends InstanceKey>(
  { batch, cursor, prompts, policyState, fold, restarts, ...plan }: DrawPlan,
  tasks: readonly DrawnTask<Key>[],
  atMs: number,
): BatchDrawn<Key> {
  const before = toldBefore(plan.basis, batch)?.probabilities;
  const probabilities = numbersToRecord(before, plan.probabilities, new Set(tasks.map(({ arm }) => arm)));
  return { kind: "drawn", batch, atMs, cursor, tasks, prompts, probabilities, policyState, fold, restarts };
}
