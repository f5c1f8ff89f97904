/**
 * Draws update batches: chooses the arms and instances of their tasks. With a feedback lag of `lag` batches, batch k is
 * drawn once all batches up to k − 1 − lag are closed. At that draw, the policy has learned from exactly these batches,
 * even if more are closed. So a run depends only on its seed, its control changes and its feedback.
 */
import { rngFor } from "../../envs/lib/rng.ts";
import { armClasses, assignSlots, drawableProbabilities, drawnWeights, quotasOf } from "./constraints.ts";
import { drawLevels, grows, levelPlaceOf } from "./growth.ts";
import { isIssued, isRecent } from "./issued-hashes.ts";
import type { KnownTask, ObservedGroup, Progress } from "./policies/policy.ts";
import { isWithin } from "./policies/ranks.ts";
import { definitionOf } from "./policies/registry.ts";
import type { Batch, ClosedGroup } from "./batches.ts";
import type { BatchDrawn } from "./events.ts";
import { observedGroup, signalOf } from "./observed-group.ts";
import { feedbackWeight, type Fold, rememberedOf, takesFeedback, updatesOf, withFolded } from "./policy-updates.ts";
import { afterFold, chosenRows } from "./row-arms.ts";
import { listedRow, listOf, masksOf } from "./row-lists.ts";
import { batchAt, isDrawn, openGroups, openGroupsMax, type RunState, toRanges } from "./state.ts";
import { passesOver } from "./task-memory.ts";
import { type Arm, type Refusal, slotsFor } from "./types.ts";
import { viewOf } from "./run-view.ts";

/** Delay, in milliseconds, after which a caller should retry if all arms are masked, e.g. because a judge is down. */
const MASKED_RETRY_MS = 1000;

export type DrawReadiness =
  | { readonly kind: "ready" }
  | { readonly kind: "paused" }
  /** The run has drawn all prompts of its length. */
  | { readonly kind: "finished" }
  /** The next draw needs the missing feedback of the batch with this index. */
  | { readonly kind: "waiting"; readonly batch: number };

/**
 * Returns how many update batches, counted from the first, the policy must have learned from before the next draw.
 * `lag` is the run's feedback lag in batches.
 */
function dueBatches(state: RunState, lag: number): number {
  return Math.max(0, state.batchesDrawn - lag);
}

/** Returns whether the next update batch can be drawn. */
export function drawReadiness(state: RunState): DrawReadiness {
  const { config } = state;
  if (isDrawn(state)) return { kind: "finished" };
  if (state.paused) return { kind: "paused" };
  if (config.lag.kind === "unbounded" || !takesFeedback(state)) return { kind: "ready" };
  const waiting = state.batchesClosed < dueBatches(state, config.lag.count);
  return waiting ? { kind: "waiting", batch: state.batchesClosed } : { kind: "ready" };
}

/** Decision whether an instance may become a task. "filtered": it may only if the search finds no accepted instance. */
export type Verdict = "accepted" | "refused" | "filtered";

/**
 * Plan of an update batch. It says the arm of each task, and for some arms the data row or the level. Only the
 * instances are not chosen yet.
 */
export interface DrawPlan extends Omit<BatchDrawn, "kind" | "atMs" | "tasks"> {
  readonly kind: "plan";
  /** Arm of each task of the batch, as an index in the configuration. */
  readonly slots: readonly number[];
  /** Data row of each task of the batch, if its arm chooses rows by pass rate. Undefined for the other tasks. */
  readonly rows: readonly (number | undefined)[];
  /** Level of each task of the batch, if its arm grows (its levels open one by one). Undefined for the other tasks. */
  readonly levels: readonly (number | undefined)[];
  /**
   * Cursors (positions of tasks in the run) of the oldest open groups. They are closed before the draw, so that at most
   * openGroupsMax groups stay open.
   */
  readonly closes: readonly number[];
  readonly verdict: (task: KnownTask) => Verdict;
  /**
   * Returns whether an arm's task number stands for a data row that was removed from its pool. Draws skip the number.
   */
  readonly isGone: (arm: number, ordinal: number) => boolean;
  /**
   * Returns whether the run has already issued the instance with this hash. If the policy repeats the same instances in
   * passes, only the current pass counts.
   */
  readonly isKnown: (hash: string) => boolean;
  /** State from which the plan was made. The function isCurrent compares it with the newest state. */
  readonly basis: RunState;
}

/**
 * Returns the closed groups from which the policy learns at the next draw. With a feedback lag in batches, they are the
 * groups of all batches that are due. With an unbounded lag, they are all groups closed since the last draw, in cursor
 * order, as one update. So a late group counts no more than the other groups that closed since the last draw.
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

/** Returns the policy's state after it has learned from closed groups, given as one list for each update. */
function observe(state: RunState, updates: readonly (readonly ClosedGroup[])[]): unknown {
  const { policy, policyState, config } = state;
  const definition = definitionOf(policy);
  const signal = signalOf(definition, policy.config);
  const observed = ({ task, outcome }: ClosedGroup): ObservedGroup => {
    const batch = batchAt(state, task.cursor) as Batch;
    const place = {
      arm: task.arm,
      hash: task.key.hash,
      rank: task.key.rank,
      weight: feedbackWeight(state, batch.index),
      probability: batch.probabilities[task.arm] ?? 0,
      place: levelPlaceOf(config.arms[task.arm] ?? {}, task.ordinal),
    };
    return observedGroup(config.arms[task.arm] as Arm, place, outcome, signal);
  };
  return updates.reduce<unknown>(
    (now, groups) => definition.observe?.(policy.config, now, groups.map(observed)) ?? now,
    policyState,
  );
}

function nothingToDraw(state: RunState): Refusal {
  const { config } = state;
  const masks = masksOf(state);
  const masked = config.arms.flatMap(({ id }, i) => (masks[i] === null ? [] : [`"${id}": ${masks[i]}`]));
  const message = `no arm can be drawn now; masked arms: ${masked.join("; ")}`;
  return { kind: "unavailable", message, retryDelayMs: MASKED_RETRY_MS, wait: { reason: "ARMS_MASKED" } };
}

/**
 * Plans the next update batch. The caller must have checked that it can be drawn (drawReadiness). `fold` are the groups
 * from which the policy learns at the draw.
 */
export function planDraw(state: RunState, fold = dueFold(state)): DrawPlan | Refusal {
  const { config, cursor, batchesDrawn: batch, policy, weights } = state;
  const definition = definitionOf(policy);
  const left = config.length === 0 ? Infinity : config.length - state.prompts;
  const prompts = Math.min(config.promptsPerUpdate, left);
  const size = slotsFor(prompts, config.dynamicSampling);
  const updates = takesFeedback(state) ? updatesOf(state, fold) : [];
  const view = viewOf({ ...state, arms: withFolded(state.arms, updates) });
  const observed = observe(state, updates);
  const pass = definition.pass?.(policy.config, observed, view.progress);
  const policyState = pass?.state ?? observed;
  const p = definition.probabilities(policy.config, policyState, view);
  const drawable = drawableProbabilities(policy, p, drawnWeights(policy, config.arms, weights), masksOf(state));
  if (drawable === undefined) return nothingToDraw(state);
  const { probabilities, possible } = drawable;
  const quotas = quotasOf(policy.constraints, batch, size);
  const classes = armClasses(config.arms, possible);
  const slots = assignSlots(classes, probabilities, quotas, size, rngFor("draw", config.seed, pass?.batch ?? batch));
  const levels = grows(config) ? (definition.levels?.(policy.config, policyState, view) ?? []) : [];
  const rows = chosenRows(state, afterFold(state, updates), { slots, batch, fold });
  const waits = takesFeedback(state) && config.lag.kind === "batches";
  const surplus = waits ? 0 : Math.max(0, state.groupsOpen + prompts - openGroupsMax(config));
  const closes =
    surplus > 0
      ? openGroups(state)
          .slice(0, surplus)
          .map(({ group }) => group.task.cursor)
      : [];
  return {
    kind: "plan",
    batch,
    cursor,
    slots,
    rows,
    levels: drawLevels(config.arms, levels, slots, { seed: config.seed, batch }),
    prompts,
    probabilities,
    policyState,
    fold,
    closes,
    verdict: verdictOf(state, policyState, view.progress, updates),
    isGone: goneOf(state),
    restarts: pass?.restarts ?? false,
    isKnown: pass?.restarts
      ? () => false
      : remembered((hash) => (pass === undefined ? isIssued : isRecent)(state.issued, hash)),
    basis: state,
  };
}

/**
 * Returns `isKnown` with a cache, because the searches for successive tasks ask about the same instances. If an arm has
 * no new instances left, each search asks about up to 64 instances.
 */
function remembered(isKnown: (hash: string) => boolean): (hash: string) => boolean {
  const seen = new Map<string, boolean>();
  return (hash) => {
    const before = seen.get(hash);
    if (before !== undefined) return before;
    const known = isKnown(hash);
    seen.set(hash, known);
    return known;
  };
}

function goneOf({ config, lists }: RunState): DrawPlan["isGone"] {
  const ofArms = config.arms.map(({ id }) => listOf(lists, id));
  return (arm, ordinal) => {
    const list = ofArms[arm];
    if (list === undefined || list.gone.size === 0) return false;
    return listedRow(list, config.arms[arm]?.id ?? "", { ordinal, runSeed: config.seed }) === undefined;
  };
}

/**
 * Returns the function that decides whether an instance may become a task. The policy decides first, and then the run's
 * task filter, which e.g. skips solved instances.
 */
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

/**
 * Returns whether the groups from which the plan's policy state was computed are unchanged. A group may have been
 * reopened and closed with another outcome.
 */
function foldHolds({ basis, fold }: DrawPlan, state: RunState): boolean {
  const due = (batch: Batch): boolean =>
    fold.kind === "groups" ? true : basis.batchesFolded <= batch.index && batch.index < fold.batches;
  const now = new Set(state.batches);
  // Comparing batches by identity is fast, because usually few or none have changed.
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

/**
 * Returns whether a plan is still valid in the run's present state, i.e. nothing on which the plan depends has changed.
 * Feedback for batches from which the policy does not learn at this draw does not matter.
 */
export function isCurrent(plan: DrawPlan, state: RunState): boolean {
  const { policy, policyState, config, weights, masks, incarnations } = plan.basis;
  const same = state.policy === policy && state.policyState === policyState && state.weights === weights;
  return (
    same &&
    state.config === config &&
    state.masks === masks &&
    state.rows === plan.basis.rows &&
    state.lists === plan.basis.lists &&
    state.incarnations === incarnations &&
    state.batchesDrawn === plan.batch &&
    !state.paused &&
    foldHolds(plan, state)
  );
}
