/** Draws of update batches: one at a time for each run, with their instances made outside of the run's queue. */
import { placeOf } from "../codec.ts";
import {
  type Candidate,
  drawnEvent,
  type DrawPlan,
  drawReadiness,
  fillSlots,
  isCurrent,
  planDraw,
  SKIPS_MAX,
  type Wanted,
} from "../draw.ts";
import type { RunEvent } from "../events.ts";
import type { Refusal } from "../results.ts";
import type { DrawnTask, RunState } from "../state.ts";
import type { InstanceKey, RunConfig } from "../types.ts";
import type { Gone, LiveRun } from "./live-run.ts";
import type { Ports, TaskSource } from "./ports.ts";

/** How often a draw is planned again because control changes came in between. */
const PLANS_MAX = 32;

/** "done": a batch was drawn, or the run is no longer ready for one: look again. */
export type DrawOutcome = { readonly kind: "done" } | Gone | Refusal;

export interface Drawing {
  /** Draws the next update batch, or joins the draw that is going on. */
  draw(): Promise<DrawOutcome>;
}

/** Candidates that were made and not yet used, by arm and ordinal. */
interface Stock<Key extends InstanceKey> {
  config: RunConfig | undefined;
  arms: readonly Map<number, Candidate<Key>>[];
}

/** Makes instances of an arm and puts them in stock; a refusal where one could not be made. */
async function make<Spec, Key extends InstanceKey>(
  source: TaskSource<Spec, Key>,
  config: RunConfig<Spec>,
  { arm, ordinals }: Wanted,
  stock: Stock<Key>,
  signal: AbortSignal,
): Promise<Refusal | "cancelled" | undefined> {
  const of = config.arms[arm];
  if (of === undefined) throw new Error(`a draw is of arm ${arm}, and the run has ${config.arms.length}`);
  const made = await source.make(
    ordinals.map((ordinal) => placeOf(of, ordinal, config.seed)),
    signal,
  );
  let failed: Refusal | "cancelled" | undefined;
  for (const [i, result] of made.entries()) {
    if (result.kind === "unavailable") failed ??= result;
    else if (result.kind === "cancelled") failed ??= "cancelled";
    else if (stock.config === config) stock.arms[arm]?.set(ordinals[i] ?? -1, result);
  }
  return failed;
}

/** Makes what a plan wants until its slots are filled; "cancelled": the plan no longer holds. */
async function fill<Spec, Key extends InstanceKey>(
  source: TaskSource<Spec, Key>,
  { config }: RunState<Spec, Key>,
  plan: DrawPlan,
  stock: Stock<Key>,
  signal: AbortSignal,
): Promise<readonly DrawnTask<Key>[] | Refusal | "cancelled"> {
  for (;;) {
    const filled = fillSlots(plan, (arm, ordinal) => stock.arms[arm]?.get(ordinal));
    if (filled.kind === "filled") return filled.tasks;
    if (filled.kind === "barren") {
      const id = config.arms[filled.arm]?.id;
      return { kind: "failed_precondition", message: `arm "${id}" gave no task in ${SKIPS_MAX + 1} tries` };
    }
    const failures = await Promise.all(filled.wanted.map((each) => make(source, config, each, stock, signal)));
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

/** Aborted once a plan no longer holds, or the run is gone; `end` stops watching. */
function whilePlanned<Spec, Key extends InstanceKey>(run: LiveRun<Spec, Key>, plan: DrawPlan) {
  const controller = new AbortController();
  const end = run.onChange(() => {
    if (run.isGone() || !isCurrent(plan, run.state())) controller.abort();
  });
  return { signal: controller.signal, end };
}

type Written = { readonly kind: "done" } | { readonly kind: "outdated" };

async function drawOnce<Spec, Key extends InstanceKey>(
  run: LiveRun<Spec, Key>,
  { source, clock }: Pick<Ports<Spec, Key>, "source" | "clock">,
  stock: Stock<Key>,
): Promise<DrawOutcome> {
  for (let plans = 0; plans < PLANS_MAX; plans++) {
    const state = run.state();
    if (run.isGone() || drawReadiness(state).kind !== "ready") return { kind: "done" };
    if (stock.config !== state.config) {
      stock.config = state.config;
      stock.arms = state.config.arms.map(() => new Map<number, Candidate<Key>>());
    }
    const plan = planDraw(state);
    if (plan.kind !== "plan") return plan;
    const watching = whilePlanned(run, plan);
    const tasks = await fill(source, state, plan, stock, watching.signal).finally(watching.end);
    if (tasks === "cancelled") continue;
    if ("kind" in tasks) return tasks;
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
  ports: Pick<Ports<Spec, Key>, "source" | "clock">,
): Drawing {
  const stock: Stock<Key> = { config: undefined, arms: [] };
  let current: Promise<DrawOutcome> | undefined;
  return {
    draw: () => {
      current ??= drawOnce(run, ports, stock).finally(() => {
        current = undefined;
      });
      return current;
    },
  };
}
