/** Selects which statistics of a report to show, such as the success rate, and formats them. */
import type { ReportRow } from "../../clients/ts/src/public.ts";

export interface Column {
  readonly figure: string;
  readonly title: string;
  readonly meaning: string;
  readonly percent: boolean;
  /** True if the column is shown only when a row has a value above 0 in it. */
  readonly rare?: true;
}

const percent = (figure: string, title: string, meaning: string): Column => ({ figure, title, meaning, percent: true });

const columns: readonly Column[] = [
  percent("success_rate", "SR", "success rate: answers that meet every constraint"),
  percent("quality_ratio", "QR", "quality ratio: how near the optimum, where an infeasible answer counts 0"),
  percent(
    "heuristic_ratio",
    "QR (heuristic)",
    "ratio to a heuristic's answer, as in the papers' tables; it may exceed 100%",
  ),
  percent("optimal_rate", "optimal", "answers equal to the optimum"),
  percent("exact_rate", "exact", "right answers among all samples"),
  { figure: "mean_score", title: "score", meaning: "mean reward", percent: false },
  percent("pass@avg", "pass@avg", "mean of pass@k over each k"),
  percent("nonzero_pass@n", "nonzero@n", "tasks with a sample of reward above 0"),
  percent("first_verifying_pass@1", "first verifying", "samples with a right answer anywhere"),
  percent("abandonment_gap", "abandoned", "samples with a right answer somewhere whose last answer is not right"),
  { figure: "answers_per_rollout", title: "answers", meaning: "marked answers in a completion", percent: false },
  { figure: "calls_per_episode", title: "calls", meaning: "calls of an episode", percent: false },
  percent("infeasible_rate", "infeasible", "answers that break a constraint"),
  percent("malformed_rate", "malformed", "answers that could not be read"),
  { ...percent("unread_rate", "unread", "answers that were found and could not be read"), rare: true },
  {
    ...percent("undecided_rate", "undecided", "answers of which it could not be told whether they are right"),
    rare: true,
  },
  {
    ...percent(
      "no_reward_rate",
      "no reward",
      "samples without a reward, e.g. too long, which are in no other statistic",
    ),
    rare: true,
  },
  percent("truncated_rate", "truncated", "completions cut off at their maximum length"),
];

/** Returns the columns for which the rows have values. The columns of pass@k, sorted by k, come before pass@avg. */
export function columnsOf(rows: readonly ReportRow[]): readonly Column[] {
  const names = new Set(rows.flatMap(({ figures }) => Object.keys(figures)));
  const ks = [...names].flatMap((name) => /^pass@(\d+)$/.exec(name)?.[1] ?? []).map(Number);
  const passes = ks
    .sort((a, b) => a - b)
    .map((k) =>
      percent(`pass@${k}`, `pass@${k}`, k === 1 ? "tasks that one sample solves" : `tasks that ${k} samples solve`),
    );
  const isAny = (figure: string): boolean => rows.some(({ figures }) => (figures[figure] ?? 0) > 0);
  const shown = columns.filter(({ figure, rare }) => names.has(figure) && (rare !== true || isAny(figure)));
  const at = shown.findIndex(({ figure }) => figure === "pass@avg");
  return at < 0 ? [...shown, ...passes] : [...shown.slice(0, at), ...passes, ...shown.slice(at)];
}

export function cellOf({ figures }: ReportRow, { figure, percent: isPercent }: Column): string {
  const value = figures[figure];
  if (value === undefined) return "–";
  return isPercent ? `${(100 * value).toFixed(1)}%` : value.toFixed(3);
}
