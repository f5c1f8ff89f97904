/**
 * Makes a run's tasks ahead of their draw: which instances an arm has is known, f(seed, arm, ordinal), although not yet
 * how many of them the next update batch takes. Nothing depends on what is there: a draw makes what is missing.
 */
import { type DrawPlan, drawReadiness } from "../draw.ts";
import { fillSlots, type Wanted } from "../fill.ts";
import type { IssuedTask } from "../batches.ts";
import { issuedTask, type RunState } from "../state.ts";
import { type InstanceKey, type Refusal, slotsFor } from "../types.ts";
import type { LiveRun } from "./live-run.ts";
import type { Clock, Log, Prepare } from "./ports.ts";
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

/** What is to be made; and if that is nothing, the tasks that the next draw gives, as far as that is known. */
interface Next<Key extends InstanceKey> {
  readonly wanted: readonly Wanted[];
  readonly tasks: readonly IssuedTask<Key>[];
}

/** What the next draw wants, exactly where it can be planned already. */
function nextOf<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  stock: Stock<Key>,
  planFor: PlanFor,
): Next<Key> {
  const { config, batchesDrawn: index } = state;
  // Under an unbounded lag each group that closes makes another plan.
  if (config.lag.kind === "unbounded" || drawReadiness(state).kind !== "ready")
    return { wanted: expected(state, stock), tasks: [] };
  const plan = planFor(state);
  if (plan.kind !== "plan") return { wanted: [], tasks: [] };
  const filled = fillSlots(plan, stock.lookup);
  if (filled.kind !== "filled") return { wanted: filled.kind === "wanted" ? filled.wanted : [], tasks: [] };
  const batch = { index, probabilities: plan.probabilities, numGenerations: config.numGenerations };
  return { wanted: [], tasks: filled.tasks.map((task) => issuedTask(state, batch, task)) };
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

export interface AheadOptions<Spec, Key extends InstanceKey> {
  readonly clock: Clock;
  readonly log: Log | undefined;
  readonly prepare: Prepare<Spec, Key> | undefined;
  readonly planFor: PlanFor;
  /** How many candidates may be in stock. */
  readonly candidatesMax: number;
}

export function makeAhead<Spec, Key extends InstanceKey>(
  run: LiveRun<Spec, Key>,
  stock: Stock<Key>,
  { clock, log, prepare, planFor, candidatesMax }: AheadOptions<Spec, Key>,
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
      const { wanted, tasks } = nextOf(state, stock, planFor);
      last = step;
      const isCurrent = (): boolean => !stopped.signal.aborted && isSame(stepOf(run.state()), step);
      if (wanted.length === 0) {
        await prepare?.(run.id, tasks, state.config, isCurrent);
        if (isCurrent()) return;
        continue;
      }
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
