/**
 * Thompson sampling and UCB over discounted means. Old signals count less, because arms change while they are learnt.
 */
import type { Rng } from "../../../../envs/lib/rng.ts";
import { type Columns, type Lesson, type Rule, type RuleNumbers, sumByArm } from "./rule.ts";

/** Number of samples of each arm's value that Thompson sampling takes for a draw. */
const SAMPLES = 256;

/** Number of halvings that find the common bound to the precision of a double. */
const HALVINGS = 128;

/** Returns N(c) ← γ N(c) + Σ w and S(c) ← γ S(c) + Σ w s: the discounted count of each arm's signals, and their sum. */
function observe({ discount }: RuleNumbers, [seen = [], sums = []]: Columns, lessons: readonly Lesson[]): Columns {
  const fresh = sumByArm(seen.length, lessons);
  return [
    seen.map((count, arm) => discount * count + (fresh[arm]?.weight ?? 0)),
    sums.map((sum, arm) => discount * sum + (fresh[arm]?.signal ?? 0)),
  ];
}

/** Returns S(c) / N(c), or 0 for an arm without signals. */
function means([seen = [], sums = []]: Columns): readonly number[] {
  return seen.map((count, arm) => (count > 0 ? (sums[arm] ?? 0) / count : 0));
}

const kept = {
  keeps: "discounted sums",
  initial: [0, 0],
  observe,
  values: means,
  /** Returns the numbers of an arm with this mean, as if one signal had been seen. */
  fromMean: (mean: number): readonly number[] => [1, mean],
} as const;

/** Returns a sample of the standard normal distribution (Box and Muller 1958). */
function gaussian(rng: Rng): number {
  const radius = Math.sqrt(-2 * Math.log(1 - rng.float()));
  return radius * Math.cos(2 * Math.PI * rng.float());
}

/**
 * Thompson sampling. An arm's value has the prior N(0, σ²), and each signal is that value with noise N(0, σ²). After N
 * signals with sum S the posterior is N(S / (N + 1), σ² / (N + 1)). An arm's probability is the share of samples in
 * which its value is the greatest of all arms.
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

/** Spreads the probability evenly over the arms of the greatest mean. */
function greedy(worths: readonly number[]): readonly number[] {
  const greatest = Math.max(...worths);
  const count = worths.filter((worth) => worth === greatest).length;
  return worths.map((worth) => (worth === greatest ? 1 / count : 0));
}

/**
 * Upper confidence bound of discounted means, m(c) + c · √(ln(1 + ΣN) / N(c)) (D-UCB, Garivier and Moulines 2011, with
 * c = 2B√ξ). It is applied to a whole update batch of B tasks. Each task that an arm gets counts as seen and lowers its
 * bound. Tasks are given so that the bounds of all arms that get some reach one level λ.
 *
 * ```
 * v(c) = max(0, c² L / (λ − m(c))² − N(c)), L = ln(1 + ΣN + B), Σ v = B, p(c) = v(c) / B
 * ```
 *
 * With one task at a time this is the paper's rule, except for ties. Giving the whole batch to the best arm would starve
 * the others for a batch at a time.
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
    // λ is represented as its distance from the greatest mean, which may be far smaller than the mean.
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
