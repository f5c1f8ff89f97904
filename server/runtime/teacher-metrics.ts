/** What the teacher was asked, what came of it and what it cost, for Prometheus. */
import type { Registry } from "prom-client";
import { registerSamples, type Sample } from "./samples.ts";

/** Of one environment and level, of which there are few. */
export interface TeacherFigures {
  readonly environment: string;
  readonly level: string;
  readonly requests: ReadonlyMap<string, number>;
  readonly proposals: ReadonlyMap<string, number>;
  readonly asked: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly repliesWithoutUsage: number;
}

/** `all` is undefined where there is no teacher: then there are no such metrics. */
export function registerTeacher(registry: Registry, all: (() => readonly TeacherFigures[]) | undefined): void {
  if (all === undefined) return;
  const counter = (name: string, help: string, of: (figures: TeacherFigures) => readonly Sample[]): void =>
    registerSamples(registry, { name, help, type: "counter", samples: () => all().flatMap(of) });
  counter("gradus_teacher_requests_total", "Requests to the teacher, by what they came to.", (figures) =>
    byName(figures, "outcome", figures.requests),
  );
  counter("gradus_teacher_tasks_asked_total", "Tasks that the requests asked for.", (figures) => [
    { labels: labelsOf(figures), value: figures.asked },
  ]);
  counter("gradus_teacher_proposals_total", "Tasks that the teacher proposed: accepted, or why not.", (figures) =>
    byName(figures, "outcome", figures.proposals),
  );
  counter("gradus_teacher_tokens_total", "Tokens that the endpoint counted, in prompts and in replies.", (figures) => [
    { labels: { ...labelsOf(figures), direction: "in" }, value: figures.tokensIn },
    { labels: { ...labelsOf(figures), direction: "out" }, value: figures.tokensOut },
  ]);
  counter("gradus_teacher_replies_without_usage_total", "Replies that did not say what they cost.", (figures) => [
    { labels: labelsOf(figures), value: figures.repliesWithoutUsage },
  ]);
}

function labelsOf({ environment, level }: TeacherFigures) {
  return { environment, level };
}

function byName(figures: TeacherFigures, label: string, counts: ReadonlyMap<string, number>): readonly Sample[] {
  return [...counts].map(([name, value]) => ({ labels: { ...labelsOf(figures), [label]: name }, value }));
}
