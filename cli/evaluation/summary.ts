/** Summarizes an evaluation: its report, its settings, and statistics of its samples. */
import { fromJson, toJson } from "@bufbuild/protobuf";
import type { JsonValue } from "@bufbuild/protobuf";
import { ReportSchema } from "../../clients/ts/src/public.ts";
import type { EvaluationHandle, Report, ReportRow, Sample } from "../../clients/ts/src/public.ts";
import { table } from "../print.ts";
import { cellOf, columnsOf } from "./figures.ts";
import { countRow, type RowCount } from "./row-counts.ts";
import { createSpecimens } from "./specimens.ts";

/** Settings of the completions, such as the temperature. Unknown settings are missing. */
export type Settings = Readonly<Record<string, JsonValue>>;

/** Counts of the samples of one part of the suite. */
export interface PartSummary {
  readonly part: string;
  /**
   * Number of feasible answers in each tenth of the quality ratio (value relative to the best), from [0, 0.1) to [0.9,
   * 1].
   */
  readonly ratios: readonly number[];
  /** Number of answers that are optimal or graded as right. */
  readonly optimal: number;
  /** Number of answers that were read and graded as wrong. */
  readonly wrong: number;
  readonly infeasible: number;
  readonly malformed: number;
  readonly noReward: number;
}

export type Summary = Awaited<ReturnType<typeof summarize>>;

const RATIO_STEPS = 10;
const VIOLATIONS_MAX = 40;

type Counts = {
  -readonly [K in keyof PartSummary]: PartSummary[K] extends readonly number[] ? number[] : PartSummary[K];
};

function emptyCounts(part: string): Counts {
  const ratios = Array.from({ length: RATIO_STEPS }, () => 0);
  return { part, ratios, optimal: 0, wrong: 0, infeasible: 0, malformed: 0, noReward: 0 };
}

/** Reads the report and all samples of an evaluation. */
export async function summarize(evaluation: EvaluationHandle, settings: Settings) {
  const report = await evaluation.report();
  const parts = new Map<string, Counts>();
  const specimens = createSpecimens();
  const rows = new Map<string, RowCount>();
  const violations = new Map<string, { part: string; violation: string; count: number }>();
  for await (const sample of evaluation.samples({ pageSize: 200 })) {
    specimens.add(sample);
    countRow(rows, sample);
    const counts = parts.get(sample.part) ?? emptyCounts(sample.part);
    parts.set(sample.part, counts);
    const violation = countSample(counts, sample);
    if (violation === undefined) continue;
    const key = `${sample.part}\n${violation}`;
    const known = violations.get(key) ?? { part: sample.part, violation, count: 0 };
    known.count++;
    violations.set(key, known);
  }
  const most = [...violations.values()].sort((a, b) => b.count - a.count).slice(0, VIOLATIONS_MAX);
  return {
    report,
    settings,
    parts: [...parts.values()] as readonly PartSummary[],
    violations: most,
    /** Number of times that each row of a pool was solved. Empty if the suite has no rows. */
    rows: [...rows.values()],
    /** Answers for pictures, which are not written to report.json. */
    specimens: specimens.all(),
  };
}

/**
 * Counts a sample. Returns what is wrong with the answer, or why the sample has no reward. Undefined: nothing is wrong.
 * Each number in a violation becomes "…", so that similar violations are counted together.
 */
function countSample(counts: Counts, { outcome }: Sample): string | undefined {
  if (outcome?.kind !== "scored") {
    counts.noReward++;
    return outcome?.detail;
  }
  const { verdict, violation, ratio, solved } = outcome;
  // Count a right answer that has no quality ratio as ratio 1.
  if (verdict === "feasible" || solved) {
    if (solved) counts.optimal++;
    const step = Math.min(RATIO_STEPS - 1, Math.floor((ratio ?? 1) * RATIO_STEPS));
    counts.ratios[step] = (counts.ratios[step] ?? 0) + 1;
    return undefined;
  }
  if (verdict === "infeasible") counts.infeasible++;
  else if (verdict === "graded") counts.wrong++;
  else counts.malformed++;
  return violation.replaceAll(/\d+(\.\d+)?/g, "…").slice(0, 200);
}

/** Returns the content of report.json, whose `report` is a gradus.v1.Report. */
export function summaryToJson({ report, settings, parts, violations, rows }: Summary): JsonValue {
  const written = toJson(ReportSchema, report, { alwaysEmitImplicit: true });
  const rated = rows.map(({ solved, ...row }) => ({ ...row, pass_rate: solved / row.samples }));
  const whole = {
    warnings: [...report.warnings],
    report: written,
    settings,
    parts,
    violations,
    ...(rated.length > 0 && { rows: rated }),
  };
  return JSON.parse(JSON.stringify(whole)) as JsonValue;
}

/** Returns the report in the content of a report.json. Undefined if the content has no report. */
export function reportFromJson(json: JsonValue): Report | undefined {
  const report = typeof json === "object" && json !== null && !Array.isArray(json) ? json["report"] : undefined;
  try {
    return report === undefined ? undefined : fromJson(ReportSchema, report, { ignoreUnknownFields: true });
  } catch {
    return undefined;
  }
}

/** Returns the groups of rows to show: parts, then categories if there are several, then the overall row. */
export function rowsOf({ parts, categories, overall }: Report): readonly (readonly ReportRow[])[] {
  const groups = [parts, categories.length > 1 ? categories : [], overall === undefined ? [] : [overall]];
  return groups.filter((rows) => rows.length > 0);
}

/** Returns the report as text for a terminal. */
export function reportTable(report: Report): string {
  const groups = rowsOf(report);
  const columns = columnsOf(groups.flat());
  const head = ["", "samples", ...columns.map(({ title }) => title)];
  const rows = groups.flatMap((group, i) => [
    ...(i === 0 ? [] : [head.map(() => "")]),
    ...group.map((row) => [row.name, String(row.samples), ...columns.map((column) => cellOf(row, column))]),
  ]);
  return [...report.warnings.map((words) => `warning: ${words}`), table(head, rows), ...remarksOf(report)].join("\n\n");
}

/**
 * Returns remarks on a report's statistics: what ratios are relative to, and which tasks are left out or may be in the
 * training data.
 */
export function remarksOf({ baseline, overall }: Report): readonly string[] {
  const { tasks = 0n, tasksInEverySplit: few = 0n, tasksLeftOut = {} } = overall ?? {};
  const counts = Object.entries(tasksLeftOut).map(([figure, count]) => `${figure} leaves out ${count}`);
  const left = `Of ${tasks} tasks ${counts.join(", ")}: too few of their samples have a reward so far.`;
  const remarks = counts.length === 0 ? [baseline] : [baseline, left];
  if (few === 0n) return remarks;
  return [
    ...remarks,
    `${few} of ${tasks} tasks lie in every split, for there are fewer than 1,000 like them: the model may have been trained on them.`,
  ];
}
