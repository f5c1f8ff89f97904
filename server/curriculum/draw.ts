/**
 * Draws of update batches. Batch k is drawn from the state after every batch up to k − 1 − lag closed: signals are
 * folded into the policy's state only here, and only up to that batch, however many more have closed. So a run is a pure
 * function of its seed, its control changes and its feedback.
 */
import { rngFor } from "../../envs/lib/rng.ts";
import { armClasses, assignSlots, quotasOf } from "./constraints.ts";
import type { BatchDrawn, DrawnTask, FoldRecord } from "./events.ts";
import { isIssued } from "./issued-hashes.ts";
import { activePolicy, type PolicyState } from "./policies/index.ts";
import type { ArmSignal } from "./policies/policy.ts";
import { type Batch, currentPolicy, openCursors, type RunState } from "./state.ts";
import type { Json, Policy } from "./types.ts";

/** Instances of an arm passed over because the run has issued them; then a repeat is accepted. */
export const SKIPS_MAX = 64;

/** Open groups of a run under a policy that does not wait for them; a draw closes the oldest beyond it. */
export const OPEN_GROUPS_MAX = 32_768;

export type DrawReadiness =
  | { readonly kind: "ready" }
  | { readonly kind: "paused" }
  /** All of the run's length is drawn. */
  | { readonly kind: "finished" }
  /** Feedback is due. */
  | { readonly kind: "waiting"; readonly batch: number };

/** Batches before this one are in the state that the next batch is drawn from, under a counted lag. */
function dueBatches(state: RunState, lag: number): number {
  return Math.max(0, state.batchesDrawn - lag);
}

/** Whether the next update batch can be drawn. */
export function drawReadiness(state: RunState): DrawReadiness {
  const { config } = state;
  if (config.length > 0 && state.cursor >= config.length) return { kind: "finished" };
  if (state.paused) return { kind: "paused" };
  if (config.lag.kind === "unbounded" || !currentPolicy(state).takesFeedback) return { kind: "ready" };
  const waiting = state.batchesClosed < dueBatches(state, config.lag.count);
  return waiting ? { kind: "waiting", batch: state.batchesClosed } : { kind: "ready" };
}

/** A draw but for its instances. */
export interface DrawPlan {
  readonly batch: number;
  readonly cursor: number;
  /** The arm of each slot. */
  readonly slots: readonly number[];
  readonly probabilities: readonly number[];
  readonly policyState: PolicyState;
  readonly folded: FoldRecord;
  /** Groups to close first: the oldest open ones beyond OPEN_GROUPS_MAX. */
  readonly closes: readonly number[];
  /** What it was planned on; see isCurrent. */
  readonly basis: { readonly policy: Policy; readonly weights: readonly number[]; readonly epochs: unknown };
}

function signalsOf(batch: Batch): readonly ArmSignal[] {
  return batch.groups.flatMap((group) =>
    group.kind === "closed" && group.signal !== null ? [{ arm: group.arm, signal: group.signal }] : [],
  );
}

/** Folds the batches that are due, one after the other. */
function foldBatches(state: RunState, lag: number): { readonly policyState: PolicyState; readonly folded: FoldRecord } {
  const through = dueBatches(state, lag);
  const policyState = state.batches
    .filter((batch) => batch.index >= state.batchesFolded && batch.index < through)
    .reduce(
      (now, batch) => activePolicy(state.policy, now, state.config.arms.length).fold(signalsOf(batch)),
      currentPolicy(state).state,
    );
  return { policyState, folded: { kind: "through", batches: Math.max(through, state.batchesFolded) } };
}

/** Numbers in order as [first, last] ranges without gaps. */
function toRanges(numbers: readonly number[]): readonly (readonly [number, number])[] {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
}

/**
 * Unbounded lag: folds every group that has closed since the last draw, in cursor order, as one update batch. A group
 * that comes late counts in the mean of those it came with, so that a straggler weighs no more than others.
 */
function foldClosedGroups(state: RunState): { readonly policyState: PolicyState; readonly folded: FoldRecord } {
  const fresh = state.batches.flatMap((batch) =>
    batch.groups.flatMap((group, i) =>
      group.kind === "closed" && !group.folded ? [{ cursor: batch.cursor + i, group }] : [],
    ),
  );
  const signals = fresh.flatMap(({ group: { arm, signal } }) => (signal === null ? [] : [{ arm, signal }]));
  const ranges = toRanges(fresh.map(({ cursor }) => cursor));
  return { policyState: currentPolicy(state).fold(signals), folded: { kind: "groups", ranges } };
}

/** Plans the next update batch. The state must be ready (drawReadiness). */
export function planDraw(state: RunState): DrawPlan {
  const { config, cursor, batchesDrawn: batch, policy, weights, epochs } = state;
  const left = config.length === 0 ? Infinity : config.length - cursor;
  const size = Math.min(config.promptsPerUpdate, left);
  const { policyState, folded } =
    config.lag.kind === "unbounded" ? foldClosedGroups(state) : foldBatches(state, config.lag.count);
  const active = activePolicy(policy, policyState, config.arms.length);
  const probabilities = active.probabilities(weights);
  const classes = armClasses(config.arms, active.possible(weights));
  const quotas = quotasOf(policy.constraints, batch, size);
  const slots = assignSlots(classes, probabilities, quotas, size, rngFor("draw", config.seed, batch));
  const waits = active.takesFeedback && config.lag.kind === "batches";
  const surplus = waits ? 0 : Math.max(0, state.groupsOpen + size - OPEN_GROUPS_MAX);
  const closes = surplus > 0 ? openCursors(state).slice(0, surplus) : [];
  return { batch, cursor, slots, probabilities, policyState, folded, closes, basis: { policy, weights, epochs } };
}

/** Whether a plan still holds: nothing that it was made of has changed. Later feedback does not count. */
export function isCurrent(plan: DrawPlan, state: RunState): boolean {
  const { policy, weights, epochs } = plan.basis;
  const same = state.policy === policy && state.weights === weights && state.epochs === epochs;
  return same && state.batchesDrawn === plan.batch && !state.paused;
}

/** An instance that could be a task; "none": this ordinal has no instance. */
export type Candidate =
  { readonly kind: "task"; readonly hash: string; readonly draft: Json } | { readonly kind: "none" };

/** Which instance: an arm's index, and its ordinal in the arm. */
export interface Place {
  readonly arm: number;
  readonly ordinal: number;
}

export type Filled =
  | { readonly kind: "filled"; readonly tasks: readonly DrawnTask[] }
  /** Candidates that must be made first. */
  | { readonly kind: "wanted"; readonly places: readonly Place[] }
  /** An arm that has no instance in SKIPS_MAX + 1 ordinals. */
  | { readonly kind: "barren"; readonly arm: number };

type Choice = DrawnTask | "none" | { readonly wantedFrom: number };

/**
 * The first candidate from an ordinal on that was not issued. If all within SKIPS_MAX were, the first of them is
 * repeated, so that an arm that has run dry still goes round all of its instances.
 */
function choose(
  arm: number,
  from: number,
  known: (hash: string) => boolean,
  lookup: (place: Place) => Candidate | undefined,
): Choice {
  let repeat: DrawnTask | undefined;
  for (let ordinal = from; ordinal <= from + SKIPS_MAX; ordinal++) {
    const candidate = lookup({ arm, ordinal });
    if (candidate === undefined) return { wantedFrom: ordinal };
    if (candidate.kind === "none") continue;
    const { hash, draft } = candidate;
    if (!known(hash)) return { arm, ordinal, hash, repeat: false, draft };
    repeat ??= { arm, ordinal, hash, repeat: true, draft };
  }
  return repeat ?? "none";
}

/** Fills a plan's slots in cursor order with instances that the run has not issued. */
export function fillSlots(
  state: RunState,
  slots: readonly number[],
  lookup: (place: Place) => Candidate | undefined,
): Filled {
  const next = state.arms.map((arm) => arm.nextOrdinal);
  const left = state.arms.map((_, arm) => slots.filter((slot) => slot === arm).length);
  const here = new Set<string>();
  const known = (hash: string): boolean => here.has(hash) || isIssued(state.issued, hash);
  const tasks: DrawnTask[] = [];
  for (const arm of slots) {
    const from = next[arm] as number;
    const choice = choose(arm, from, known, lookup);
    if (choice === "none") return { kind: "barren", arm };
    if ("wantedFrom" in choice)
      return { kind: "wanted", places: wanted(arm, choice.wantedFrom, from, next, left, lookup) };
    here.add(choice.hash);
    tasks.push(choice);
    next[arm] = choice.ordinal + 1;
    left[arm] = (left[arm] as number) - 1;
  }
  return { kind: "filled", tasks };
}

/**
 * What to make next, so that few rounds are needed: for each arm as many as it still has slots, and for the arm that
 * stopped as many more as it has skipped already.
 */
function wanted(
  stopped: number,
  wantedFrom: number,
  from: number,
  next: readonly number[],
  left: readonly number[],
  lookup: (place: Place) => Candidate | undefined,
): readonly Place[] {
  return next.flatMap((start, arm) => {
    const skipped = arm === stopped ? wantedFrom - from : 0;
    const end = start + (left[arm] ?? 0) + 2 * skipped;
    const places = Array.from({ length: end - start }, (_, i) => ({ arm, ordinal: start + i }));
    return places.filter((place) => lookup(place) === undefined);
  });
}

/** The event of a plan whose slots are filled. */
export function drawnEvent(plan: DrawPlan, tasks: readonly DrawnTask[], armCount: number): BatchDrawn {
  const { batch, cursor, probabilities, policyState, folded, basis } = plan;
  const values = activePolicy(basis.policy, policyState, armCount).values();
  return { kind: "batch_drawn", batch, cursor, tasks, probabilities, values, policyState, folded };
}
