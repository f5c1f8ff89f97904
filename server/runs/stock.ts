/**
 * Candidates of a run: instances that were made and not yet drawn, and those that are being made. Which instances an arm
 * has is known, f(seed, arm, ordinal), although not yet how many of them the next update batch takes: so once one is drawn,
 * what the next one probably wants is made. Nothing depends on what is there: a draw makes what is missing.
 */
import { drawReadiness } from "../curriculum/draw.ts";
import { type Candidate, DRY_ORDINALS, type Wanted } from "../curriculum/fill-slots.ts";
import type { RunState } from "../curriculum/state.ts";
import { type InstanceKey, placeOf, type Refusal, type RunConfig, slotsFor } from "../curriculum/types.ts";
import type { LiveRun } from "./live-run.ts";
import type { Made, TaskSource } from "./dependencies.ts";

/** Tasks that are made ahead at a time, so that a draw which wants some of them waits for few. */
const CHUNK = 16;

/** Standard deviations of an arm's number of tasks beyond its mean: a draw rarely wants more. */
const DEVIATIONS = 3;

/** What was made for an ordinal. */
type Stocked<Key extends InstanceKey> = Extract<Made<Key>, { readonly kind: "task" | "none" }>;

/** Why some of what was wanted could not be made. */
export type NotMade = Refusal | "cancelled";

export interface Stock<Key extends InstanceKey> {
  readonly lookup: (arm: number, ordinal: number) => Candidate<Key> | undefined;
  /** Why an ordinal has no instance; "": it has one, or it is not known. */
  reason(arm: number, ordinal: number): string;
  /** How many candidates there are. */
  size(): number;
  /**
   * Makes what is wanted and neither there nor being made, and waits for it all. What others make, and give up, is then
   * still not there.
   */
  make(wanted: readonly Wanted[], signal: AbortSignal): Promise<NotMade | undefined>;
  /** Of a run whose shape has changed nothing is kept; candidates that were used or passed over are forgotten. */
  follow(state: RunState): void;
}

interface Shelf<Key extends InstanceKey> {
  readonly made: Map<number, Stocked<Key>>;
  readonly pending: Map<number, Promise<unknown>>;
  /** It has given a task. */
  gives: boolean;
}

function shelf<Key extends InstanceKey>(): Shelf<Key> {
  return { made: new Map(), pending: new Map(), gives: false };
}

/** Puts what was made on its shelf; gives why something was not. */
function shelve<Key extends InstanceKey>(
  on: Shelf<Key>,
  ordinals: readonly number[],
  made: readonly Made<Key>[],
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
  // Counted as it changes: it is asked for with every few tasks that are made, and arms may be a thousand.
  let candidates = 0;

  const begin = async (
    of: RunConfig<Spec>,
    arm: number,
    ordinals: readonly number[],
    signal: AbortSignal,
  ): Promise<NotMade | undefined> => {
    const on = shelves[arm];
    const spec = of.arms[arm];
    if (on === undefined || spec === undefined) throw new Error(`a draw is of arm ${arm}, and the run has none such`);
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
    { arm, ordinals }: Wanted,
    signal: AbortSignal,
  ): Promise<NotMade | undefined> => {
    const on = shelves[arm] ?? shelf<Key>();
    // Of an arm that may give nothing no more is asked than it takes to know.
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
      for (const [arm, { made }] of shelves.entries()) {
        candidates -= made.size;
        // Rows are chosen anew in each draw.
        if (config.arms[arm]?.rows !== undefined) made.clear();
        const next = state.arms[arm]?.nextOrdinal ?? 0;
        for (const ordinal of made.keys()) if (ordinal < next) made.delete(ordinal);
        candidates += made.size;
      }
    },
  };
}

/** How many tasks of each arm the next draw wants by the last one's probabilities: so many deviations above the mean. */
function expected({ config, probabilities, weights, masks }: RunState, deviations: number): readonly number[] {
  const slots = slotsFor(config.promptsPerUpdate, config.dynamicSampling);
  return (probabilities ?? []).map((p, arm) => {
    if (p <= 0 || (weights[arm] ?? 0) <= 0 || masks[arm] !== null || config.arms[arm]?.rows !== undefined) return 0;
    return Math.min(slots, Math.ceil(slots * p + deviations * Math.sqrt(slots * p * (1 - p)) + 1));
  });
}

/** After a draw: makes what the next one probably wants, up to so many candidates, unless the run goes on before. */
export async function makeAhead<Spec, Key extends InstanceKey>(
  run: Pick<LiveRun<Spec, Key>, "state" | "isGone">,
  stock: Stock<Key>,
  candidatesMax: number,
  signal: AbortSignal,
): Promise<void> {
  const drawn = run.state();
  if (drawReadiness(drawn).kind === "finished") return;
  const isOver = (): boolean => {
    const { batchesDrawn, config, paused } = run.state();
    const isSame = batchesDrawn === drawn.batchesDrawn && config === drawn.config && !paused;
    return !isSame || run.isGone() || stock.size() >= candidatesMax;
  };
  // Of all arms what is likely, and then what is possible.
  for (const deviations of [0, DEVIATIONS]) {
    const missing: { readonly arm: number; readonly ordinal: number }[] = [];
    for (const [arm, count] of expected(drawn, deviations).entries()) {
      const from = drawn.arms[arm]?.nextOrdinal ?? 0;
      for (let ordinal = from; ordinal < from + count; ordinal++)
        if (stock.lookup(arm, ordinal) === undefined) missing.push({ arm, ordinal });
    }
    for (let i = 0; i < missing.length; i += CHUNK) {
      if (isOver()) return;
      const failed = await stock.make(byArm(missing.slice(i, i + CHUNK)), signal);
      if (failed !== undefined) return;
    }
  }
}

/** Of many arms each wants a task or two: they are made together. */
function byArm(candidates: readonly { readonly arm: number; readonly ordinal: number }[]): readonly Wanted[] {
  const ofArms = Map.groupBy(candidates, ({ arm }) => arm);
  return [...ofArms].map(([arm, of]) => ({ arm, ordinals: of.map(({ ordinal }) => ordinal) }));
}
