/** Reads what a report is made of. */
import type { Context, OpenEvaluation } from "./evaluations.ts";
import type { SampleFacts } from "./facts.ts";
import { type Report, type ScoredTask, reportOf } from "./report.ts";
import type { Suite } from "./suite.ts";

export async function makeReport({ store, tasks }: Context, open: OpenEvaluation): Promise<Report> {
  const made = await tasks.made(open.of, 0, open.of.tasks);
  const categoryOf = new Map(made.map(({ ordinal, category }) => [ordinal, category]));
  const byTask = Map.groupBy(await store.facts(open.key), ({ ordinal }) => ordinal);
  const scored = [...byTask].map(([ordinal, samples]): ScoredTask => {
    const category = categoryOf.get(ordinal);
    if (category === undefined) throw new Error(`task ${ordinal} has samples, and was never made`);
    return { ordinal, category, samples: samples.map(({ facts }) => JSON.parse(facts) as SampleFacts) };
  });
  return reportOf(open.of, open.samplesPerTask, scored, categoryCounts(open.of, [...categoryOf.values()]));
}

/** Tasks of each category. Where only a task's instance tells its category, tasks that were not made are not counted. */
function categoryCounts(suite: Suite, made: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const add = (name: string, count: number): void => void counts.set(name, (counts.get(name) ?? 0) + count);
  const named = new Set<string>();
  for (const { category, tasks } of suite.parts) {
    if (typeof category !== "string") continue;
    named.add(category);
    add(category, tasks);
  }
  for (const category of made.toSorted()) if (!named.has(category)) add(category, 1);
  return counts;
}
