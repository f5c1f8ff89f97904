/** What a policy is: one definition that owns its parameters, its checks, its state, and how it chooses. All of it pure. */
import type { Rng } from "../../../envs/lib/rng.ts";
import type { Codec, Json } from "../json.ts";
import type { MeasureName, SignalName } from "../signals.ts";
import { invalid, type Invalid, type RankRange, type Source } from "../types.ts";

/** How far the run is when an update batch is drawn. */
export interface Progress {
  /** The update batch, counted from 0. */
  readonly batch: number;
  /** Tasks to train on before the batch: without dynamic sampling the cursor of its first task. */
  readonly cursor: number;
  /** Tasks to train on in the whole run; 0: no end. */
  readonly length: number;
  /** Tasks in the update batch, a reserve included; the last of a run may have fewer than those before. */
  readonly size: number;
  /** Tasks to train on in an update batch of the run. */
  readonly promptsPerUpdate: number;
}

/** An arm, and what is known of it. Feedback counts here once it is folded in, so that no draw depends on timing. */
export interface ArmRecord {
  readonly id: string;
  readonly source: Source;
  readonly hard: boolean;
  /** As it is now. */
  readonly weight: number;
  /** Tasks drawn. */
  readonly issued: number;
  /** Closed groups with a reward that were folded in. */
  readonly groups: number;
  /** Over the samples of those; undefined: none, or not known. */
  readonly rewardMean: number | undefined;
  readonly solvedShare: number | undefined;
}

export interface View {
  readonly progress: Progress;
  /** In the configuration's order. */
  readonly arms: readonly ArmRecord[];
  /** Randomness for this update batch: the same stream each time, given the run's seed. */
  readonly rng: () => Rng;
}

/** A closed group. */
export interface ObservedGroup {
  /** The arm's index in the configuration. */
  readonly arm: number;
  readonly armId: string;
  /** Of the arm, in the draw that the group is of; before constraints. */
  readonly probability: number;
  /** How much it counts, above 0 and at most 1: less than 1 for feedback that came late, if the run asks for that. */
  readonly weight: number;
  /** Of the instance. */
  readonly hash: string;
  readonly rank: number | undefined;
  /** Undefined: no reward, or not known. */
  readonly rewardMean: number | undefined;
  readonly rewardDeviation: number | undefined;
  readonly solvedShare: number | undefined;
  /** The one that the policy asks for; undefined: the group gives none. */
  readonly signal: number | undefined;
  /** Means of what the policy reads, by name, each over the samples that have it; left out: none has any. */
  readonly facts?: Readonly<Record<string, number>> | undefined;
}

/** An instance that could be the next task of an arm. */
export type KnownTask = Pick<ObservedGroup, "arm" | "hash" | "rank">;

/** What of a run a policy's configuration must go with. */
export interface RunShape {
  readonly armIds: readonly string[];
  /** 0: no end. */
  readonly length: number;
}

/** A range of ranks that a policy draws in, for the arms of a stage. */
export interface RankUse {
  readonly field: string;
  readonly range: RankRange;
  readonly draws: (armId: string) => boolean;
}

/** A part of a run, such as a stage: its field, and how many tasks it lasts. */
export interface Part {
  readonly field: string;
  readonly tasks: number;
}

export type Advance<State> =
  { readonly kind: "advanced"; readonly state: State } | { readonly kind: "refused"; readonly message: string };

/** A draw of a policy that goes over the same instances several times. */
export interface Pass<State> {
  /** The policy's, with which it draws. */
  readonly state: State;
  /** A pass begins: so does each arm, with its first instance. In a pass only what it has issued is passed over. */
  readonly restarts: boolean;
  /** Update batches since the pass began: those of one number have the same slots in each pass. */
  readonly batch: number;
}

/** Configurations hold plain data, and states are never changed in place. Fields are named from the parameters down. */
export interface PolicyDefinition<Config = unknown, State = unknown> {
  /** Its name, which is that of its message in the contract where it has one there. */
  readonly kind: string;
  /** From its parameters, with defaults filled in; throws UnreadField for what is not of their form. */
  read(parameters: Json): Config;
  /** The parameters that give the configuration, in the words of the contract's JSON. */
  write(config: Config): { readonly [name: string]: Json };
  /** Whether the configuration can be as it is. */
  check(config: Config, run: RunShape): Invalid | undefined;
  /** How many tasks each of its parts lasts in a run of that length (0: no end), Infinity for no end. Left out: no parts. */
  lasts?(config: Config, length: number): readonly Part[];
  /** Whether a draw must wait for feedback that is due, and `observe` be told of it. */
  readonly takesFeedback: boolean;
  /** What `observe` is given of a group of an arm; left out: the absolute advantage. */
  signal?(config: Config, armId: string): SignalName | MeasureName;
  /**
   * Facts that it is told of beside (ObservedGroup.facts): "component:" with the name of a part of the reward, "metadata:"
   * with that of a number that the environment says of its instances, or "improvement". Left out: none. They are kept in
   * the run's journal from when the policy is in force. Under reported advantages there are none.
   */
  reads?(config: Config): readonly string[];
  /** The field that asks for what was solved, which reported advantages do not say. Left out: there is none. */
  needsSolved?(config: Config): string | undefined;
  /** The state before anything was observed. `cursor` is that of the first task that the policy will draw. */
  initial(config: Config, armCount: number, cursor: number): State;
  /**
   * The state after a change of configuration, `before` it, at `progress`: what the new one can use of it is kept. Left
   * out: it starts afresh, as it does after a policy of another kind.
   */
  inherit?(config: Config, state: State, before: Config, progress: Progress): State;
  /**
   * The state when arms were added behind those there are, `cursor` as in initial; left out: it does not depend on their
   * number.
   */
  resize?(config: Config, state: State, armCount: number, cursor: number): State;
  readonly state: Codec<State>;
  /**
   * The probability of each arm; they sum to 1. Arms that are masked are taken out afterwards, in one place for all
   * policies; a policy need not look at weights of 0.
   */
  probabilities(config: Config, state: State, view: View): readonly number[];
  /**
   * The sets of arms that it draws from in the course of a run, by index; an arm outside of the set in force has a
   * probability of 0, and no constraint draws it. Left out: all arms, always.
   */
  phases?(config: Config, armIds: readonly string[]): readonly (readonly boolean[])[];
  /**
   * The sets of arms that share a draw in proportion to the arms' own weights, by index: where no share in any of them
   * changes, no draw does. None: weights say only which arms are drawn. Left out: all arms share every draw.
   */
  sharing?(config: Config, armIds: readonly string[]): readonly (readonly boolean[])[];
  /** The state after one more update batch; its closed groups are in cursor order. */
  observe?(config: Config, state: State, groups: readonly ObservedGroup[]): State;
  /** The pass that a draw is of. Undefined or left out: instances are to come once. */
  pass?(config: Config, state: State, progress: Progress): Pass<State> | undefined;
  /** What it thinks each arm is worth; left out: 0. */
  values?(config: Config, state: State): readonly number[];
  /** Whether an instance may be drawn now; what is refused is passed over. Left out: any. */
  accepts?(config: Config, state: State, task: KnownTask, progress: Progress): boolean;
  /** The ranges of ranks that it draws in, and of which arms; left out: none. */
  ranked?(config: Config): readonly RankUse[];
  /** The configuration with those ranges, in their order, in place of its own: their rows were counted. */
  counted?(config: Config, ranges: readonly RankRange[]): Config;
  /** Moves on to what comes next, from the update batch at `progress` on. Left out: there is nothing to move on to. */
  advance?(config: Config, state: State, progress: Progress): Advance<State>;
  /** How far it is: `advance` makes it greater, and an import keeps what Advance reached. Needed beside `advance`. */
  place?(config: Config, state: State, progress: Progress): number;
}

// What the checks of policies share.

/** Far above any weight of use, and small enough that a sum of weights is finite. */
export const WEIGHT_MAX = 1e12;

/** The first that is found. */
export function first(checks: readonly (() => Invalid | undefined)[]): Invalid | undefined {
  for (const check of checks) {
    const found = check();
    if (found !== undefined) return found;
  }
  return undefined;
}

export function inRange(field: string, value: number, min: number, max: number): Invalid | undefined {
  return value >= min && value <= max ? undefined : invalid(field, `must be in [${min}, ${max}], not ${value}`);
}

/**
 * The least of a number that is not 0. Smaller ones do what 0 does, and are slips of the one who gives them: a rate that
 * never moves, a temperature at which only the greatest is drawn, a weight that draws nothing.
 */
export const LEAST = 1e-6;

export function positive(field: string, value: number, max: number): Invalid | undefined {
  if (value >= LEAST && value <= max) return undefined;
  const least = value > 0 && value < LEAST ? `, and at least ${LEAST}` : "";
  return invalid(field, `must be above 0 and at most ${max}${least}, not ${value}`);
}

export function zeroOrMore(field: string, value: number, max: number): Invalid | undefined {
  const found = inRange(field, value, 0, max);
  if (found !== undefined || value === 0 || value >= LEAST) return found;
  return invalid(field, `must be 0, or in [${LEAST}, ${max}], not ${value}`);
}
