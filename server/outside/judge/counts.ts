/** What the judge was asked, what came of it, what it cost, and whether it can be believed; for Prometheus as well. */
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

/** What a request came to: a verdict, a reply without one, or none; nobody waited for the cancelled. */
export type RequestOutcome = "verdict" | "unreadable" | "timeout" | "status" | "connection" | "cancelled";
export type CanaryOutcome = "right" | "wrong" | "failed";

/** How a judge does. */
export interface Standing {
  /** Of the last canaries, how many were judged right; undefined: none was judged yet. */
  readonly rightShare: number | undefined;
  /** The kinds of obedience whose last canary was judged wrong: the judge gives in to them. */
  readonly obeyed: readonly string[];
}

export interface JudgeFigures extends Omit<Standing, "rightShare"> {
  readonly requests: ReadonlyMap<RequestOutcome, number>;
  /** Prompts whose verdict was remembered. */
  readonly remembered: number;
  /** Comparisons whose two orders agree, and those in which the place decided. */
  readonly comparisons: ReadonlyMap<"consistent" | "inconsistent", number>;
  /** By what was said of text A. Every comparison is asked both ways round: a fair judge has as many A as B. */
  readonly verdicts: ReadonlyMap<Verdict["winner"], number>;
  readonly canaries: ReadonlyMap<CanaryOutcome, number>;
  /** Of the last canaries, how many were judged right; undefined: none was judged yet. */
  readonly canariesRightShare: number | undefined;
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** Replies that did not say how many tokens they took: the sums are too low by these. */
  readonly repliesWithoutUsage: number;
  /** Dollars, of the tokens that are known; undefined: no prices were given. */
  readonly cost: number | undefined;
}

/** Dollars for a million tokens. */
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

/** Whether both name the same text, or none: what is A in the one order is B in the other. */
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
