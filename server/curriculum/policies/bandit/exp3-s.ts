/** Rule EXP3.S (Auer, Cesa-Bianchi, Freund and Schapire 2002, section 8): exponential weights that forget. */
import { normalized } from "../arm-weights.ts";
import type { Rule } from "./rule.ts";

/** Maximum change of the logarithm of a weight in one update batch. In the paper no step can be greater. */
const STEP_MAX = 1;

/** Minimum probability in an estimate. A smaller one would in any case make a step of STEP_MAX. */
const PROBABILITY_MIN = 1e-9;

/** Returns the logarithms of numbers that are scaled so that their mean is 1. */
function atMeanOne(logs: readonly number[]): readonly number[] {
  const greatest = Math.max(...logs);
  const mean = logs.reduce((sum, log) => sum + Math.exp(log - greatest), 0) / logs.length;
  return logs.map((log) => log - greatest - Math.log(mean));
}

/** Returns the logarithm of e^log + added. */
function logOfSum(log: number, added: number): number {
  // If a weight underflows, `added` is far above it. If nothing is added, the weight stays exact.
  return added > 0 ? Math.log(Math.exp(log) + added) : log;
}

/**
 * The rule keeps logarithms of weights, which do not underflow. The weights have the mean 1, so a new arm starts with
 * an average weight.
 */
export const exp3S: Rule = {
  keeps: "log weights",
  initial: [0],
  /** Returns w(c) / Σ w. */
  probabilities(_numbers, [logs = []]) {
    const greatest = Math.max(...logs);
    return normalized(logs.map((log) => Math.exp(log - greatest)));
  },
  /**
   * Computes ŝ(c) = 1/B · Σ w s / p(c) over the groups of arm c, where B counts all groups of the batch. Returns w(c) ←
   * w(c) · exp(η ŝ(c)) + σ · mean of w. The paper draws one arm at a time; its η is γ/K, and its σ is e α.
   */
  observe({ exp3Rate, exp3Share }, [logs = []], lessons) {
    const estimates = logs.map(() => 0);
    for (const { arm, signal, weight, probability } of lessons) {
      const estimate = (weight * signal) / Math.max(probability, PROBABILITY_MIN);
      estimates[arm] = (estimates[arm] ?? 0) + estimate / lessons.length;
    }
    const moved = logs.map((log, arm) => {
      const step = exp3Rate * (estimates[arm] ?? 0);
      // The mean of the earlier weights is 1.
      return logOfSum(log + Math.max(-STEP_MAX, Math.min(STEP_MAX, step)), exp3Share);
    });
    return [atMeanOne(moved)];
  },
  values: ([logs = []]) => logs,
};
