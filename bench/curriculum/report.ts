/** The table, in markdown. */
import type { Candidate } from "./policies.ts";
import { BAR, type Figure, type Judgement, overall } from "./judge.ts";

/** What the oracle goes by. */
export const ORACLE = "oracle";

const short = (value: number, digits: number): string => (Number.isFinite(value) ? value.toFixed(digits) : "∞");

function figureText({ value, low, high }: Figure, digits: number): string {
  if (Number.isNaN(value)) return "–";
  const spread = low === high ? "" : ` (${short(low, digits)}–${short(high, digits)})`;
  return short(value, digits) + spread;
}

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");
}

export function overallTable(judgements: readonly Judgement[]): string {
  const rows = [...overall(judgements)].sort((a, b) => a.median - b.median || a.worst - b.worst);
  return table(
    ["policy", "median student", "worst student", "which", "runs lost", `≤ ${BAR.median} and ≤ ${BAR.worst}`],
    rows.map(({ policy, median, worst, worstStudent, lost, meetsBar }) => [
      ...[policy, short(median, 2), short(worst, 2), worst === median ? "" : worstStudent, lost],
      policy === ORACLE ? "no policy" : meetsBar ? "yes" : "no",
    ]),
  );
}

export function studentTable(student: string, judgements: readonly Judgement[]): string {
  const of = judgements.filter((judgement) => judgement.student === student);
  const rows = of.toSorted((a, b) => a.rollouts.value - b.rollouts.value || a.regret.value - b.regret.value);
  return table(
    [
      "policy",
      "rollouts to target",
      "of uniform's",
      "lost",
      "final success",
      "regret",
      "on hopeless arms",
      "useful groups",
    ],
    rows.map(({ policy, rollouts, ratio, lost, seeds, final, regret, wasted, useful }) => [
      ...[policy, figureText(rollouts, 0), figureText(ratio, 2), `${lost} of ${seeds}`],
      ...[figureText(final, 2), figureText(regret, 3)],
      // What the oracle tries is not kept.
      ...(policy === ORACLE ? ["–", "–"] : [figureText(wasted, 2), figureText(useful, 2)]),
    ]),
  );
}

/** What each policy is. */
function policyList(candidates: readonly Candidate[]): string {
  return candidates.map(({ name, says }) => `- **${name}**: ${says}`).join("\n");
}

export function report(judgements: readonly Judgement[], candidates: readonly Candidate[], command: string): string {
  const students = [...new Set(judgements.map(({ student }) => student))];
  const seeds = judgements[0]?.seeds ?? 0;
  return [
    "# Policies against simulated students",
    `Made by \`${command}\`; see [README.md](README.md). ${seeds} students of each kind. Rollouts are medians, the rest means; in brackets 95% by the percentile bootstrap over students, ∞ where a run never arrived. The oracle is greedy and knows the student: it is no policy.`,
    "## Rollouts to the target, of uniform's",
    overallTable(judgements),
    policyList(candidates),
    ...students.flatMap((student) => [`## ${student}`, studentTable(student, judgements)]),
    "",
  ].join("\n\n");
}
