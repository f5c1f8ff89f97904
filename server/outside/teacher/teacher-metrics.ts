/** Counts requests to the teacher model, its proposed tasks and its tokens, by environment and level. */
import { byName, counter, countUp, type Sample, type SampledMetric } from "../../runtime/sampled-metrics.ts";
import type { Rejection } from "./check-proposal.ts";

/**
 * Outcome of a request: a reply with accepted tasks ("useful"), without any ("useless"), one that is not a list of
 * tasks ("unreadable"), or a kind of failure.
 */
export type RequestOutcome = "useful" | "useless" | "unreadable" | "timeout" | "status" | "connection";

export interface TeacherCounts {
  readonly environment: string;
  readonly level: string;
  readonly requests: ReadonlyMap<RequestOutcome, number>;
  /** Number of proposed tasks by outcome: accepted, or the reason for the rejection. */
  readonly proposals: ReadonlyMap<"accepted" | Rejection, number>;
  /** Number of tasks that all requests together asked for. */
  readonly asked: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  /**
   * Number of replies for which the endpoint sent no token counts. Their tokens are missing in `tokensIn` and
   * `tokensOut`.
   */
  readonly repliesWithoutUsage: number;
}

export interface Counter {
  requested(outcome: RequestOutcome): void;
  proposed(outcome: "accepted" | Rejection, count: number): void;
  asked(tasks: number): void;
  cost(tokens: { readonly input: number; readonly output: number } | undefined): void;
}

export interface Counters {
  of(environment: string, level: string): Counter;
  readonly all: () => readonly TeacherCounts[];
}

export function createCounters(): Counters {
  const known = new Map<string, { readonly counts: TeacherCounts; readonly counter: Counter }>();
  return {
    all: () => [...known.values()].map(({ counts }) => counts),
    of(environment, level) {
      const name = `${environment}/${level}`;
      const found = known.get(name) ?? createCounter(environment, level);
      known.set(name, found);
      return found.counter;
    },
  };
}

function createCounter(environment: string, level: string) {
  const requests = new Map<RequestOutcome, number>();
  const proposals = new Map<"accepted" | Rejection, number>();
  const counts = { asked: 0, tokensIn: 0, tokensOut: 0, repliesWithoutUsage: 0 };
  const counter: Counter = {
    requested: (outcome) => countUp(requests, outcome),
    proposed: (outcome, count) => void proposals.set(outcome, (proposals.get(outcome) ?? 0) + count),
    asked(tasks) {
      counts.asked += tasks;
    },
    cost(tokens) {
      if (tokens === undefined) counts.repliesWithoutUsage += 1;
      counts.tokensIn += tokens?.input ?? 0;
      counts.tokensOut += tokens?.output ?? 0;
    },
  };
  return { counts: Object.assign(counts, { environment, level, requests, proposals }), counter };
}

export function teacherMetrics(all: () => readonly TeacherCounts[]): readonly SampledMetric[] {
  const counted = (name: string, help: string, of: (figures: TeacherCounts) => readonly Sample[]): SampledMetric =>
    counter(`gradus_teacher_${name}`, help, () => all().flatMap(of));
  return [
    counted("requests_total", "Requests to the teacher, by outcome.", (figures) =>
      byName("outcome", figures.requests, labelsOf(figures)),
    ),
    counted("tasks_asked_total", "Tasks that the requests asked for.", (figures) => [
      { labels: labelsOf(figures), value: figures.asked },
    ]),
    counted(
      "proposals_total",
      "Tasks that the teacher proposed, by outcome: accepted, or the reason for the rejection.",
      (figures) => byName("outcome", figures.proposals, labelsOf(figures)),
    ),
    counted("tokens_total", "Tokens that the endpoint counted, in prompts and in replies.", (figures) => [
      { labels: { ...labelsOf(figures), direction: "in" }, value: figures.tokensIn },
      { labels: { ...labelsOf(figures), direction: "out" }, value: figures.tokensOut },
    ]),
    counted("replies_without_usage_total", "Replies for which the endpoint sent no token counts.", (figures) => [
      { labels: labelsOf(figures), value: figures.repliesWithoutUsage },
    ]),
  ];
}

function labelsOf({ environment, level }: TeacherCounts) {
  return { environment, level };
}
