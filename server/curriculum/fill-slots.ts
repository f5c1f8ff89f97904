/** Chooses an instance for each slot of a draw: the arm's next one that is accepted and that the run has not issued. */
import type { DrawPlan } from "./draw.ts";
import { numbersToRecord, toldBefore } from "./by-arm.ts";
import type { BatchDrawn } from "./events.ts";
import { nextOrdinalOf } from "./growth.ts";
import { isIssued } from "./issued-hashes.ts";
import type { DrawnTask } from "./batches.ts";
import type { InstanceKey } from "./types.ts";

/**
 * Maximum number of an arm's already issued instances that one search skips. After that, the search returns a repeat.
 */
export const SKIPS_MAX = 64;

/**
 * Maximum number of an arm's instances that one search skips because the policy or the filter's rank range refuses
 * them.
 */
export const REFUSALS_MAX = 16_384;

/**
 * Maximum number of an arm's instances that one search skips because their earlier outcomes do not pass the filter.
 * After that, the search returns the first of them.
 */
export const FILTERED_MAX = 1024;

/**
 * Number of successive task numbers without an instance after which an arm counts as exhausted. Each of them was
 * searched to the end of its budget, and they depend only on the run's seed.
 */
export const DRY_ORDINALS = 8;

/** Search result for one task number of an arm: an instance that may become a task, or "none". */
export type Candidate<Key extends InstanceKey> =
  { readonly kind: "task"; readonly key: Key } | { readonly kind: "none" };

/**
 * Instances that must be made before the slots can be filled, as task numbers of one arm. For an arm that chooses its
 * rows, these numbers are rows.
 */
export interface MissingInstances {
  readonly arm: number;
  readonly ordinals: readonly number[];
}

/**
 * Returns the instance of an arm's task by its number, which is a row if the arm chooses its rows. Undefined: not made
 * yet.
 */
export type Lookup<Key extends InstanceKey> = (arm: number, ordinal: number) => Candidate<Key> | undefined;

export type Filled<Key extends InstanceKey> =
  | { readonly kind: "filled"; readonly tasks: readonly DrawnTask<Key>[] }
  /** The caller must make these instances and then fill the slots again. */
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
 * Returns the arm's first instance, from task number `from` on, that is accepted and was not issued before. If the
 * limits are reached first, it returns the first one that was issued, or else the first one that the filter passes
 * over.
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
    // A later epoch goes through the rows of a pool again on purpose, so these repeats are accepted.
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

/** Fills a plan's slots, in cursor order, with instances that the run has not issued before. */
export function fillSlots<Key extends InstanceKey>(plan: DrawPlan, lookup: Lookup<Key>): Filled<Key> {
  const { slots, basis: state } = plan;
  const lanes = lanesOf(plan);
  const here = new Set<string>();
  const isKnown = (hash: string): boolean => here.has(hash) || plan.isKnown(hash);
  const tasks: DrawnTask<Key>[] = [];
  const drawn = new Set<string>();
  /**
   * Returns whether the run or this draw already uses the instance. One draw may choose a row twice, or reach it in two
   * passes over a pool.
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
    // In a new pass over the same instances, instances of earlier passes are counted as repeats although they are not
    // skipped.
    tasks.push({ cursor: plan.cursor + i, arm, ordinal, repeat: isRepeat(key), key });
    lane.next = ordinal + 1;
    lane.left--;
  }
  return { kind: "filled", tasks };
}

/** Tasks of an arm, or of one level of an arm that grows, that fill its slots one after the other. */
interface Lane {
  readonly arm: number;
  /** Task number at which the search for the next instance begins. */
  next: number;
  /** Number of slots that the lane still has to fill. Slots for which a row was chosen are not counted. */
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

/** Returns, by arm, the chosen rows whose instances are not made yet. */
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
 * Returns the instances to make next: those that are not made yet of a lane's next task numbers, one number for each
 * open slot. The lane `stopped` gets 2 · `skipped` more, so that few rounds are needed.
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

/** Returns the event of a plan whose slots are filled. */
export function drawnEvent<Key extends InstanceKey>(
  { batch, cursor, prompts, policyState, fold, restarts, ...plan }: DrawPlan,
  tasks: readonly DrawnTask<Key>[],
  atMs: number,
): BatchDrawn<Key> {
  const before = toldBefore(plan.basis, batch)?.probabilities;
  const probabilities = numbersToRecord(before, plan.probabilities, new Set(tasks.map(({ arm }) => arm)));
  return { kind: "drawn", batch, atMs, cursor, tasks, prompts, probabilities, policyState, fold, restarts };
}
