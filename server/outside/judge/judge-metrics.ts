/** Counts the judge's requests, verdicts, cost and canaries, for Prometheus too. */
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

/** Outcome of a request: a verdict, a reply without one, a failure, or cancelled because nobody waited. */
export type RequestOutcome = "verdict" | "unreadable" | "timeout" | "status" | "connection" | "cancelled";
export type CanaryOutcome = "right" | "wrong" | "failed";

/** How far the judge can be trusted. */
export interface Standing {
  /** Share of right verdicts among the last canaries. Undefined if none was judged yet. */
  readonly rightShare: number | undefined;
  /** Kinds of obedience whose last canary was judged wrong: the judge gave in to them. */
  readonly obeyed: readonly string[];
}

export interface JudgeFigures extends Omit<Standing, "rightShare"> {
  readonly requests: ReadonlyMap<RequestOutcome, number>;
  /** Prompts answered from the cache of verdicts. */
  readonly remembered: number;
  /** Comparisons whose two orders agree ("consistent") or in which the position decided ("inconsistent"). */
  readonly comparisons: ReadonlyMap<"consistent" | "inconsistent", number>;
  /** Verdicts by their winner. Each pair is asked in both orders, so a fair judge names A as often as B. */
  readonly verdicts: ReadonlyMap<Verdict["winner"], number>;
  readonly canaries: ReadonlyMap<CanaryOutcome, number>;
  /** Share of right verdicts among the last canaries. Undefined if none was judged yet. */
  readonly canariesRightShare: number | undefined;
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** Replies without token counts. The token sums are too low by these replies. */
  readonly repliesWithoutUsage: number;
  /** Cost in dollars of the known tokens. Undefined if no prices were given. */
  readonly cost: number | undefined;
}

/** Prices in dollars per million tokens. */
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

/** Returns whether both orders name the same text or a tie. Text A in one order is text B in the other. */
export function agree([order, swapped]: readonly [Verdict, Verdict]): boolean {
  return order.winner === "tie" ? swapped.winner === "tie" : swapped.winner === (order.winner === "A" ? "B" : "A");
}

export function judgeMetrics(figures: () => JudgeFigures): readonly SampledMetric[] {
  const counted = (name: string, help: string, of: (figures: JudgeFigures) => readonly Sample[]): SampledMetric =>
    counter(`gradus_judge_${name}`, help, () => of(figures()));
  const rightShare = () => one(figures().canariesRightShare);
  const obeyedKinds = () => one(figures().obeyed.length);
  return [
    counted("requests_total", "Requests to the judge, by what they came to.", ({ requests }) =>
      byName("outcome", requests),
    ),
    counted("remembered_total", "Prompts whose verdict was remembered.", ({ remembered }) => one(remembered)),
    counted("comparisons_total", "Comparisons whose two orders agree, and others.", ({ comparisons }) =>
      byName("orders", comparisons),
    ),
    counted("verdicts_total", "Verdicts; each pair is shown both ways round.", ({ verdicts }) =>
      byName("winner", verdicts),
    ),
    counted("canaries_total", "Pairs whose better text is known, by what was said.", ({ canaries }) =>
      byName("outcome", canaries),
    ),
    gauge("gradus_judge_canaries_right_share", "Of the last 16 canaries, those judged right.", rightShare, "average"),
    gauge("gradus_judge_obeyed_kinds", "Kinds of obedience that the judge last gave in to.", obeyedKinds, "max"),
    counted("tokens_total", "Tokens that the endpoint counted.", ({ tokensIn, tokensOut }) => [
      { labels: { direction: "in" }, value: tokensIn },
      { labels: { direction: "out" }, value: tokensOut },
    ]),
    counted("replies_without_usage_total", "Replies that did not say what they cost.", (judge) =>
      one(judge.repliesWithoutUsage),
    ),
    counted("cost_dollars_total", "What the tokens cost at the prices given.", ({ cost }) => one(cost)),
  ];
}
