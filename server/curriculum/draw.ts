/**
 * Draws of update batches. Batch k is drawn from the state after every batch up to k − 1 − lag closed: groups are folded
 * into the policy's state only here, and only up to that batch, however many more have closed. So a run is a pure
 * function of its seed, its control changes and its feedback.
 */
import { rngFor } from "../../envs/lib/rng.ts";
import { armClasses, assignSlots, drawableProbabilities, quotasOf } from "./constraints.ts";
import type { BatchDrawn } from "./events.ts";
import { isIssued, isRecent } from "./issued-hashes.ts";
import type { KnownTask, ObservedGroup, Progress } from "./policies/policy.ts";
import { takesFeedback } from "./policies/needs.ts";
import { definitionOf } from "./policies/registry.ts";
import { isWithin } from "./policies/ranks.ts";
import type { Refusal } from "./results.ts";
import { signals } from "./signals.ts";
import {
  batchAt,
  feedbackWeight,
  isDrawn,
  openGroups,
  openGroupsMax,
  rememberedOf,
  toRanges,
  updatesOf,
  withFolded,
  type Batch,
  type ClosedGroup,
  type DrawnTask,
  type Fold,
  type RunState,
} from "./state.ts";
import { passesOver } from "./task-memory.ts";
import { slotsFor, type Arm, type InstanceKey } from "./types.ts";
import { viewOf } from "./view.ts";

/** Instances of an arm passed over because the run has issued them; then a repeat is accepted. */
export const SKIPS_MAX = 64;

/** Instances of an arm passed over because the policy, or the filter's range of ranks, does not accept them. */
export const REFUSALS_MAX = 16_384;

/** Instances of an arm passed over because of what they came to; then the first of them is accepted. */
export const FILTERED_MAX = 1024;

/**
 * Ordinals in a row that have no instance, each after a search to the end of its budget, after which an arm is taken to
 * have no more. Which ones they are depends on the run's seed alone.
 */
export const DRY_ORDINALS = 8;

/** How long to wait before asking again for a batch while no arm can be drawn. */
const MASKED_RETRY_MS = 1000;

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
  if (isDrawn(state)) return { kind: "finished" };
  if (state.paused) return { kind: "paused" };
  if (config.lag.kind === "unbounded" || !takesFeedback(state.policy)) return { kind: "ready" };
  const waiting = state.batchesClosed < dueBatches(state, config.lag.count);
  return waiting ? { kind: "waiting", batch: state.batchesClosed } : { kind: "ready" };
}

/** Whether an instance may be drawn now; "filtered": if there is nothing else. */
export type Verdict = "accepted" | "refused" | "filtered";

/** A draw but for its instances. */
export interface DrawPlan {
  readonly kind: "plan";
  readonly batch: number;
  readonly cursor: number;
  /** The arm of each slot. */
  readonly slots: readonly number[];
  /** How many of the slots are to train on; the others are a reserve. */
  readonly prompts: number;
  readonly probabilities: readonly number[];
  readonly policyState: unknown;
  readonly fold: Fold;
  /** Groups to close first: the oldest open ones beyond openGroupsMax. */
  readonly closes: readonly number[];
  readonly verdict: (task: KnownTask) => Verdict;
  /** A pass over the same instances begins. */
  readonly restarts: boolean;
  /** Instances count as known that the run has issued; of policies that go over them again, in this pass only. */
  readonly isKnown: (hash: string) => boolean;
  /** What it was planned on; see isCurrent. */
  readonly basis: RunState;
}

/**
 * What the next draw folds in. Under an unbounded lag every group that has closed since the last draw, in cursor order,
 * as one update batch: a group that comes late counts in the mean of those it came with, so that a straggler weighs no
 * more than others.
 */
function dueFold(state: RunState): Fold {
  const { lag } = state.config;
  if (lag.kind === "batches")
    return { kind: "through", batches: Math.max(dueBatches(state, lag.count), state.batchesFolded) };
  const fresh = state.batches.flatMap(({ groups }) =>
    groups.flatMap((group) => (group.kind === "closed" && !group.folded ? [group.task.cursor] : [])),
  );
  return { kind: "groups", ranges: toRanges(fresh) };
}

/** The policy's state after what a fold takes in. */
function observe(state: RunState, updates: readonly (readonly ClosedGroup[])[]): unknown {
  const { policy, policyState, config } = state;
  const definition = definitionOf(policy);
  const signal = signals[definition.signal?.(policy.config) ?? "ABSOLUTE_ADVANTAGE"];
  const observed = ({ task, outcome }: ClosedGroup): ObservedGroup => {
    const { count, sum, solved, deviation } = outcome;
    const arm = config.arms[task.arm] as Arm;
    const batch = batchAt(state, task.cursor) as Batch;
    return {
      ...{ arm: task.arm, armId: arm.id, hash: task.key.hash, rank: task.key.rank },
      weight: feedbackWeight(state, batch.index),
      probability: batch.probabilities[task.arm] ?? 0,
      rewardMean: count > 0 ? sum / count : undefined,
      rewardDeviation: count > 0 ? (deviation ?? undefined) : undefined,
      solvedShare: count > 0 && solved !== null ? solved / count : undefined,
      signal: signal(outcome, arm.rewardRange),
    };
  };
  return updates.reduce<unknown>(
    (now, groups) => definition.observe?.(policy.config, now, groups.map(observed)) ?? now,
    policyState,
  );
}

function nothingToDraw({ config, masks }: RunState): Refusal {
  const masked = config.arms.flatMap(({ id }, i) => (masks[i] === null ? [] : [`"${id}": ${masks[i]}`]));
  const message = `no arm can be drawn now; masked are ${masked.join("; ")}`;
  return { kind: "unavailable", message, retryDelayMs: MASKED_RETRY_MS };
}

/** Plans the next update batch. The state must be ready (drawReadiness). */
export function planDraw(state: RunState): DrawPlan | Refusal {
  const { config, cursor, batchesDrawn: batch, policy, weights, masks } = state;
  const definition = definitionOf(policy);
  const left = config.length === 0 ? Infinity : config.length - state.prompts;
  const prompts = Math.min(config.promptsPerUpdate, left);
  const size = slotsFor(prompts, config.dynamicSampling);
  const fold = dueFold(state);
  const updates = takesFeedback(policy) ? updatesOf(state, fold) : [];
  const view = viewOf({ ...state, arms: withFolded(state.arms, updates) });
  const observed = observe(state, updates);
  const pass = definition.pass?.(policy.config, observed, view.progress);
  const policyState = pass?.state ?? observed;
  const p = definition.probabilities(policy.config, policyState, view);
  const drawable = drawableProbabilities(policy, p, weights, masks);
  if (drawable === undefined) return nothingToDraw(state);
  const { probabilities, possible } = drawable;
  const quotas = quotasOf(policy.constraints, batch, size);
  const classes = armClasses(config.arms, possible);
  const slots = assignSlots(classes, probabilities, quotas, size, rngFor("draw", config.seed, pass?.batch ?? batch));
  const waits = takesFeedback(policy) && config.lag.kind === "batches";
  const surplus = waits ? 0 : Math.max(0, state.groupsOpen + prompts - openGroupsMax(config));
  const closes =
    surplus > 0
      ? openGroups(state)
          .slice(0, surplus)
          .map(({ group }) => group.task.cursor)
      : [];
  return {
    ...{ kind: "plan", batch, cursor, slots, prompts, probabilities, policyState, fold, closes },
    verdict: verdictOf(state, policyState, view.progress, updates),
    restarts: pass?.restarts ?? false,
    isKnown: pass?.restarts ? () => false : (hash) => (pass === undefined ? isIssued : isRecent)(state.issued, hash),
    basis: state,
  };
}

/** Which instances a draw takes: the policy's own choice, and the filter around it. */
function verdictOf(
  { policy, memory }: RunState,
  policyState: unknown,
  progress: Progress,
  updates: readonly (readonly ClosedGroup[])[],
): DrawPlan["verdict"] {
  const { config, filter } = policy;
  const definition = definitionOf(policy);
  const isFiltered =
    filter === undefined || memory === null ? () => false : passesOver(filter, memory, rememberedOf(updates));
  return (task) => {
    const accepted =
      (definition.accepts?.(config, policyState, task, progress) ?? true) && isWithin(filter?.ranks, task.rank);
    if (!accepted) return "refused";
    return isFiltered(task.hash) ? "filtered" : "accepted";
  };
}

/** Whether the groups that a plan folds in are as they were: one that was opened again may come to something else. */
function foldHolds({ basis, fold }: DrawPlan, state: RunState): boolean {
  const due = (batch: Batch): boolean =>
    fold.kind === "groups" ? true : basis.batchesFolded <= batch.index && batch.index < fold.batches;
  const now = new Set(state.batches);
  // Mostly few batches have changed, if any.
  const changed = basis.batches.filter((batch) => due(batch) && !now.has(batch));
  if (changed.length === 0) return true;
  const byIndex = new Map(state.batches.map((batch) => [batch.index, batch]));
  return changed.every(({ index, groups }) =>
    groups.every((group, i) => {
      const same = byIndex.get(index)?.groups[i];
      return group.kind === "open" || same === undefined || (same.kind === "closed" && same.outcome === group.outcome);
    }),
  );
}

/** Whether a plan still holds: nothing that it was made of has changed. Later feedback does not count. */
export function isCurrent(plan: DrawPlan, state: RunState): boolean {
  const { policy, policyState, config, weights, masks, incarnations } = plan.basis;
  const same = state.policy === policy && state.policyState === policyState && state.weights === weights;
  return (
    same &&
    state.config === config &&
    state.masks === masks &&
    state.incarnations === incarnations &&
    state.batchesDrawn === plan.batch &&
    !state.paused &&
    foldHolds(plan, state)
  );
}

/** An instance that could be a task; "none": this ordinal has no instance. */
export type Candidate<Key extends InstanceKey> =
  { readonly kind: "task"; readonly key: Key } | { readonly kind: "none" };

/** Ordinals of an arm. */
export interface Wanted {
  readonly arm: number;
  readonly ordinals: readonly number[];
}

/** Gives what was made for an ordinal of an arm; undefined: not made yet. */
export type Lookup<Key extends InstanceKey> = (arm: number, ordinal: number) => Candidate<Key> | undefined;

export type Filled<Key extends InstanceKey> =
  | { readonly kind: "filled"; readonly tasks: readonly DrawnTask<Key>[] }
  /** These are to be made, and the slots filled again. */
  | { readonly kind: "wanted"; readonly wanted: readonly Wanted[] }
  /** The arm gave no instance that can be drawn in so many ordinals. */
  | { readonly kind: "barren"; readonly arm: number; readonly tries: number }
  /** The arm has no instances at DRY_ORDINALS ordinals in a row, of which this is the last. */
  | { readonly kind: "dry"; readonly arm: number; readonly ordinal: number };

type Choice<Key extends InstanceKey> =
  | { readonly kind: "chosen"; readonly ordinal: number; readonly key: Key; readonly repeat: boolean }
  | { readonly kind: "wanted"; readonly from: number }
  | { readonly kind: "dry"; readonly ordinal: number }
  | { readonly kind: "none"; readonly tries: number };

/**
 * The first instance from an ordinal on that is accepted and not known. Past SKIPS_MAX that are known the first of them,
 * and past FILTERED_MAX that are filtered the first of those.
 */
function choose<Key extends InstanceKey>(
  arm: number,
  from: number,
  isKnown: (hash: string) => boolean,
  verdict: DrawPlan["verdict"],
  lookup: Lookup<Key>,
): Choice<Key> {
  let repeat: Choice<Key> | undefined;
  let fallback: Choice<Key> | undefined;
  const passed = { known: 0, filtered: 0, refused: 0 };
  let missing = 0;
  let ordinal = from;
  for (; passed.known <= SKIPS_MAX && passed.filtered <= FILTERED_MAX && passed.refused <= REFUSALS_MAX; ordinal++) {
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
    // A later epoch gives a pool's rows again, which is what it is for.
    const known = isKnown(key.hash) && (key.epoch ?? 0) === 0;
    if (found === "accepted" && !known) return { kind: "chosen", ordinal, key, repeat: false };
    const chosen: Choice<Key> = { kind: "chosen", ordinal, key, repeat: known };
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

/** Fills a plan's slots in cursor order with instances that the run has not issued. */
export function fillSlots<Key extends InstanceKey>(plan: DrawPlan, lookup: Lookup<Key>): Filled<Key> {
  const { slots, verdict, restarts, basis: state } = plan;
  const next = state.arms.map((arm) => (restarts ? 0 : arm.nextOrdinal));
  const left = state.arms.map(() => 0);
  for (const arm of slots) left[arm] = (left[arm] ?? 0) + 1;
  const here = new Set<string>();
  const isKnown = (hash: string): boolean => here.has(hash) || plan.isKnown(hash);
  const tasks: DrawnTask<Key>[] = [];
  for (const [i, arm] of slots.entries()) {
    const from = next[arm] ?? 0;
    const choice = choose(arm, from, isKnown, verdict, lookup);
    if (choice.kind === "none") return { kind: "barren", arm, tries: choice.tries };
    if (choice.kind === "dry") return { ...choice, arm };
    if (choice.kind === "wanted")
      return { kind: "wanted", wanted: wanted(arm, choice.from - from, next, left, lookup) };
    const { ordinal, key } = choice;
    // Of a pass over the same instances: all that the run issued before are repeats, although they are not passed over.
    const repeat = choice.repeat || isIssued(state.issued, key.hash);
    here.add(key.hash);
    tasks.push({ cursor: plan.cursor + i, arm, ordinal, repeat, key });
    next[arm] = ordinal + 1;
    left[arm] = (left[arm] ?? 0) - 1;
  }
  return { kind: "filled", tasks };
}

/**
 * What to make next, so that few rounds are needed: for each arm as many as it still has slots, and for the arm that
 * stopped as many more as it has skipped already.
 */
function wanted<Key extends InstanceKey>(
  stopped: number,
  skipped: number,
  next: readonly number[],
  left: readonly number[],
  lookup: Lookup<Key>,
): readonly Wanted[] {
  return next.flatMap((start, arm) => {
    const count = (left[arm] ?? 0) + (arm === stopped ? 2 * skipped : 0);
    const all = Array.from({ length: count }, (_, i) => start + i);
    const ordinals = all.filter((ordinal) => lookup(arm, ordinal) === undefined);
    return ordinals.length === 0 ? [] : [{ arm, ordinals }];
  });
}

/** The event of a plan whose slots are filled. */
export function drawnEvent<Key extends InstanceKey>(
  { batch, cursor, prompts, probabilities, policyState, fold, restarts }: DrawPlan,
  tasks: readonly DrawnTask<Key>[],
  atMs: number,
): BatchDrawn<Key> {
  return { kind: "drawn", batch, atMs, cursor, tasks, prompts, probabilities, policyState, fold, restarts };
}
