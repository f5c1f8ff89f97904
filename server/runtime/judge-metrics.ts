/** What the judge was asked, what came of it, what it cost, and whether it can be believed, for Prometheus. */
import type { Registry } from "prom-client";
import { registerSamples, type Sample } from "./samples.ts";

export interface JudgeFigures {
  readonly requests: ReadonlyMap<string, number>;
  readonly remembered: number;
  readonly comparisons: ReadonlyMap<string, number>;
  readonly verdicts: ReadonlyMap<string, number>;
  readonly canaries: ReadonlyMap<string, number>;
  /** Undefined: none was judged yet. */
  readonly canariesRightShare: number | undefined;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly repliesWithoutUsage: number;
  /** Dollars; undefined: no prices are known. */
  readonly cost: number | undefined;
}

/** `figures` is undefined where there is no judge: then there are no such metrics. */
export function registerJudge(registry: Registry, figures: (() => JudgeFigures) | undefined): void {
  if (figures === undefined) return;
  const metric = (
    type: "counter" | "gauge",
    name: string,
    help: string,
    of: (figures: JudgeFigures) => readonly Sample[],
  ): void => registerSamples(registry, { name: `gradus_judge_${name}`, help, type, samples: () => of(figures()) });
  metric("counter", "requests_total", "Requests to the judge, by what they came to.", ({ requests }) =>
    byName("outcome", requests),
  );
  metric("counter", "remembered_total", "Prompts whose verdict was remembered.", ({ remembered }) => one(remembered));
  metric("counter", "comparisons_total", "Comparisons whose two orders agree, and others.", ({ comparisons }) =>
    byName("orders", comparisons),
  );
  metric("counter", "verdicts_total", "Verdicts; each pair is shown both ways round.", ({ verdicts }) =>
    byName("winner", verdicts),
  );
  metric("counter", "canaries_total", "Pairs whose better text is known, by what was said.", ({ canaries }) =>
    byName("outcome", canaries),
  );
  metric("gauge", "canaries_right_share", "Of the last 16 canaries, those judged right.", ({ canariesRightShare }) =>
    one(canariesRightShare),
  );
  metric("counter", "tokens_total", "Tokens that the endpoint counted.", ({ tokensIn, tokensOut }) => [
    { labels: { direction: "in" }, value: tokensIn },
    { labels: { direction: "out" }, value: tokensOut },
  ]);
  metric("counter", "replies_without_usage_total", "Replies that did not say what they cost.", (judge) =>
    one(judge.repliesWithoutUsage),
  );
  metric("counter", "cost_dollars_total", "What the tokens cost at the prices given.", ({ cost }) => one(cost));
}

function one(value: number | undefined): readonly Sample[] {
  return value === undefined ? [] : [{ labels: {}, value }];
}

function byName(label: string, counts: ReadonlyMap<string, number>): readonly Sample[] {
  return [...counts].map(([name, value]) => ({ labels: { [label]: name }, value }));
}
