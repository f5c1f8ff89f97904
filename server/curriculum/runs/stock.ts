/** Candidates of a run: instances that were made and not yet drawn, and those that are being made. */
import { type Candidate, DRY_ORDINALS, type Wanted } from "../core/fill.ts";
import type { RunState } from "../core/state.ts";
import { type InstanceKey, placeOf, type Refusal, type RunConfig } from "../core/types.ts";
import type { LiveRun } from "./live-run.ts";
import type { Made, TaskSource } from "./ports.ts";

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
  run: Pick<LiveRun<Spec, Key>, "id">,
  source: TaskSource<Spec, Key>,
  first: RunState<Spec, Key>,
): Stock<Key> {
  let config: RunConfig<unknown> = first.config;
  let shelves = first.config.arms.map(() => shelf<Key>());

  const begin = async (
    of: RunConfig<Spec>,
    arm: number,
    ordinals: readonly number[],
    signal: AbortSignal,
  ): Promise<NotMade | undefined> => {
    const on = shelves[arm];
    const spec = of.arms[arm];
    if (on === undefined || spec === undefined) throw new Error(`a draw is of arm ${arm}, and the run has none such`);
    const places = ordinals.map((ordinal) => placeOf(spec, ordinal, of.seed));
    const making = source.make(places, signal, run.id);
    for (const ordinal of ordinals) on.pending.set(ordinal, making);
    try {
      return shelve(on, ordinals, await making);
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
    const asked = on.gives ? ordinals : ordinals.slice(0, DRY_ORDINALS);
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
    size: () => shelves.reduce((sum, { made }) => sum + made.size, 0),
    async make(wanted, signal) {
      const of = config as RunConfig<Spec>;
      const failures = await Promise.all(wanted.map((each) => makeOf(of, each, signal)));
      return failures.find((failed) => failed !== undefined);
    },
    follow(state) {
      if (state.config !== config) {
        config = state.config;
        shelves = state.config.arms.map(() => shelf<Key>());
      }
      for (const [arm, { made }] of shelves.entries()) {
        const next = state.arms[arm]?.nextOrdinal ?? 0;
        for (const ordinal of made.keys()) if (ordinal < next) made.delete(ordinal);
      }
    },
  };
}
