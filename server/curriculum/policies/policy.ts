/**
 * Interface of a policy: how its parameters are read and checked, what state it keeps, and how it chooses arms.
 * Policies are pure functions.
 */
import type { Rng } from "../../../envs/lib/rng.ts";
import type { LevelPlace, Levels } from "../growth.ts";
import type { Codec, Json } from "../json.ts";
import type { MeasureName, SignalName } from "../signals.ts";
import { invalid, type Invalid, type RankRange, type Source } from "../types.ts";

/** Progress of a run at the draw of an update batch. */
export interface Progress {
  /** Index of the update batch, counted from 0. */
  readonly batch: number;
  /**
   * Number of prompts drawn before the batch. Without dynamic sampling this equals the cursor of the batch's first
   * task.
   */
  readonly cursor: number;
  /** Number of prompts in the whole run. 0: the run has no end. */
  readonly length: number;
  /** Number of tasks in the update batch, spare (reserve) tasks included. The last batch of a run may be smaller. */
  readonly size: number;
  /** Number of prompts in each full update batch. */
  readonly promptsPerUpdate: number;
}

/**
 * Data about an arm that a policy may use. A group counts only after the policy has learned from it at a draw, so that
 * no draw depends on when feedback arrives.
 */
export interface ArmRecord {
  readonly id: string;
  readonly source: Source;
  readonly hard: boolean;
  /** Current weight of the arm. */
  readonly weight: number;
  /** Number of the arm's tasks that the run has drawn. */
  readonly issued: number;
  /** Number of the arm's closed groups with a reward that earlier draws have taken into account. */
  readonly groups: number;
  /** Mean reward in the closed groups that `groups` counts. Undefined: there are none, or the mean is not known. */
  readonly rewardMean: number | undefined;
  /**
   * Share of solved samples in the closed groups that `groups` counts. Undefined: there are none, or the share is not
   * known.
   */
  readonly solvedShare: number | undefined;
  /** Number of levels of an arm that grows (its levels open one by one). Unset: the arm does not grow. */
  readonly levels?: number;
  /** Success rate of guessed answers in an arm that grows. Unset: the arm does not grow. */
  readonly guess?: number;
}

export interface View {
  readonly progress: Progress;
  /** Arms in the configuration's order. */
  readonly arms: readonly ArmRecord[];
  /**
   * Returns a random generator for this update batch, seeded from the run's seed. Each call returns the same stream.
   */
  readonly rng: () => Rng;
}

/** Closed group in the form that a policy observes. */
export interface ObservedGroup {
  /** Index of the group's arm in the configuration. */
  readonly arm: number;
  readonly armId: string;
  /** Probability with which the draw chose the arm, before constraints. */
  readonly probability: number;
  /**
   * Weight of the group in the policy's learning, in (0, 1]. It is below 1 if the feedback is late and the run's
   * LateFeedback lowers its weight.
   */
  readonly weight: number;
  /** Hash of the instance. */
  readonly hash: string;
  readonly rank: number | undefined;
  /** Level of the group's task, if its arm grows (its levels open one by one). Unset: the arm does not grow. */
  readonly place?: LevelPlace | undefined;
  /** Mean of the group's rewards. Undefined: no sample has a reward, or the mean is not known. */
  readonly rewardMean: number | undefined;
  /** Population standard deviation of the rewards. Undefined: as for `rewardMean`. */
  readonly rewardDeviation: number | undefined;
  readonly solvedShare: number | undefined;
  /** Learning signal of the group, chosen by PolicyDefinition.signal. Undefined: the group gives none. */
  readonly signal: number | undefined;
  /**
   * Mean over the group of each extra score value that PolicyDefinition.reads names, by name. Samples without the value
   * do not count in its mean. Unset: no sample has such a value.
   */
  readonly facts?: Readonly<Record<string, number>> | undefined;
}

/** An instance that could be the next task of an arm. */
export type KnownTask = Pick<ObservedGroup, "arm" | "hash" | "rank">;

/** Parts of a run's configuration that a policy's own configuration is checked against. */
export interface RunShape {
  readonly armIds: readonly string[];
  /** Number of prompts in the whole run. 0: the run has no end. */
  readonly length: number;
}

/**
 * Range of ranks (from easy to hard) from which a policy draws rows, with the path of its field and a function that
 * says to which arms it applies.
 */
export interface RankUse {
  readonly field: string;
  readonly range: RankRange;
  readonly draws: (armId: string) => boolean;
}

/** Part of a run, such as a stage: the path of its field in the configuration, and its number of tasks. */
export interface Part {
  readonly field: string;
  readonly tasks: number;
}

export type Advance<State> =
  { readonly kind: "advanced"; readonly state: State } | { readonly kind: "refused"; readonly message: string };

/** Pass of a policy that repeats the same instances, e.g. one cycle of a replay. */
export interface Pass<State> {
  /** State from which the policy draws in this pass. */
  readonly state: State;
  /**
   * Whether a new pass begins. Each arm then starts again at its first instance, and already issued instances may be
   * issued again.
   */
  readonly restarts: boolean;
  /**
   * Number of update batches since the pass began. The draw's random numbers depend on it, so that arms are drawn alike
   * in each pass.
   */
  readonly batch: number;
}

/** Progress of an arm, for display (FrontierPolicy in the contract defines both numbers). */
export interface PractisedView {
  /** How fast the arm's success rises, in [0, 1]. */
  readonly rise: number;
  /** Practice without progress, in groups. */
  readonly practice: number;
}

/**
 * Definition of a policy. Configurations are JSON-like data, and states are never changed in place. Errors give a
 * field's path within the parameters.
 */
export interface PolicyDefinition<Config = unknown, State = unknown> {
  /** Name of the policy. A policy of the contract has the name of its field there, e.g. "bandit". */
  readonly kind: string;
  /**
   * Reads the configuration from parameters and fills in defaults. Throws UnreadField if a field has the wrong form.
   */
  read(parameters: Json): Config;
  /**
   * Reads the parameters of a stored policy. Fields that the journal leaves out get the defaults of earlier servers. So
   * `write` must write a field whose default has changed since. Unset: no default has changed.
   */
  readFormer?(parameters: Json): Config;
  /** Returns a configuration as parameters, in the field names of the contract's JSON. */
  write(config: Config): { readonly [name: string]: Json };
  /**
   * Returns the parameters that clients are shown, in the form that the contract's message can hold. `promptsPerUpdate`
   * is undefined if it is not known. Unset: as `write` does.
   */
  tell?(config: Config, promptsPerUpdate: number | undefined): { readonly [name: string]: Json };
  /** Checks that the values of a configuration are in range and fit the run. */
  check(config: Config, run: RunShape): Invalid | undefined;
  /**
   * Returns the parts, e.g. stages, of a run with this length (0: no end), with their numbers of tasks. Infinity: the
   * part has no end. Unset: the policy has no parts.
   */
  lasts?(config: Config, length: number): readonly Part[];
  /** Whether a draw must wait for feedback that is due and pass it to `observe`. */
  readonly takesFeedback: boolean;
  /**
   * Returns the name of the learning signal that is computed for an arm's groups before `observe` gets them. Unset:
   * ABSOLUTE_ADVANTAGE.
   */
  signal?(config: Config, armId: string): SignalName | MeasureName;
  /**
   * Returns names of the extra score values that the policy needs in ObservedGroup.facts. They are "component:" and a
   * part of the reward, "metadata:" and a number of the instance, or "improvement". The journal stores them while the
   * policy is in force. If the trainer reports advantages, there are no such values. Unset: none.
   */
  reads?(config: Config): readonly string[];
  /**
   * Returns the path of a field that needs to know which samples are solved. Reported advantages do not show that.
   * Undefined or unset: no field needs it.
   */
  needsSolved?(config: Config): string | undefined;
  /**
   * Returns the state before any feedback. `cursor` is the number of prompts that the run has drawn before the policy
   * draws its first prompt.
   */
  initial(config: Config, armCount: number, cursor: number): State;
  /**
   * Returns the state after a change of configuration. `before` is the earlier configuration, and `progress` is the
   * run's progress at the change. Unset: the policy starts anew, as it does in place of a policy of another kind.
   */
  inherit?(config: Config, state: State, before: Config, progress: Progress): State;
  /**
   * Returns the state after arms were added at the end. `cursor` is the number of prompts that the run has drawn.
   * Unset: the state does not depend on the number of arms.
   */
  resize?(config: Config, state: State, armCount: number, cursor: number): State;
  readonly state: Codec<State>;
  /**
   * Returns the probability of each arm; their sum is 1. The caller removes masked arms and arms of weight 0
   * afterwards, so the policy may ignore masks and weights.
   */
  probabilities(config: Config, state: State, view: View): readonly number[];
  /**
   * Returns the sets of arms, by index, from which the policy draws one after another, e.g. one set for each stage. An
   * arm outside the current set has probability 0, and not even a constraint draws it. Unset: all arms, always.
   */
  phases?(config: Config, armIds: readonly string[]): readonly (readonly boolean[])[];
  /**
   * Returns the sets of arms, by index, within which draws are in proportion to weights, e.g. the arms of one stage.
   * New weights with the same proportions within each set then change no draw. Empty: weights only decide whether an
   * arm is drawn. Unset: one set of all arms.
   */
  sharing?(config: Config, armIds: readonly string[]): readonly (readonly boolean[])[];
  /**
   * Returns the state after the policy has learned from one more update batch. `groups` are the batch's closed groups
   * in cursor order.
   */
  observe?(config: Config, state: State, groups: readonly ObservedGroup[]): State;
  /** Returns the pass to which the next draw belongs. Undefined or unset: the policy does not repeat instances. */
  pass?(config: Config, state: State, progress: Progress): Pass<State> | undefined;
  /** Returns a value for each arm, for display, e.g. its expected success. Unset: 0. */
  values?(config: Config, state: State): readonly number[];
  /** Returns how fast each arm's success rises and its practice without progress, for display. Unset: not known. */
  practised?(state: State): readonly PractisedView[];
  /** Returns whether an instance may be drawn now. The draw skips refused instances. Unset: all may be drawn. */
  accepts?(config: Config, state: State, task: KnownTask, progress: Progress): boolean;
  /** Returns the rank ranges from which the policy draws, with the arms to which each applies. Unset: none. */
  ranked?(config: Config): readonly RankUse[];
  /**
   * Returns the configuration with its rank ranges replaced by `ranges`. They are the same ranges in the same order,
   * but say how many rows each has.
   */
  counted?(config: Config, ranges: readonly RankRange[]): Config;
  /**
   * Returns the levels of each arm that grows, and undefined for the other arms. Unset: the policy does not support
   * arms that grow. `top` and `open` are required with `levels`.
   */
  levels?(config: Config, state: State, view: View): readonly (Levels | undefined)[];
  /** Returns the index of the highest open level of an arm with `count` levels. */
  top?(state: State, arm: number, count: number): number;
  /** Opens the next level of an arm with `count` levels, or refuses. */
  open?(state: State, arm: number, count: number): Advance<State>;
  /** Moves the policy to its next part, e.g. stage, at once, or refuses. Unset: the policy has no parts. */
  advance?(config: Config, state: State, progress: Progress): Advance<State>;
  /**
   * Returns how far the policy is in its schedule, as a number that `advance` increases. An import keeps the place to
   * which an operator has moved the policy by the RPC Advance. Required with `advance`.
   */
  place?(config: Config, state: State, progress: Progress): number;
}

// Checks of numbers in configurations, which several policies use.

/** Maximum weight. It is far above any weight in use, and sums of weights stay finite. */
export const WEIGHT_MAX = 1e12;

/** Runs the checks in order until one finds a problem, and returns the problem. */
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
 * Minimum of a number that must be above 0. A smaller number would act like 0 and is a mistake, e.g. a weight with
 * which an arm is never drawn.
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
