/** Draws of update batches: one at a time for each run, with their instances made outside of the run's queue. */
import { deriveSeed } from "../../../envs/lib/rng.ts";
import {
  type Candidate,
  drawnEvent,
  type DrawPlan,
  drawReadiness,
  fillSlots,
  isCurrent,
  type Place,
  planDraw,
  SKIPS_MAX,
} from "../draw.ts";
import type { DrawnTask, RunEvent } from "../events.ts";
import type { Refusal } from "../results.ts";
import type { RunState } from "../state.ts";
import type { Arm, RunConfig } from "../types.ts";
import type { Gone, LiveRun } from "./live-run.ts";
import type { TaskSource } from "./ports.ts";

/** How often a draw is planned again because control changes came in between. */
const PLANS_MAX = 32;

/** "done": a batch was drawn, or the run is no longer ready for one: look again. */
export type DrawOutcome = { readonly kind: "done" } | Gone | Refusal;

export interface Drawing {
  /** Draws the next update batch, or joins the draw that is going on. */
  draw(): Promise<DrawOutcome>;
}

/** Candidates made and not yet used. */
interface Made {
  config: RunConfig | undefined;
  readonly candidates: Map<string, Candidate>;
}

function nameOf({ arm, ordinal }: Place): string {
  return `${arm}:${ordinal}`;
}

async function make(source: TaskSource, config: RunConfig, place: Place, made: Made): Promise<Refusal | undefined> {
  const arm = config.arms[place.arm] as Arm;
  const { ordinal } = place;
  const seed = deriveSeed("instance", config.seed, arm.id, ordinal);
  const issued = await source.issue(arm, { seed, runSeed: config.seed, ordinal });
  if (issued.kind === "unavailable") return issued;
  if (made.config === config) made.candidates.set(nameOf(place), issued);
  return undefined;
}

/** Makes what a plan wants until its slots are filled. */
async function fill(
  source: TaskSource,
  state: RunState,
  plan: DrawPlan,
  made: Made,
): Promise<readonly DrawnTask[] | Refusal> {
  for (;;) {
    const filled = fillSlots(state, plan.slots, (place) => made.candidates.get(nameOf(place)));
    if (filled.kind === "filled") return filled.tasks;
    if (filled.kind === "barren") {
      const id = state.config.arms[filled.arm]?.id;
      return { kind: "failed_precondition", message: `arm "${id}" gave no task in ${SKIPS_MAX + 1} tries` };
    }
    const refusals = await Promise.all(filled.places.map((place) => make(source, state.config, place, made)));
    const refusal = refusals.find((found) => found !== undefined);
    if (refusal !== undefined) return refusal;
  }
}

function eventsOf(plan: DrawPlan, tasks: readonly DrawnTask[], state: RunState): readonly RunEvent[] {
  const drawn = drawnEvent(plan, tasks, state.config.arms.length);
  if (plan.closes.length === 0) return [drawn];
  return [{ kind: "groups_closed", cursors: plan.closes, reason: "too many open groups" }, drawn];
}

/** Forgets candidates that were used or passed over; those further on may be asked for next. */
function forgetUsed(made: Made, state: RunState): void {
  for (const name of made.candidates.keys()) {
    const [arm, ordinal] = name.split(":").map(Number) as [number, number];
    if (ordinal < (state.arms[arm]?.nextOrdinal ?? 0)) made.candidates.delete(name);
  }
}

async function drawOnce(run: LiveRun, source: TaskSource, made: Made): Promise<DrawOutcome> {
  for (let plans = 0; plans < PLANS_MAX; plans++) {
    const state = run.state();
    if (drawReadiness(state).kind !== "ready") return { kind: "done" };
    if (made.config !== state.config) {
      made.config = state.config;
      made.candidates.clear();
    }
    const plan = planDraw(state);
    const tasks = await fill(source, state, plan, made);
    if ("kind" in tasks) return tasks;
    const outcome = await run.commit<{ readonly kind: "done" } | { readonly kind: "outdated" }>((now) =>
      isCurrent(plan, now)
        ? { events: eventsOf(plan, tasks, now), value: { kind: "done" } }
        : { events: [], value: { kind: "outdated" } },
    );
    if (outcome.kind === "outdated") continue;
    forgetUsed(made, run.state());
    return outcome;
  }
  return { kind: "aborted", message: "the run keeps changing while a batch is drawn; try again" };
}

export function drawing(run: LiveRun, source: TaskSource): Drawing {
  const made: Made = { config: undefined, candidates: new Map() };
  let current: Promise<DrawOutcome> | undefined;
  return {
    draw: () => {
      current ??= drawOnce(run, source, made).finally(() => {
        current = undefined;
      });
      return current;
    },
  };
}
