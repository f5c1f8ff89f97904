/** A report from the samples so far. Pure. */
import type { SampleFacts } from "./facts.ts";
import { type Figures, meanFigures, taskFigures } from "./figures.ts";
import { type Suite, partOf } from "./suite.ts";

export interface ReportRow {
  readonly name: string;
  readonly samples: number;
  readonly samplesExpected: number;
  /** With at least one sample. */
  readonly tasks: number;
  readonly figures: Figures;
}

export interface Report {
  readonly parts: readonly ReportRow[];
  readonly environments: readonly ReportRow[];
  readonly categories: readonly ReportRow[];
  readonly overall: ReportRow;
  readonly baseline: string;
}

/** A task of the suite and what came in for it. */
export interface ScoredTask {
  readonly ordinal: number;
  readonly category: string;
  readonly samples: readonly SampleFacts[];
}

interface Counted extends ScoredTask {
  readonly part: string;
  readonly environment: string;
  readonly figures: Figures;
}

function rowOf(name: string, tasks: readonly Counted[], samplesExpected: number, figures?: Figures): ReportRow {
  return {
    ...{ name, samplesExpected, tasks: tasks.length },
    samples: tasks.reduce((sum, task) => sum + task.samples.length, 0),
    figures: figures ?? meanFigures(tasks.map((task) => task.figures)),
  };
}

/** `tasks` have at least one sample each; `categories` are those of all tasks of the suite that are known, by count. */
export function reportOf(
  suite: Suite,
  samplesPerTask: number,
  tasks: readonly ScoredTask[],
  categories: ReadonlyMap<string, number>,
): Report {
  const counted = tasks.map((task): Counted => {
    const { name, environment, definition } = partOf(suite, task.ordinal);
    return { ...task, part: name, environment, figures: taskFigures(definition.goal, task.samples, samplesPerTask) };
  });
  const rows = (keyOf: (task: Counted) => string, expected: ReadonlyMap<string, number>): readonly ReportRow[] => {
    const groups = Map.groupBy(counted, keyOf);
    return [...expected].map(([name, count]) => rowOf(name, groups.get(name) ?? [], count * samplesPerTask));
  };
  const categoryRows = rows(({ category }) => category, categories);
  const byCategory = meanFigures(categoryRows.filter(({ samples }) => samples > 0).map(({ figures }) => figures));
  return {
    parts: rows(({ part }) => part, new Map(suite.parts.map((part) => [part.name, part.tasks]))),
    environments: rows(({ environment }) => environment, tasksByEnvironment(suite)),
    categories: categoryRows,
    overall: rowOf(
      "overall",
      counted,
      suite.tasks * samplesPerTask,
      suite.definition.overall === "categories" ? byCategory : undefined,
    ),
    baseline: baselineText(counted),
  };
}

function tasksByEnvironment(suite: Suite): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { environment, tasks } of suite.parts) counts.set(environment, (counts.get(environment) ?? 0) + tasks);
  return counts;
}

/** What ratios are against. The papers divide by heuristic or planted values, which are often not the optimum. */
function baselineText(tasks: readonly Counted[]): string {
  if (tasks.length === 0) return "There are no samples yet.";
  const proofs = tasks.flatMap(({ samples }) => samples.find(({ proven }) => proven !== undefined)?.proven ?? []);
  const proven = proofs.filter(Boolean).length;
  const bounded = proofs.length - proven;
  if (proofs.length === 0) return "No baseline: an answer is right or it is not.";
  const against =
    bounded === 0
      ? `Ratios are against proven optima of all ${proven} tasks`
      : `Ratios are against proven optima of ${proven} tasks, and best known values with certified bounds of ${bounded}`;
  return `${against}: not comparable with the papers' tables, which divide by heuristic or planted values.`;
}
