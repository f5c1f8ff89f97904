/**
 * Stock of a run's instances that are made, or being made, before they are drawn. The instance of each task number of
 * an arm is known in advance. How many tasks of each arm the next draw takes depends on feedback. So after each draw,
 * the server makes the instances that the next draw probably needs. After the feedback, it makes the ones that the draw
 * will take. A draw makes missing instances itself, so its result does not depend on the stock.
 */
import type { DrawnTask, IssuedTask } from "../curriculum/batches.ts";
import { type DrawPlan, drawReadiness, isCurrent, planDraw } from "../curriculum/draw.ts";
import { type Candidate, DRY_ORDINALS, fillSlots, type MissingInstances } from "../curriculum/fill-slots.ts";
import { issuedTask, type RunState } from "../curriculum/state.ts";
import { grows, levelOf, nextOrdinalOf } from "../curriculum/growth.ts";
import { definitionOf } from "../curriculum/policies/registry.ts";
import { viewOf } from "../curriculum/run-view.ts";
import { type InstanceKey, placeOf, type Refusal, type RunConfig, slotsFor } from "../curriculum/types.ts";
import type { LiveRun } from "./live-run.ts";
import type { MakeOutcome, TaskSource } from "./dependencies.ts";

/**
 * Number of instances that are made in advance at a time. It is small, so that a draw that needs one of them waits for
 * few others.
 */
const CHUNK = 16;

/**
 * Number of standard deviations that are added to the mean number of tasks that a draw takes from an arm. So many are
 * made in advance, and a draw rarely needs more.
 */
const DEVIATIONS = 3;

/** Result of making an instance that can be stored for later draws. */
type Stocked<Key extends InstanceKey> = Extract<MakeOutcome<Key>, { readonly kind: "task" | "none" }>;

/** Reason why some requested instances could not be made. */
export type NotMade = Refusal | "cancelled";

export interface Stock<Key extends InstanceKey> {
  readonly lookup: (arm: number, ordinal: number) => Candidate<Key> | undefined;
  /** Returns why a task of the arm has no instance. Empty: it has one, or it was not made yet. */
  reason(arm: number, ordinal: number): string;
  /** Returns the number of stored results. */
  size(): number;
  /**
   * Makes the requested instances and waits for them, also for those that another call is making. If that call is
   * aborted, its instances are still missing afterwards.
   */
  make(wanted: readonly MissingInstances[], signal: AbortSignal): Promise<NotMade | undefined>;
  /**
   * Adapts to the run's new state: drops instances that were drawn or skipped, and all instances if the configuration
   * or the lists of rows changed.
   */
  follow(state: RunState): void;
  /**
   * Drops the instances outside the ranges `kept`, for arms whose levels open one by one. Solved levels leave many
   * unused instances.
   */
  trim(kept: readonly Range[]): void;
}

/** Successive task numbers of an arm, or of a level of an arm that grows. */
interface Range {
  readonly arm: number;
  readonly from: number;
  readonly count: number;
}

/** Task number of an arm, whose instance is to be made. */
interface Place {
  readonly arm: number;
  readonly ordinal: number;
}

interface Shelf<Key extends InstanceKey> {
  readonly made: Map<number, Stocked<Key>>;
  readonly pending: Map<number, Promise<unknown>>;
  /** Whether the arm has ever given a task. */
  gives: boolean;
}

function shelf<Key extends InstanceKey>(): Shelf<Key> {
  return { made: new Map(), pending: new Map(), gives: false };
}

/** Stores the results of making instances of an arm. If some instances could not be made, returns the reason. */
function shelve<Key extends InstanceKey>(
  on: Shelf<Key>,
  ordinals: readonly number[],
  made: readonly MakeOutcome<Key>[],
): NotMade | undefined {
  let failed: NotMade | undefined;
  for (const [i, result] of made.entries()) {
    if (result.kind === "unavailable") failed ??= result;
    else if (result.kind === "cancelled") failed ??= "cancelled";
    else {
      on.made.set(ordinals[i] ?? -1, result);
      on.gives ||= result.kind === "task";
    }
  }
  return failed;
}

export function createStock<Spec, Key extends InstanceKey>(
  run: Pick<LiveRun<Spec, Key>, "id" | "state">,
  source: TaskSource<Spec, Key>,
): Stock<Key> {
  let { config, lists }: Pick<RunState, "config" | "lists"> = run.state();
  let shelves = config.arms.map(() => shelf<Key>());
  // Number of stored results. It is kept as a variable, because it is read often and a run may have a thousand arms.
  let candidates = 0;

  const begin = async (
    of: RunConfig<Spec>,
    arm: number,
    ordinals: readonly number[],
    signal: AbortSignal,
  ): Promise<NotMade | undefined> => {
    const on = shelves[arm];
    const spec = of.arms[arm];
    if (on === undefined || spec === undefined) throw new Error(`bug: a draw is of arm ${arm}, which does not exist`);
    const places = ordinals.map((ordinal) => placeOf(spec, ordinal, of.seed, of.arms, lists));
    const making = source.make(places, signal, run.id);
    for (const ordinal of ordinals) on.pending.set(ordinal, making);
    try {
      const made = await making;
      const before = on.made.size;
      const failed = shelve(on, ordinals, made);
      if (shelves[arm] === on) candidates += on.made.size - before;
      return failed;
    } finally {
      for (const ordinal of ordinals) on.pending.delete(ordinal);
    }
  };

  const makeOf = async (
    of: RunConfig<Spec>,
    { arm, ordinals }: MissingInstances,
    signal: AbortSignal,
  ): Promise<NotMade | undefined> => {
    const on = shelves[arm] ?? shelf<Key>();
    // An arm that has not given a task yet may have none, so it is asked for at most DRY_ORDINALS instances.
    const asked = on.gives || of.arms[arm]?.rows !== undefined ? ordinals : ordinals.slice(0, DRY_ORDINALS);
    const others = asked.flatMap((ordinal) => on.pending.get(ordinal) ?? []);
    const own = asked.filter((ordinal) => !on.made.has(ordinal) && !on.pending.has(ordinal));
    const begun = own.length === 0 ? undefined : begin(of, arm, own, signal);
    await Promise.allSettled(others);
    return begun;
  };

  return {
    lookup: (arm, ordinal) => shelves[arm]?.made.get(ordinal),
    reason(arm, ordinal) {
      const found = shelves[arm]?.made.get(ordinal);
      return found?.kind === "none" ? found.message : "";
    },
    size: () => candidates,
    async make(wanted, signal) {
      const of = config as RunConfig<Spec>;
      const failures = await Promise.all(wanted.map((each) => makeOf(of, each, signal)));
      return failures.find((failed) => failed !== undefined);
    },
    follow(state) {
      if (state.config !== config || state.lists !== lists) {
        ({ config, lists } = state);
        shelves = state.config.arms.map(() => shelf<Key>());
        candidates = 0;
      }
      for (const [arm, { made }] of shelves.entries())
        candidates -= forget(made, (ordinal) => isPast(state, arm, ordinal));
    },
    trim(kept) {
      for (const [arm, { made }] of shelves.entries())
        if (config.arms[arm]?.grow !== undefined)
          candidates -= forget(made, (ordinal) => !kept.some((range) => isWithin(range, arm, ordinal)));
    },
  };
}

/**
 * Returns whether no later draw takes this instance, because it was drawn or skipped. If an arm chooses its rows by
 * pass rate, each draw chooses them anew, so none of its instances is kept.
 */
function isPast({ config, arms }: RunState, arm: number, ordinal: number): boolean {
  const { rows, grow } = config.arms[arm] ?? {};
  const counters = arms[arm];
  const next = counters === undefined ? 0 : nextOrdinalOf(counters, levelOf({ ...(grow && { grow }) }, ordinal));
  return rows !== undefined || ordinal < next;
}

/** Drops the results for which `isDropped` returns true, by task number, and returns their number. */
function forget(made: Map<number, unknown>, isDropped: (ordinal: number) => boolean): number {
  const before = made.size;
  for (const ordinal of made.keys()) if (isDropped(ordinal)) made.delete(ordinal);
  return before - made.size;
}

function isWithin(range: Range, arm: number, ordinal: number): boolean {
  return range.arm === arm && range.from <= ordinal && ordinal < range.from + range.count;
}

/** Returns whether making a task of the arm may cost money, because a teacher makes it or an external resource scores it. */
function mayCost({ resource, source }: RunConfig["arms"][number]): boolean {
  return resource !== undefined || source === "teacher";
}

/** Returns the share of each level in the draws of each arm that grows. Undefined for other arms. */
function levelShares(state: RunState): readonly (readonly number[] | undefined)[] {
  const { policy, policyState, config } = state;
  if (!grows(config)) return [];
  const levels = definitionOf(policy).levels?.(policy.config, policyState, viewOf(state)) ?? [];
  return levels.map((of) => of?.shares);
}

/**
 * Returns the instances that the next draw probably needs, from the last draw's probabilities: the mean number of each
 * arm and level plus `deviations` standard deviations.
 */
function expected(state: RunState, deviations: number): readonly Range[] {
  const { config, probabilities, weights, masks, arms } = state;
  const slots = slotsFor(config.promptsPerUpdate, config.dynamicSampling);
  const shares = levelShares(state);
  const countFor = (p: number): number =>
    p <= 0 ? 0 : Math.min(slots, Math.ceil(slots * p + deviations * Math.sqrt(slots * p * (1 - p)) + 1));
  return arms.flatMap((counters, arm): readonly Range[] => {
    const p = probabilities?.[arm] ?? 0;
    if ((weights[arm] ?? 0) <= 0 || masks[arm] !== null || config.arms[arm]?.rows !== undefined) return [];
    const levels = shares[arm]?.map((share, level) => [level, p * share] as const) ?? [[undefined, p] as const];
    return levels.map(([level, part]) => ({ arm, from: nextOrdinalOf(counters, level), count: countFor(part) }));
  });
}

/** Returns the instances that a planned draw still needs. */
function missingOf<Spec, Key extends InstanceKey>(
  { config, probabilities }: RunState<Spec, Key>,
  plan: DrawPlan,
  stock: Stock<Key>,
): readonly Place[] {
  const filled = fillSlots(plan, stock.lookup);
  if (filled.kind !== "wanted") return [];
  const places = filled.wanted.flatMap(({ arm, ordinals }) => ordinals.map((ordinal) => ({ arm, ordinal })));
  return places.filter(({ arm }) => {
    const of = config.arms[arm];
    // The client of a new run may never ask for a batch, so its first batch is made in advance only if that costs no
    // money.
    return of !== undefined && of.rows === undefined && !(probabilities === null && mayCost(of));
  });
}

/** Returns the instances that the next draw probably needs and that are not made yet. */
function missingOfExpected(state: RunState, deviations: number, { lookup }: Stock<InstanceKey>): readonly Place[] {
  return expected(state, deviations).flatMap(({ arm, from, count }) =>
    Array.from({ length: count }, (_, i) => ({ arm, ordinal: from + i })).filter(
      ({ ordinal }) => lookup(arm, ordinal) === undefined,
    ),
  );
}

interface AheadOptions<Spec, Key extends InstanceKey> {
  readonly stock: Stock<Key>;
  readonly source: Pick<TaskSource<Spec, Key>, "present">;
  /** Number of instances in the stock at which no more are made. */
  readonly candidatesMax: number;
}

/**
 * Makes instances of the next draw in advance. If the feedback that the draw needs has arrived, the draw is planned,
 * and the instances of the plan are made first. Then instances that the next draw probably needs are made, until the
 * stock has about `candidatesMax`. The function stops early if the run draws or changes, or if missing feedback
 * arrives. At the end it makes the prompts and messages of a planned draw.
 */
export async function makeAhead<Spec, Key extends InstanceKey>(
  run: Pick<LiveRun<Spec, Key>, "id" | "state" | "isGone">,
  { stock, source, candidatesMax }: AheadOptions<Spec, Key>,
  signal: AbortSignal,
): Promise<void> {
  const begun = run.state();
  const { kind: readiness } = drawReadiness(begun);
  const isOver = (): boolean => {
    const now = run.state();
    const isSame = now.batchesDrawn === begun.batchesDrawn && now.config === begun.config;
    return !isSame || drawReadiness(now).kind !== readiness || run.isGone() || stock.size() >= candidatesMax;
  };
  const make = async (places: readonly Place[]): Promise<boolean> => {
    for (let i = 0; i < places.length; i += CHUNK) {
      if (isOver()) return false;
      if ((await stock.make(byArm(places.slice(i, i + CHUNK)), signal)) !== undefined) return false;
    }
    return !isOver();
  };
  if (readiness === "finished" || readiness === "paused") return;
  stock.follow(begun);
  // The levels' shares of the draws go up and down, so unused instances of a level are kept while there is room.
  if (stock.size() > candidatesMax / 2) stock.trim(expected(begun, DEVIATIONS));
  const plan = readiness === "ready" ? planDraw(begun) : undefined;
  if (plan?.kind === "plan")
    for (;;) {
      // The run may have issued some of the made instances before. The draw then needs other instances in their place.
      const missing = missingOf(begun, plan, stock);
      if (missing.length === 0) break;
      if (!(await make(missing))) return;
    }
  // The first pass makes as many instances of each arm as a draw takes on average, and the second pass makes more.
  for (const deviations of [0, DEVIATIONS]) if (!(await make(missingOfExpected(begun, deviations, stock)))) break;
  if (plan?.kind !== "plan" || !isCurrent(plan, run.state())) return;
  const filled = fillSlots(plan, stock.lookup);
  if (filled.kind === "filled") await source.present?.(run.id, issuedSoon(begun, plan, filled.tasks), begun.config);
}

/** Returns a planned draw's tasks as the run will issue them. Tasks that may cost money are left out. */
function issuedSoon<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  { batch: index, probabilities }: DrawPlan,
  tasks: readonly DrawnTask<Key>[],
): readonly IssuedTask<Key>[] {
  const { arms, numGenerations } = state.config;
  const free = tasks.filter(({ arm }) => arms[arm] !== undefined && !mayCost(arms[arm]));
  return free.map((task) => issuedTask(state, { index, probabilities, numGenerations }, task));
}

/** Groups instances by arm, so that a run of many arms makes a task or two of each arm in one call. */
function byArm(places: readonly Place[]): readonly MissingInstances[] {
  const ofArms = Map.groupBy(places, ({ arm }) => arm);
  return [...ofArms].map(([arm, of]) => ({ arm, ordinals: of.map(({ ordinal }) => ordinal) }));
}
