/**
 * Counts the judge's requests, verdicts, cost and canaries (test prompts with a known verdict), for metrics and status
 * pages.
 */
import type { Verdict } from "../../../envs/ports.ts";
import {
  byName,
  counter,
  countUp,
  gauge,
  one,
  type Sample,
  type SampledMetric,
} from "../../runtime/sampled-metrics.ts";
import type { Tokens } from "../chat-endpoint.ts";

/**
 * Outcome of a request: a verdict, a reply without a verdict, a kind of failure, or "cancelled" because its caller
 * left.
 */
export type RequestOutcome = "verdict" | "unreadable" | "timeout" | "status" | "connection" | "cancelled";
export type CanaryOutcome = "right" | "wrong" | "failed";

/** Results of the canaries: test pairs that show whether the judge can be trusted. */
export interface Standing {
  /** Share of right verdicts among the most recent canaries (test pairs). Undefined: the judge has judged none yet. */
  readonly rightShare: number | undefined;
  /** Names of the tricks that the judge fell for, i.e. whose most recent canary was judged wrong. */
  readonly obeyed: readonly string[];
}

export interface JudgeFigures extends Omit<Standing, "rightShare"> {
  readonly requests: ReadonlyMap<RequestOutcome, number>;
  /** Number of prompts whose verdict came from the cache, without a request. */
  readonly remembered: number;
  /**
   * Number of compared pairs whose verdicts agree in both orders ("consistent"), or depend on the order
   * ("inconsistent").
   */
  readonly comparisons: ReadonlyMap<"consistent" | "inconsistent", number>;
  /**
   * Number of verdicts by winner: A, B or tie. Each pair is judged in both orders, so an unbiased judge names A as
   * often as B.
   */
  readonly verdicts: ReadonlyMap<Verdict["winner"], number>;
  readonly canaries: ReadonlyMap<CanaryOutcome, number>;
  /** Share of right verdicts among the most recent canaries (test pairs). Undefined: the judge has judged none yet. */
  readonly canariesRightShare: number | undefined;
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** Number of replies for which the endpoint sent no token counts. Their tokens are missing in the sums of tokens. */
  readonly repliesWithoutUsage: number;
  /** Cost of the counted tokens in dollars. Undefined: the operator gave no prices. */
  readonly cost: number | undefined;
}

/** Prices of the judge's tokens, in dollars per million tokens. */
export interface Prices {
  readonly input: number;
  readonly output: number;
}

export type Counter = ReturnType<typeof createCounter>;

export function createCounter(prices: Prices | undefined) {
  const requests = new Map<RequestOutcome, number>();
  const comparisons = new Map<"consistent" | "inconsistent", number>();
  const verdicts = new Map<Verdict["winner"], number>();
  const canaries = new Map<CanaryOutcome, number>();
  const sums = { remembered: 0, tokensIn: 0, tokensOut: 0, repliesWithoutUsage: 0 };
  let standing: Standing = { rightShare: undefined, obeyed: [] };
  const million = 1e6;
  return {
    requested: (outcome: RequestOutcome): void => countUp(requests, outcome),
    paid(tokens: Tokens | undefined): void {
      if (tokens === undefined) sums.repliesWithoutUsage += 1;
      sums.tokensIn += tokens?.input ?? 0;
      sums.tokensOut += tokens?.output ?? 0;
    },
    remembered: (): void => void sums.remembered++,
    compared(both: readonly [Verdict, Verdict]): void {
      countUp(comparisons, agree(both) ? "consistent" : "inconsistent");
      for (const { winner } of both) countUp(verdicts, winner);
    },
    canary: (outcome: CanaryOutcome, now: Standing): void => {
      countUp(canaries, outcome);
      standing = now;
    },
    figures: (): JudgeFigures => ({
      requests,
      comparisons,
      verdicts,
      canaries,
      canariesRightShare: standing.rightShare,
      obeyed: standing.obeyed,
      ...sums,
      cost: prices && (sums.tokensIn * prices.input + sums.tokensOut * prices.output) / million,
    }),
  };
}

/**
 * Returns whether two verdicts on a pair of texts agree. The second verdict judged the same texts in the opposite
 * order, so the winners must be A and B, or both a tie.
 */
export function agree([order, swapped]: readonly [Verdict, Verdict]): boolean {
  return order.winner === "tie" ? swapped.winner === "tie" : swapped.winner === (order.winner === "A" ? "B" : "A");
}

export function judgeMetrics(figures: () => JudgeFigures): readonly SampledMetric[] {
  const counted = (name: string, help: string, of: (figures: JudgeFigures) => readonly Sample[]): SampledMetric =>
    counter(`gradus_judge_${name}`, help, () => of(figures()));
  const rightShare = () => one(figures().canariesRightShare);
  const obeyedKinds = () => one(figures().obeyed.length);
  return [
    counted("requests_total", "Requests to the judge, by outcome.", ({ requests }) => byName("outcome", requests)),
    counted("remembered_total", "Prompts whose verdict came from the cache.", ({ remembered }) => one(remembered)),
    counted("comparisons_total", "Compared pairs, by whether the verdicts in both orders agree.", ({ comparisons }) =>
      byName("orders", comparisons),
    ),
    counted("verdicts_total", "Verdicts by winner. Each pair is judged in both orders.", ({ verdicts }) =>
      byName("winner", verdicts),
    ),
    counted(
      "canaries_total",
      "Test pairs whose better text is known, by whether the judge was right.",
      ({ canaries }) => byName("outcome", canaries),
    ),
    gauge(
      "gradus_judge_canaries_right_share",
      "Share of the last 16 canaries (test pairs) that were judged right.",
      rightShare,
      "average",
    ),
    gauge(
      "gradus_judge_obeyed_kinds",
      "Number of kinds of tricks that worked on the judge at their last test.",
      obeyedKinds,
      "max",
    ),
    counted("tokens_total", "Tokens that the endpoint counted.", ({ tokensIn, tokensOut }) => [
      { labels: { direction: "in" }, value: tokensIn },
      { labels: { direction: "out" }, value: tokensOut },
    ]),
    counted("replies_without_usage_total", "Replies for which the endpoint sent no token counts.", (judge) =>
      one(judge.repliesWithoutUsage),
    ),
    counted(
      "cost_dollars_total",
      "Cost of the counted tokens in dollars, by --judge-price-in and --judge-price-out.",
      ({ cost }) => one(cost),
    ),
  ];
}
