/** Rule of exponential moving averages and a softmax (ADSC 3.3). */
import { type Rule, sumByArm } from "./rule.ts";

export const emaSoftmax: Rule = {
  keeps: "means",
  initial: [0],
  /** Returns softmax(Q/τ) over the arms, where Q is the moving average of an arm's signals (equation 6, without ε). */
  probabilities({ tau }, [values = []]) {
    const greatest = Math.max(...values);
    // Subtracting the greatest value prevents overflow and does not change the softmax.
    const powers = values.map((value) => Math.exp((value - greatest) / tau));
    const total = powers.reduce((sum, power) => sum + power, 0);
    return powers.map((power) => power / total);
  },
  /**
   * Returns each arm's moving average Q after an update: Q ← (1 − α) Q + α · mean of the arm's signals s (equations 4
   * and 5). Arms without signals keep their average. With weights w of an arm's n groups: Q ← Q + α/n · Σ w (s − Q).
   */
  observe({ alpha }, [values = []], lessons) {
    const sums = sumByArm(values.length, lessons);
    const next = values.map((value, arm) => {
      const { count, weight, signal } = sums[arm] ?? { count: 0, weight: 0, signal: 0 };
      return count === 0 ? value : (1 - alpha * (weight / count)) * value + alpha * (signal / count);
    });
    return [next];
  },
  values: ([values = []]) => values,
  fromMean: (mean) => [mean],
};
