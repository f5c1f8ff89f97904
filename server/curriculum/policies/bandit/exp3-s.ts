/** Rule EXP3.S: exponential weights that forget (Auer, Cesa-Bianchi, Freund and Schapire 2002, section 8). */
import { normalized } from "../arm-weights.ts";
import type { Rule } from "./rule.ts";

/** Maximum change of a weight's logarithm in one update batch. In the paper no step can be greater. */
const STEP_MAX = 1;

/**
 * Minimum probability by which a signal is divided. With a smaller probability, the step would be cut to STEP_MAX
 * anyway.
 */
const PROBABILITY_MIN = 1e-9;

/** Scales weights so that their mean is 1. Takes and returns the weights' logarithms. */
function atMeanOne(logs: readonly number[]): readonly number[] {
  const greatest = Math.max(...logs);
  const mean = logs.reduce((sum, log) => sum + Math.exp(log - greatest), 0) / logs.length;
  return logs.map((log) => log - greatest - Math.log(mean));
}

/** Returns ln(e^log + added). */
function logOfSum(log: number, added: number): number {
  // If e^log underflows to 0, `added` is far greater, so the sum is right. If `added` is 0, `log` is returned exactly.
  return added > 0 ? Math.log(Math.exp(log) + added) : log;
}

/**
 * Rule EXP3.S. It keeps logarithms of weights, which do not underflow. The weights' mean is 1, so a new arm starts with
 * an average weight.
 */
export const exp3S: Rule = {
  keeps: "log weights",
  initial: [0],
  /** Returns each arm's weight divided by the sum of all weights. */
  probabilities(_numbers, [logs = []]) {
    const greatest = Math.max(...logs);
    return normalized(logs.map((log) => Math.exp(log - greatest)));
  },
  /**
   * Returns the logarithms of the weights after an update batch. The estimate of arm c is ŝ(c) = 1/B · Σ w s / p(c).
   * The sum is over the arm's groups with signal s and weight w, and B counts all groups of the batch. The new weight
   * is w(c) · exp(η ŝ(c)) + σ · mean of w. The paper draws one arm at a time; its η is γ/K, and its σ is e α.
   */
  observe({ exp3Rate, exp3Share }, [logs = []], lessons) {
    const estimates = logs.map(() => 0);
    for (const { arm, signal, weight, probability } of lessons) {
      const estimate = (weight * signal) / Math.max(probability, PROBABILITY_MIN);
      estimates[arm] = (estimates[arm] ?? 0) + estimate / lessons.length;
    }
    const moved = logs.map((log, arm) => {
      const step = exp3Rate * (estimates[arm] ?? 0);
      // The earlier weights have the mean 1, so `exp3Share` is σ times their mean.
      return logOfSum(log + Math.max(-STEP_MAX, Math.min(STEP_MAX, step)), exp3Share);
    });
    return [atMeanOne(moved)];
  },
  values: ([logs = []]) => logs,
};
