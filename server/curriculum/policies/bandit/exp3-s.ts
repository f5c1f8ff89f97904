/** EXP3.S (Auer, Cesa-Bianchi, Freund and Schapire 2002, section 8): exponential weights that forget. */
import { normalized } from "../arm-weights.ts";
import type { Rule } from "./rule.ts";

/** By what power of e a weight moves in an update batch at most. In the paper no step can be greater. */
const STEP_MAX = 1;

/** Probabilities smaller than this would make steps of STEP_MAX in any case. */
const PROBABILITY_MIN = 1e-9;

/** Logarithms of numbers times a factor that makes their mean 1. */
function atMeanOne(logs: readonly number[]): readonly number[] {
  const greatest = Math.max(...logs);
  const mean = logs.reduce((sum, log) => sum + Math.exp(log - greatest), 0) / logs.length;
  return logs.map((log) => log - greatest - Math.log(mean));
}

/** The logarithm of e^log + added. */
function logOfSum(log: number, added: number): number {
  // What is spread is far above a weight that underflows; where nothing is spread the weight stays as it is.
  return added > 0 ? Math.log(Math.exp(log) + added) : log;
}

/** It keeps logarithms of weights, of which none is lost then, and whose mean is 1, so that a new arm's is even. */
export const exp3S: Rule = {
  keeps: "log weights",
  initial: [0],
  /** w(c) / Σ w. */
  probabilities(_numbers, [logs = []]) {
    const greatest = Math.max(...logs);
    return normalized(logs.map((log) => Math.exp(log - greatest)));
  },
  /**
   * ŝ(c) = 1/B · Σ w s / p(c) over the groups of arm c, of all B in the batch; w(c) ← w(c) · exp(η ŝ(c)) + σ · mean of w.
   * The paper draws one arm at a time, its η is γ/K, and its σ is e α.
   */
  observe({ exp3Rate, exp3Share }, [logs = []], lessons) {
    const estimates = logs.map(() => 0);
    for (const { arm, signal, weight, probability } of lessons) {
      const estimate = (weight * signal) / Math.max(probability, PROBABILITY_MIN);
      estimates[arm] = (estimates[arm] ?? 0) + estimate / lessons.length;
    }
    const moved = logs.map((log, arm) => {
      const step = exp3Rate * (estimates[arm] ?? 0);
      // The mean of the weights before is 1.
      return logOfSum(log + Math.max(-STEP_MAX, Math.min(STEP_MAX, step)), exp3Share);
    });
    return [atMeanOne(moved)];
  },
  values: ([logs = []]) => logs,
};
