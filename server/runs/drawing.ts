/**
 * Draws update batches, one at a time for each run. Instances are made before the draw enters the run's queue of
 * changes, so making them does not delay other changes.
 */
import { LRUCache } from "lru-cache";
import { type DrawPlan, drawReadiness, isCurrent, planDraw } from "../curriculum/draw.ts";
import { drawnEvent, DRY_ORDINALS, fillSlots } from "../curriculum/fill-slots.ts";
import type { RunEvent } from "../curriculum/events.ts";
import type { DrawnTask } from "../curriculum/batches.ts";
import type { RunState } from "../curriculum/state.ts";
import type { InstanceKey, Refusal } from "../curriculum/types.ts";
import { type Gone, type LiveRun, serial } from "./live-run.ts";
import type { Clock } from "../base/clock.ts";
import type { Ports } from "./dependencies.ts";
import { createStock, makeAhead, type Stock } from "./stock.ts";

/**
 * Maximum number of plans for one draw, beside one more for each arm of the run. A plan is discarded if the run changed
 * so that the plan no longer applies.
 */
const PLANS_MAX = 32;

/**
 * Result of a draw. "done" means that a batch was drawn, that the run is not ready for one, or that the caller left.
 * The caller must look at the run again.
 */
export type DrawOutcome = { readonly kind: "done" } | Gone | Refusal;

/**
 * Function that returns further events to write together with a draw. The function gets the state after the draw and
 * must be pure.
 */
type WithDraw<Spec, Key extends InstanceKey> = (drawn: RunState<Spec, Key>) => readonly RunEvent<Spec, Key>[];

/** Functions that draw the update batches of one run. */
export type Drawing<Spec, Key extends InstanceKey> = ReturnType<typeof drawing<Spec, Key>>;

/** Maximum length, in characters, of the reason for masking an arm. */
const REASON_LENGTH_MAX = 512;

/** Arm that has no more tasks, and the reason. */
interface Dry {
  readonly kind: "dry";
  readonly arm: number;
  readonly reason: string;
}

function dryArm(arm: number, why: string): Dry {
  const reason = `it gave no task ${DRY_ORDINALS} times in a row: ${why}`;
  return { kind: "dry", arm, reason: reason.slice(0, REASON_LENGTH_MAX) };
}

/**
 * Makes instances until each slot of the plan has a task. Returns "cancelled" if the plan is outdated or no caller
 * waits any more.
 */
async function fill<Spec, Key extends InstanceKey>(
  { stock }: Draw<Spec, Key>,
  { config }: RunState<Spec, Key>,
  plan: DrawPlan,
  signal: AbortSignal,
): Promise<readonly DrawnTask<Key>[] | Dry | Refusal | "cancelled"> {
  for (;;) {
    const filled = fillSlots(plan, stock.lookup);
    if (filled.kind === "filled") return filled.tasks;
    if (filled.kind === "dry") return dryArm(filled.arm, stock.reason(filled.arm, filled.ordinal));
    if (filled.kind === "barren") {
      const id = config.arms[filled.arm]?.id;
      const message = `arm "${id}" gave no task that the policy accepts in ${filled.tries} tries: widen the filter of the policy`;
      return { kind: "failed_precondition", message };
    }
    const failed = await stock.make(filled.wanted, signal);
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
  return [{ kind: "closed", cursors: plan.closes, reason: "too many open groups", cause: "too_many_open" }, drawn];
}

/**
 * Returns a signal that aborts when the plan is outdated, the run is gone or no caller waits. `end` stops watching the
 * run.
 */
function whilePlanned<Spec, Key extends InstanceKey>(run: LiveRun<Spec, Key>, plan: DrawPlan, abandoned: AbortSignal) {
  const outdated = new AbortController();
  const end = run.onChange(() => {
    if (run.isGone() || !isCurrent(plan, run.state())) outdated.abort();
  });
  return { signal: AbortSignal.any([outdated.signal, abandoned]), end };
}

/** Draw of an update batch that is in progress, with its dependencies. */
interface Draw<Spec, Key extends InstanceKey> {
  readonly run: LiveRun<Spec, Key>;
  readonly clock: Clock;
  readonly stock: Stock<Key>;
  /** Aborts when no caller waits for the draw any more. */
  readonly abandoned: AbortSignal;
  readonly withDraw: WithDraw<Spec, Key>;
}

/**
 * Returns the refusal of a draw. Waiting helps only if a masked arm depends on a resource that may come back, e.g. a
 * judge. Otherwise an "unavailable" refusal becomes "failed_precondition".
 */
function refusalFor({ config, masks }: RunState, refusal: Refusal): Refusal {
  const returns = config.arms.some(({ resource }, arm) => masks[arm] !== null && resource !== undefined);
  if (refusal.kind !== "unavailable" || returns) return refusal;
  return { kind: "failed_precondition", message: refusal.message };
}

/**
 * Masks an arm that has no more tasks, so that the run continues with the other arms. Does nothing if the plan is
 * outdated.
 */
function maskArm<Spec, Key extends InstanceKey>(
  run: LiveRun<Spec, Key>,
  plan: DrawPlan,
  { arm, reason }: Dry,
): Promise<null | Gone | Refusal> {
  return run.commit((now) => ({
    events: isCurrent(plan, now) ? [{ kind: "armMasked", arm, reason }] : [],
    value: null,
  }));
}

type Written = { readonly kind: "done" } | { readonly kind: "outdated" };

async function drawOnce<Spec, Key extends InstanceKey>(draw: Draw<Spec, Key>): Promise<DrawOutcome> {
  const { run, clock, stock, abandoned, withDraw } = draw;
  // Each arm may run out of tasks and be masked once, and each time the draw is planned again.
  const plansMax = PLANS_MAX + run.state().config.arms.length;
  for (let plans = 0; plans < plansMax; plans++) {
    const state = run.state();
    if (abandoned.aborted || run.isGone() || drawReadiness(state).kind !== "ready") return { kind: "done" };
    stock.follow(state);
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
    const outcome = await run.commit<Written>((now) => {
      if (!isCurrent(plan, now)) return { events: [], value: { kind: "outdated" } };
      const events = eventsOf<Spec, Key>(plan, tasks, clock.now());
      return { events, following: withDraw, value: { kind: "done" } };
    });
    if (outcome.kind === "outdated") continue;
    stock.follow(run.state());
    return outcome;
  }
  return { kind: "aborted", message: "the run keeps changing while a batch is drawn; try again" };
}

/**
 * Delay, in milliseconds, between a draw and making the next draw's tasks in advance. Meanwhile the drawn tasks are
 * sent to the client, which making others would slow down.
 */
const AHEAD_DELAY_MS = 100;

export function drawing<Spec, Key extends InstanceKey>(
  run: LiveRun<Spec, Key>,
  ports: Pick<Ports<Spec, Key>, "source" | "clock" | "log" | "aheadMax">,
) {
  const { source, clock, log, aheadMax = 0 } = ports;
  let stock = createStock(run, source);
  const stopped = new AbortController();
  const ahead = (signal: AbortSignal): Promise<void> =>
    // If making tasks in advance fails, the draw itself makes them. Only a bug can cause such a failure, so it is
    // logged.
    makeAhead(run, { stock, source, candidatesMax: aheadMax }, signal).catch((err: unknown) =>
      log?.warn({ err, run: run.id }, "cannot make tasks in advance; they will be made when they are drawn"),
    );
  // Number of batches that the run had drawn right after this server's last draw. If another server has drawn since,
  // this server makes nothing in advance.
  let drawnHere = -1;
  let isWaiting = false;
  let endDelay = (): void => undefined;
  /** Makes the next batch's tasks when the last feedback that its draw needs has arrived. */
  const endWatch = run.onChange(() => {
    if (!isWaiting) return;
    const state = run.state();
    if (state.batchesDrawn === drawnHere && drawReadiness(state).kind === "waiting") return;
    isWaiting = false;
    // Starts in a later turn, so that the client that gave the feedback is answered first.
    if (state.batchesDrawn === drawnHere) clock.nextTurn(() => void ahead(stopped.signal));
  });
  const draw = async (abandoned: AbortSignal, withDraw: WithDraw<Spec, Key>): Promise<DrawOutcome> => {
    const outcome = await drawOnce({ run, clock, stock, abandoned, withDraw }).finally(() => {
      current = undefined;
    });
    drawnHere = run.state().batchesDrawn;
    isWaiting = drawReadiness(run.state()).kind === "waiting";
    endDelay();
    endDelay = clock.setTimer(AHEAD_DELAY_MS, () => void ahead(stopped.signal));
    return outcome;
  };
  const begin = (withDraw: WithDraw<Spec, Key>) => {
    const leaving = new AbortController();
    return { outcome: draw(leaving.signal, withDraw), leaving, waiting: 0 };
  };
  let current: ReturnType<typeof begin> | undefined;
  return {
    /**
     * Draws the next update batch, or joins a draw in progress. Only the first caller's `withDraw` is used. When all
     * callers have left, the draw stops, and instances already made are kept for the next one.
     */
    draw: async (signal: AbortSignal, withDraw: WithDraw<Spec, Key>): Promise<DrawOutcome> => {
      if (signal.aborted) return { kind: "done" };
      const going = (current ??= begin(withDraw));
      going.waiting++;
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          if (--going.waiting === 0) going.leaving.abort();
          resolve({ kind: "done" });
        };
        signal.addEventListener("abort", leave);
        going.outcome.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
      });
    },
    /**
     * Makes the tasks of a new run's first update batch before a client asks for them. If `signal` aborts before the
     * first draw begins, these tasks are dropped.
     */
    prepare: async (signal: AbortSignal) => {
      if (signal.aborted || run.state().batchesDrawn > 0) return;
      signal.addEventListener("abort", () => {
        if (run.state().batchesDrawn === 0 && current === undefined) stock = createStock(run, source);
      });
      await ahead(AbortSignal.any([stopped.signal, signal]));
    },
    /** Stops making tasks ahead of draws. */
    stop: () => {
      endDelay();
      endWatch();
      stopped.abort();
    },
  };
}

/** Maximum number of new runs for which the first update batch is made in advance and kept. */
const PREPARED_MAX = 16;

/**
 * Makes the first update batches of new runs in advance. It does so one run at a time, so that many new runs do not
 * take workers from calls that wait. Only the newest PREPARED_MAX runs keep their tasks.
 */
export function preparation<Spec, Key extends InstanceKey>(
  clock: Clock,
): (key: number, of: Drawing<Spec, Key>) => void {
  const inTurn = serial();
  const newest = new LRUCache<number, AbortController>({ max: PREPARED_MAX, dispose: (run) => run.abort() });
  return (key, { prepare }) => {
    const older = new AbortController();
    newest.set(key, older);
    // Starts in a later turn, so that the client that created the run is answered first.
    clock.nextTurn(() => void inTurn(() => prepare(older.signal)));
  };
}
