/**
 * Thompson sampling and UCB over discounted means of signals. Old signals count less, because an arm's signals change
 * while the model learns.
 */
import type { Rng } from "../../../../envs/lib/rng.ts";
import { type Columns, type Lesson, type Rule, type RuleNumbers, sumByArm } from "./rule.ts";

/** Number of values that Thompson sampling draws for each arm to compute the probabilities. */
const SAMPLES = 256;

/** Number of bisection steps after which UCB's common bound λ is exact to the precision of a double. */
const HALVINGS = 128;

/**
 * Returns the columns N and S after an update: N(a) ← γ N(a) + Σ w and S(a) ← γ S(a) + Σ w s. The sums are over the new
 * signals s of arm a with their weights w; γ is `discount`. N is the discounted number of an arm's signals, and S their
 * discounted sum.
 */
function observe({ discount }: RuleNumbers, [seen = [], sums = []]: Columns, lessons: readonly Lesson[]): Columns {
  const fresh = sumByArm(seen.length, lessons);
  return [
    seen.map((count, arm) => discount * count + (fresh[arm]?.weight ?? 0)),
    sums.map((sum, arm) => discount * sum + (fresh[arm]?.signal ?? 0)),
  ];
}

/** Returns the mean signal S(a) / N(a) of each arm a, or 0 for an arm without signals. */
function means([seen = [], sums = []]: Columns): readonly number[] {
  return seen.map((count, arm) => (count > 0 ? (sums[arm] ?? 0) / count : 0));
}

const kept = {
  keeps: "discounted sums",
  initial: [0, 0],
  observe,
  values: means,
  /**
   * Returns the numbers to put into the columns for an arm with this mean signal: as if the arm had had one signal of
   * this size.
   */
  fromMean: (mean: number): readonly number[] => [1, mean],
} as const;

/** Returns a random number from the standard normal distribution (Box and Muller 1958). */
function gaussian(rng: Rng): number {
  const radius = Math.sqrt(-2 * Math.log(1 - rng.float()));
  return radius * Math.cos(2 * Math.PI * rng.float());
}

/**
 * Thompson sampling. An arm's value has the prior N(0, σ²), and a signal is the value plus noise N(0, σ²). So after n
 * signals with sum S its posterior is N(S / (n + 1), σ² / (n + 1)). An arm's probability is the share of draws from the
 * posteriors in which it has the greatest value of all arms.
 */
export const thompson: Rule = {
  ...kept,
  probabilities({ exploration }, [seen = [], sums = []], view) {
    const rng = view.rng();
    const wins = seen.map(() => 0);
    for (let i = 0; i < SAMPLES; i++) {
      let best = 0;
      let greatest = -Infinity;
      for (const [arm, count] of seen.entries()) {
        const worth = (sums[arm] ?? 0) / (count + 1) + (exploration / Math.sqrt(count + 1)) * gaussian(rng);
        if (worth <= greatest) continue;
        best = arm;
        greatest = worth;
      }
      wins[best] = (wins[best] ?? 0) + 1;
    }
    return wins.map((count) => count / SAMPLES);
  },
};

/** Spreads the probability evenly over the arms with the greatest mean. */
function greedy(worths: readonly number[]): readonly number[] {
  const greatest = Math.max(...worths);
  const count = worths.filter((worth) => worth === greatest).length;
  return worths.map((worth) => (worth === greatest ? 1 / count : 0));
}

/**
 * Upper confidence bound of discounted means, for a whole update batch of B tasks. An arm a with mean m(a) and N(a)
 * signals has the bound m(a) + c · √(ln(1 + ΣN) / N(a)), where c is `exploration` (D-UCB, Garivier and Moulines 2011).
 * Each task given to an arm counts as a signal and lowers the arm's bound. Arm a gets v(a) tasks, such that the bounds
 * of all arms with tasks reach one level λ.
 *
 * So v(a) = max(0, c² L / (λ − m(a))² − N(a)), L = ln(1 + ΣN + B), Σ v = B, p(a) = v(a) / B. With one task at a time
 * this is the paper's rule, except for ties; c is 2B√ξ in the paper's letters. Giving the whole batch to the best arm
 * would starve the others for a batch at a time.
 */
export const ucb: Rule = {
  ...kept,
  probabilities({ exploration }, columns, { progress }) {
    const [seen = []] = columns;
    const worths = means(columns);
    if (exploration === 0) return greedy(worths);
    const size = Math.max(1, progress.size);
    const scale = exploration ** 2 * Math.log(1 + seen.reduce((sum, count) => sum + count, 0) + size);
    const greatest = Math.max(...worths);
    // λ is computed as its distance above the greatest mean, because that distance may be far smaller than the mean.
    const given = (above: number): readonly number[] =>
      worths.map((worth, arm) => Math.max(0, scale / (above + (greatest - worth)) ** 2 - (seen[arm] ?? 0)));
    const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
    let low = 0;
    let high = Math.sqrt((scale * worths.length) / size);
    for (let i = 0; i < HALVINGS; i++) {
      const middle = (low + high) / 2;
      if (sum(given(middle)) > size) low = middle;
      else high = middle;
    }
    const tasks = given(high);
    const total = sum(tasks);
    return total > 0 ? tasks.map((each) => each / total) : greedy(worths);
  },
};
