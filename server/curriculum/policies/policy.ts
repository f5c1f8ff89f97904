/** Interface of a policy: one definition with its parameters, checks, state and choice of arms. Policies are pure. */
import type { Rng } from "../../../envs/lib/rng.ts";
import type { Codec, Json } from "../json.ts";
import type { MeasureName, SignalName } from "../signals.ts";
import { invalid, type Invalid, type RankRange, type Source } from "../types.ts";

/** Progress of a run when an update batch is drawn. */
export interface Progress {
  /** Index of the update batch, counted from 0. */
  readonly batch: number;
  /**
   * Number of tasks to train on before the batch. Without dynamic sampling this is the cursor of the batch's first
   * task.
   */
  readonly cursor: number;
  /** Tasks to train on in the whole run. 0: the run has no end. */
  readonly length: number;
  /** Tasks in the update batch, with its reserve. The last batch of a run may be smaller. */
  readonly size: number;
  /** Tasks to train on in an update batch of the run. */
  readonly promptsPerUpdate: number;
}

/** Knowledge of an arm. Feedback counts only once it is folded in, so that no draw depends on timing. */
export interface ArmRecord {
  readonly id: string;
  readonly source: Source;
  readonly hard: boolean;
  /** Current weight. */
  readonly weight: number;
  /** Number of tasks drawn. */
  readonly issued: number;
  /** Number of closed groups with a reward that were folded in. */
  readonly groups: number;
  /** Means over the samples of those groups. Undefined: there are none, or they are not known. */
  readonly rewardMean: number | undefined;
  readonly solvedShare: number | undefined;
}

export interface View {
  readonly progress: Progress;
  /** Arms in the configuration's order. */
  readonly arms: readonly ArmRecord[];
  /** Returns the random numbers of this update batch: the same stream on each call, from the run's seed. */
  readonly rng: () => Rng;
}

/** A closed group, as a policy sees it. */
export interface ObservedGroup {
  /** Index of the arm in the configuration. */
  readonly arm: number;
  readonly armId: string;
  /** Probability of the arm, before constraints, in the draw of the group. */
  readonly probability: number;
  /** Weight of the group, in (0, 1]. It is below 1 for late feedback, if the run is configured so. */
  readonly weight: number;
  /** Hash of the instance. */
  readonly hash: string;
  readonly rank: number | undefined;
  /** Figures of the group's rewards. Undefined: there is no reward, or the figure is not known. */
  readonly rewardMean: number | undefined;
  readonly rewardDeviation: number | undefined;
  readonly solvedShare: number | undefined;
  /** Signal that the policy reads. Undefined: the group gives none. */
  readonly signal: number | undefined;
  /**
   * Means of the facts that the policy reads, by name, each over the samples that have the fact. Unset: no sample has
   * any.
   */
  readonly facts?: Readonly<Record<string, number>> | undefined;
}

/** An instance that could be the next task of an arm. */
export type KnownTask = Pick<ObservedGroup, "arm" | "hash" | "rank">;

/** The parts of a run against which a policy's configuration is checked. */
export interface RunShape {
  readonly armIds: readonly string[];
  /** Tasks to train on in the whole run. 0: the run has no end. */
  readonly length: number;
}

/** A range of ranks from which a policy draws, and the arms to which it applies. */
export interface RankUse {
  readonly field: string;
  readonly range: RankRange;
  readonly draws: (armId: string) => boolean;
}

/** A part of a run, such as a stage: its field in the configuration, and its number of tasks. */
export interface Part {
  readonly field: string;
  readonly tasks: number;
}

export type Advance<State> =
  { readonly kind: "advanced"; readonly state: State } | { readonly kind: "refused"; readonly message: string };

/** One pass of a policy that repeats the same instances. */
export interface Pass<State> {
  /** State with which the policy draws. */
  readonly state: State;
  /**
   * Whether a pass begins. Each arm then starts at its first instance, and earlier instances no longer count as issued.
   */
  readonly restarts: boolean;
  /** Number of update batches since the pass began. Batches of the same number have the same slots in each pass. */
  readonly batch: number;
}

/**
 * Definition of a policy. Configurations are plain data, and states are never changed in place. Errors name fields with
 * their path from the parameters on.
 */
export interface PolicyDefinition<Config = unknown, State = unknown> {
  /** Name of the policy. Policies of the contract have the name of their message. */
  readonly kind: string;
  /**
   * Reads the configuration from parameters and fills in defaults. Throws UnreadField if a field has the wrong form.
   */
  read(parameters: Json): Config;
  /** Returns the parameters of a configuration, with the names of the contract's JSON. */
  write(config: Config): { readonly [name: string]: Json };
  /** Checks the values of a configuration. */
  check(config: Config, run: RunShape): Invalid | undefined;
  /**
   * Returns the number of tasks of each part, in a run of this length (0: no end). Infinity: the part has no end.
   * Unset: the policy has no parts.
   */
  lasts?(config: Config, length: number): readonly Part[];
  /** Whether a draw must wait for due feedback and pass it to `observe`. */
  readonly takesFeedback: boolean;
  /** Returns the signal that `observe` receives of an arm's groups. Unset: the absolute advantage. */
  signal?(config: Config, armId: string): SignalName | MeasureName;
  /**
   * Returns the names of the facts that the policy reads (ObservedGroup.facts): "component:" and the name of a part of
   * the reward, "metadata:" and the name of a number of the instance, or "improvement". The journal stores them while
   * the policy is in force. Under reported advantages there are none. Unset: the policy reads none.
   */
  reads?(config: Config): readonly string[];
  /**
   * Returns the field that needs to know which samples are solved, which reported advantages do not show. Undefined or unset:
   * there is none.
   */
  needsSolved?(config: Config): string | undefined;
  /** Returns the state before anything was observed. `cursor` is that of the first task that the policy will draw. */
  initial(config: Config, armCount: number, cursor: number): State;
  /**
   * Returns the state after a change of configuration. `before` is the earlier configuration, and `progress` the time
   * of the change. Unset: the policy restarts, as it does after a policy of another kind.
   */
  inherit?(config: Config, state: State, before: Config, progress: Progress): State;
  /**
   * Returns the state after arms were added at the end. `cursor` is as in `initial`. Unset: the state does not depend
   * on the number of arms.
   */
  resize?(config: Config, state: State, armCount: number, cursor: number): State;
  readonly state: Codec<State>;
  /**
   * Returns the probability of each arm. Their sum is 1. Masked arms and arms of weight 0 are removed afterwards for
   * all policies, so the policy may ignore them.
   */
  probabilities(config: Config, state: State, view: View): readonly number[];
  /**
   * Returns the sets of arms, by index, from which the policy draws in the course of a run. Arms outside of the current
   * set have probability 0, and no constraint draws them. Unset: all arms, always.
   */
  phases?(config: Config, armIds: readonly string[]): readonly (readonly boolean[])[];
  /**
   * Returns the sets of arms, by index, that share a draw in proportion to their weights. A change of weights that
   * changes no share within a set changes no draw. Empty: weights decide only which arms are drawn. Unset: all arms
   * share every draw.
   */
  sharing?(config: Config, armIds: readonly string[]): readonly (readonly boolean[])[];
  /** Returns the state after one more update batch. Its closed groups are in cursor order. */
  observe?(config: Config, state: State, groups: readonly ObservedGroup[]): State;
  /** Returns the pass to which a draw belongs. Undefined or unset: instances are not repeated. */
  pass?(config: Config, state: State, progress: Progress): Pass<State> | undefined;
  /** Returns the value of each arm, which is shown to people. Unset: 0. */
  values?(config: Config, state: State): readonly number[];
  /** Returns whether an instance may be drawn now. Refused instances are skipped. Unset: all may. */
  accepts?(config: Config, state: State, task: KnownTask, progress: Progress): boolean;
  /** Returns the ranges of ranks from which the policy draws, and the arms they apply to. Unset: none. */
  ranked?(config: Config): readonly RankUse[];
  /** Returns the configuration with these ranges in place of its own, in the same order. Their rows were counted. */
  counted?(config: Config, ranges: readonly RankRange[]): Config;
  /** Advances to the next part, from the update batch at `progress` on. Unset: the policy has no parts. */
  advance?(config: Config, state: State, progress: Progress): Advance<State>;
  /**
   * Returns the place that the policy has reached. `advance` increases it, and an import keeps the place that Advance
   * reached. Required with `advance`.
   */
  place?(config: Config, state: State, progress: Progress): number;
}

// Checks that policies share.

/** Maximum weight: far above any in use, and small enough that a sum of weights is finite. */
export const WEIGHT_MAX = 1e12;

/** Returns the first problem that a check finds. */
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
 * Minimum of a number that is not 0. Smaller ones act like 0 and are given by mistake: a rate that never moves, a
 * temperature that draws only the greatest, a weight that draws nothing.
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
