/** Draws of update batches: one at a time for each run, with their instances made outside of the run's queue. */
import { placeOf } from "../codec.ts";
import {
  drawnEvent,
  type DrawPlan,
  drawReadiness,
  DRY_ORDINALS,
  fillSlots,
  isCurrent,
  planDraw,
  type Wanted,
} from "../draw.ts";
import type { RunEvent } from "../events.ts";
import type { Refusal } from "../results.ts";
import type { DrawnTask, RunState } from "../state.ts";
import type { InstanceKey, RunConfig } from "../types.ts";
import type { Gone, LiveRun } from "./live-run.ts";
import type { Clock, Made, Ports, TaskSource } from "./ports.ts";

/** How often a draw is planned again because control changes came in between. */
const PLANS_MAX = 32;

/** "done": a batch was drawn, or the run is no longer ready for one: look again. */
export type DrawOutcome = { readonly kind: "done" } | Gone | Refusal;

export interface Drawing {
  /**
   * Draws the next update batch, or joins the draw that is going on. Once all who asked for it have left it ends, and what
   * was made is kept for the next one.
   */
  draw(signal: AbortSignal): Promise<DrawOutcome>;
}

/** What was made for an ordinal. */
type Stocked<Key extends InstanceKey> = Extract<Made<Key>, { readonly kind: "task" | "none" }>;

/** Candidates that were made and not yet used, by arm and ordinal. */
interface Stock<Key extends InstanceKey> {
  config: RunConfig | undefined;
  arms: readonly Map<number, Stocked<Key>>[];
  /** Arms that have given a task. */
  readonly giving: Set<number>;
}

/** Of why an arm was masked, characters. */
const REASON_LENGTH_MAX = 512;

/** Makes instances of an arm and puts them in stock; a refusal where one could not be made. */
async function make<Spec, Key extends InstanceKey>(
  { source, run }: Pick<Draw<Spec, Key>, "source" | "run">,
  config: RunConfig<Spec>,
  { arm, ordinals }: Wanted,
  stock: Stock<Key>,
  signal: AbortSignal,
): Promise<Refusal | "cancelled" | undefined> {
  const of = config.arms[arm];
  if (of === undefined) throw new Error(`a draw is of arm ${arm}, and the run has ${config.arms.length}`);
  // Of an arm that may give nothing no more is asked than it takes to know.
  const asked = stock.giving.has(arm) ? ordinals : ordinals.slice(0, DRY_ORDINALS);
  const places = asked.map((ordinal) => placeOf(of, ordinal, config.seed));
  const made = await source.make(places, signal, run.id);
  let failed: Refusal | "cancelled" | undefined;
  for (const [i, result] of made.entries()) {
    if (result.kind === "unavailable") failed ??= result;
    else if (result.kind === "cancelled") failed ??= "cancelled";
    else if (stock.config === config) {
      stock.arms[arm]?.set(asked[i] ?? -1, result);
      if (result.kind === "task") stock.giving.add(arm);
    }
  }
  return failed;
}

/** An arm that gives no more tasks. */
interface Dry {
  readonly kind: "dry";
  readonly arm: number;
  readonly reason: string;
}

function dryArm(arm: number, last: Stocked<InstanceKey> | undefined): Dry {
  const why = last?.kind === "none" ? last.message : "";
  const reason = `it gave no task ${DRY_ORDINALS} times in a row: ${why}`;
  return { kind: "dry", arm, reason: reason.slice(0, REASON_LENGTH_MAX) };
}

/** Makes what a plan wants until its slots are filled; "cancelled": the plan no longer holds, or nobody waits. */
async function fill<Spec, Key extends InstanceKey>(
  draw: Draw<Spec, Key>,
  { config }: RunState<Spec, Key>,
  plan: DrawPlan,
  signal: AbortSignal,
): Promise<readonly DrawnTask<Key>[] | Dry | Refusal | "cancelled"> {
  const { stock } = draw;
  for (;;) {
    const filled = fillSlots(plan, (arm, ordinal) => stock.arms[arm]?.get(ordinal));
    if (filled.kind === "filled") return filled.tasks;
    if (filled.kind === "dry") return dryArm(filled.arm, stock.arms[filled.arm]?.get(filled.ordinal));
    if (filled.kind === "barren") {
      const id = config.arms[filled.arm]?.id;
      const message = `arm "${id}" gave no task that its policy accepts in ${filled.tries} tries`;
      return { kind: "failed_precondition", message };
    }
    const failures = await Promise.all(filled.wanted.map((each) => make(draw, config, each, stock, signal)));
    const failed = failures.find((found) => found !== undefined);
    if (failed !== undefined) return failed;
  }
}

function eventsOf<Spec, Key extends InstanceKey>(
  plan: DrawPlan,
  tasks: readonly DrawnTask<Key>[],
  atMs: number,
): readonly RunEvent<Spec, Key>[] {
  const drawn = drawnEvent(plan, tasks, atMs);
  if (plan.closes.length === 0) return [drawn];
  return [{ kind: "closed", cursors: plan.closes, reason: "too many open groups" }, drawn];
}

/** Forgets candidates that were used or passed over; those further on may be asked for next. */
function forgetUsed<Key extends InstanceKey>(stock: Stock<Key>, state: RunState): void {
  for (const [arm, candidates] of stock.arms.entries()) {
    const next = state.arms[arm]?.nextOrdinal ?? 0;
    for (const ordinal of candidates.keys()) if (ordinal < next) candidates.delete(ordinal);
  }
}

/** Aborted once a plan no longer holds, the run is gone or nobody waits; `end` stops watching. */
function whilePlanned<Spec, Key extends InstanceKey>(run: LiveRun<Spec, Key>, plan: DrawPlan, abandoned: AbortSignal) {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const forget = run.onChange(() => {
    if (run.isGone() || !isCurrent(plan, run.state())) abort();
  });
  abandoned.addEventListener("abort", abort);
  const end = (): void => {
    forget();
    abandoned.removeEventListener("abort", abort);
  };
  return { signal: controller.signal, end };
}

/** A draw that is going on, and what it works with. */
interface Draw<Spec, Key extends InstanceKey> {
  readonly run: LiveRun<Spec, Key>;
  readonly source: TaskSource<Spec, Key>;
  readonly clock: Clock;
  readonly stock: Stock<Key>;
  /** Aborted when nobody waits for it any more. */
  readonly abandoned: AbortSignal;
}

/** Where no arm can be drawn, and none of those that are masked comes back, waiting does not help. */
function refusalFor({ config, masks }: RunState, refusal: Refusal): Refusal {
  const returns = config.arms.some(({ resource }, arm) => masks[arm] !== null && resource !== undefined);
  if (refusal.kind !== "unavailable" || returns) return refusal;
  return { kind: "failed_precondition", message: refusal.message };
}

/** Takes an arm out that gives no tasks, so that the others go on. */
function maskArm<Spec, Key extends InstanceKey>(
  run: LiveRun<Spec, Key>,
  plan: DrawPlan,
  { arm, reason }: Dry,
): Promise<null | Gone | Refusal> {
  return run.commit((now) => ({
    events: isCurrent(plan, now) ? [{ kind: "arm_masked", arm, reason }] : [],
    value: null,
  }));
}

type Written = { readonly kind: "done" } | { readonly kind: "outdated" };

async function drawOnce<Spec, Key extends InstanceKey>(draw: Draw<Spec, Key>): Promise<DrawOutcome> {
  const { run, clock, stock, abandoned } = draw;
  // Each arm may be masked once.
  const plansMax = PLANS_MAX + run.state().config.arms.length;
  for (let plans = 0; plans < plansMax; plans++) {
    const state = run.state();
    if (abandoned.aborted || run.isGone() || drawReadiness(state).kind !== "ready") return { kind: "done" };
    if (stock.config !== state.config) {
      stock.config = state.config;
      stock.arms = state.config.arms.map(() => new Map<number, Stocked<Key>>());
      stock.giving.clear();
    }
    const plan = planDraw(state);
    if (plan.kind !== "plan") return refusalFor(state, plan);
    const watching = whilePlanned(run, plan, abandoned);
    const tasks = await fill(draw, state, plan, watching.signal).finally(watching.end);
    if (tasks === "cancelled") continue;
    if ("kind" in tasks) {
      if (tasks.kind !== "dry") return tasks;
      const masked = await maskArm(run, plan, tasks);
      if (masked !== null) return masked;
      continue;
    }
    const outcome = await run.commit<Written>((now) =>
      isCurrent(plan, now)
        ? { events: eventsOf<Spec, Key>(plan, tasks, clock.now()), value: { kind: "done" } }
        : { events: [], value: { kind: "outdated" } },
    );
    if (outcome.kind === "outdated") continue;
    forgetUsed(stock, run.state());
    return outcome;
  }
  return { kind: "aborted", message: "the run keeps changing while a batch is drawn; try again" };
}

export function drawing<Spec, Key extends InstanceKey>(
  run: LiveRun<Spec, Key>,
  { source, clock }: Pick<Ports<Spec, Key>, "source" | "clock">,
): Drawing {
  const stock: Stock<Key> = { config: undefined, arms: [], giving: new Set() };
  const begin = () => {
    const leaving = new AbortController();
    const outcome = drawOnce({ run, source, clock, stock, abandoned: leaving.signal }).finally(() => {
      current = undefined;
    });
    return { outcome, leaving, waiting: 0 };
  };
  let current: ReturnType<typeof begin> | undefined;
  return {
    draw: (signal) => {
      const going = (current ??= begin());
      going.waiting++;
      const leave = (): void => {
        if (--going.waiting === 0) going.leaving.abort();
      };
      signal.addEventListener("abort", leave);
      return going.outcome.finally(() => signal.removeEventListener("abort", leave));
    },
  };
}
