/**
 * Makes a run's tasks ahead of their draw: which instances an arm has is known, f(seed, arm, ordinal), although not yet
 * how many of them the next update batch takes. Nothing depends on what is there: a draw makes what is missing.
 */
import { type DrawPlan, drawReadiness } from "../core/draw.ts";
import { fillSlots, type Wanted } from "../core/fill.ts";
import type { RunState } from "../core/state.ts";
import { type InstanceKey, type Refusal, slotsFor } from "../core/types.ts";
import type { LiveRun } from "./live-run.ts";
import type { Clock, Log } from "./ports.ts";
import type { Stock } from "./stock.ts";

/** Tasks that are made at a time, so that a draw which wants some of them waits for few. */
const CHUNK = 16;

/** Standard deviations of an arm's number of tasks beyond its mean: a draw rarely wants more. */
const DEVIATIONS = 3;

/** The plan of a run's next draw. */
export type PlanFor = (state: RunState) => DrawPlan | Refusal;

export interface Ahead {
  stop(): void;
}

/** What the next draw probably wants of each arm, by the probabilities of the last one. */
function expected(state: RunState, stock: Stock<InstanceKey>): readonly Wanted[] {
  const { config, probabilities, weights, masks } = state;
  if (probabilities === null) return [];
  const slots = slotsFor(config.promptsPerUpdate, config.dynamicSampling);
  return probabilities.flatMap((p, arm) => {
    if (p <= 0 || (weights[arm] ?? 0) <= 0 || masks[arm] !== null) return [];
    const most = slots * p + DEVIATIONS * Math.sqrt(slots * p * (1 - p)) + 1;
    const from = state.arms[arm]?.nextOrdinal ?? 0;
    const all = Array.from({ length: Math.min(slots, Math.ceil(most)) }, (_, i) => from + i);
    const ordinals = all.filter((ordinal) => stock.lookup(arm, ordinal) === undefined);
    return ordinals.length === 0 ? [] : [{ arm, ordinals }];
  });
}

/** What the next draw wants, exactly where it can be planned already. */
function wantedNext<Key extends InstanceKey>(state: RunState, stock: Stock<Key>, planFor: PlanFor): readonly Wanted[] {
  // Under an unbounded lag each group that closes makes another plan.
  if (state.config.lag.kind === "unbounded" || drawReadiness(state).kind !== "ready") return expected(state, stock);
  const plan = planFor(state);
  if (plan.kind !== "plan") return [];
  const filled = fillSlots(plan, stock.lookup);
  return filled.kind === "wanted" ? filled.wanted : [];
}

/** What of a run decides what is made ahead. */
function stepOf({ batchesDrawn, batchesClosed, config, weights, masks, policy, paused }: RunState) {
  const closed = config.lag.kind === "unbounded" ? 0 : batchesClosed;
  return { batchesDrawn, closed, config, weights, masks, policy, paused };
}

type Step = ReturnType<typeof stepOf>;

function isSame(a: Step | undefined, b: Step): boolean {
  return a !== undefined && (Object.keys(b) as (keyof Step)[]).every((name) => a[name] === b[name]);
}

export interface AheadOptions {
  readonly clock: Clock;
  readonly log: Log | undefined;
  readonly planFor: PlanFor;
  /** How many candidates may be in stock. */
  readonly candidatesMax: number;
}

export function makeAhead<Spec, Key extends InstanceKey>(
  run: LiveRun<Spec, Key>,
  stock: Stock<Key>,
  { clock, log, planFor, candidatesMax }: AheadOptions,
): Ahead {
  const stopped = new AbortController();
  let last: Step | undefined;
  let busy = false;

  const round = async (): Promise<void> => {
    while (!stopped.signal.aborted && !run.isGone()) {
      const state = run.state();
      const readiness = drawReadiness(state).kind;
      const step = stepOf(state);
      // Before the first draw nobody has asked for anything.
      if (state.batchesDrawn === 0 || readiness === "paused" || readiness === "finished") return;
      const wanted = wantedNext(state, stock, planFor);
      last = step;
      if (wanted.length === 0) return;
      const isCurrent = (): boolean => !stopped.signal.aborted && isSame(stepOf(run.state()), step);
      for (const { arm, ordinals } of wanted) {
        for (let i = 0; i < ordinals.length && stock.size() < candidatesMax; i += CHUNK) {
          const failed = await stock.make([{ arm, ordinals: ordinals.slice(i, i + CHUNK) }], stopped.signal);
          // The next change of the run begins anew.
          if (failed !== undefined) return;
          if (!isCurrent()) break;
        }
      }
      if (stock.size() >= candidatesMax) return;
    }
  };
  const begin = (): void => {
    if (busy) return;
    busy = true;
    // What the change answers goes first.
    clock.nextTurn(() => {
      void round()
        // Nothing is lost: the draw makes what it wants. But it is a fault of ours.
        .catch((err: unknown) => log?.warn({ err, run: run.id }, "tasks were not made ahead"))
        .then(() => {
          busy = false;
        });
    });
  };
  const forget = run.onChange(() => {
    if (!run.isGone() && !isSame(last, stepOf(run.state()))) begin();
  });
  return {
    stop: () => {
      forget();
      stopped.abort();
    },
  };
}
