/** What a policy is: pure functions from what was fed back to probabilities over arms. */

/** The signal of one closed group. */
export interface ArmSignal {
  /** The arm's index in the configuration. */
  readonly arm: number;
  /** At least 0. */
  readonly signal: number;
}

/** One kind of policy. Its state is JSON and never changed in place. */
export interface PolicyRule<Config, State> {
  /** Whether a draw must wait for feedback that is due. */
  readonly takesFeedback: boolean;
  /** The state before anything was fed back. */
  initial(armCount: number): State;
  /** The probability of each arm; they sum to 1. Weights are the run's, in the same order. */
  probabilities(config: Config, state: State, weights: readonly number[]): readonly number[];
  /** The state after one more update batch; its signals are in cursor order. */
  fold(config: Config, state: State, signals: readonly ArmSignal[]): State;
  /** What the policy thinks each arm is worth. */
  values(state: State, armCount: number): readonly number[];
  /** Whether each arm can be drawn at all. */
  possible(weights: readonly number[]): readonly boolean[];
}
