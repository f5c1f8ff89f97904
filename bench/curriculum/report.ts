/** Tables of the results, in Markdown. */
import { type JudgedKind, type KindSet, sets } from "./judged-kinds.ts";
import { BAR, type Figure, type Judgement, overall } from "./judge.ts";
import type { Candidate } from "./policies.ts";

const short = (value: number, digits: number): string =>
  Number.isNaN(value) ? "–" : Number.isFinite(value) ? value.toFixed(digits) : "∞";

function figureText({ value, low, high }: Figure, digits: number): string {
  const spread = low === high ? "" : ` (${short(low, digits)} to ${short(high, digits)})`;
  return short(value, digits) + spread;
}

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");
}

/** Returns a table with one policy a row, over the kinds of one set. */
export function overallTable(judgements: readonly Judgement[], set: KindSet): string {
  const rows = [...overall(judgements, set)].sort((a, b) => a.median - b.median || a.upper - b.upper);
  const head = ["policy", "median kind", "worst kind", "upper end", "which", "lost", "late, worst kind", "which"];
  return table(
    [...head, `≤ ${BAR.median} and ≤ ${BAR.upper}`],
    rows.map(({ policy, median, worst, upper, worstKind, lost, late, lateKind, meetsBar }) => [
      ...[policy, short(median, 2), short(worst, 2), short(upper, 2), worstKind, lost],
      ...[short(late, 3), lateKind, meetsBar ? "yes" : "no"],
    ]),
  );
}

/** Returns a table with one kind a row, for one policy. */
export function kindTable(judgements: readonly Judgement[], policy: string): string {
  const of = judgements.filter((judgement) => judgement.policy === policy);
  return table(
    [
      "kind",
      "set",
      "of equal shares' rollouts",
      "late",
      "lost",
      "on hopeless arms",
      "useful groups",
      "equal shares' rollouts",
    ],
    of.map(({ kind, set, ratio, late, lost, students, unreached, wasted, useful, uniformRollouts }) => [
      ...[kind, set, figureText(ratio, 2), figureText(late, 3), `${lost} of ${students - unreached}`],
      ...[short(wasted, 2), short(useful, 2), short(uniformRollouts, 0)],
    ]),
  );
}

/** Returns a table of ratios with one kind a row and one policy a column. */
export function ratioTable(judgements: readonly Judgement[]): string {
  const names = [...new Set(judgements.map(({ policy }) => policy))];
  const rows = [...new Set(judgements.map(({ kind }) => kind))].map((kind) => {
    const of = judgements.filter((judgement) => judgement.kind === kind);
    const ratioOf = (name: string): number => of.find(({ policy }) => policy === name)?.ratio.value ?? NaN;
    return [kind, of[0]?.set ?? "", ...names.map((name) => short(ratioOf(name), 2))];
  });
  return table(["kind", "set", ...names], rows);
}

export interface Reported {
  readonly judgements: readonly Judgement[];
  readonly candidates: readonly Candidate[];
  readonly kinds: readonly JudgedKind[];
  /** The policy with a table of its own. */
  readonly first: string;
  readonly command: string;
}

const list = (items: readonly (readonly [string, string])[]): string =>
  items.map(([name, says]) => `- **${name}**: ${says}`).join("\n");

export function report({ judgements, candidates, kinds, first, command }: Reported): string {
  const students = (policy: (name: string) => boolean): number =>
    Math.max(0, ...judgements.filter((judgement) => policy(judgement.policy)).map((judgement) => judgement.students));
  const [own, others] = [students((name) => name === first), students((name) => name !== first)];
  const here = sets.filter((set) => judgements.some((judgement) => judgement.set === set));
  return [
    "# Policies against simulated students",
    `Made by \`${command}\`; see [README.md](README.md). ${own} students of each kind under ${first}, ${others} under the other policies, each beside equal shares on the same student. A ratio is the median over students of the rollouts to the target over those of equal shares, ∞ where most did not arrive in twice their time; *late* is the mean difference of the scores after twice the time of equal shares. In brackets 95% by the percentile bootstrap over students.`,
    ...here.flatMap((set) => [
      `## Over the kinds that were ${set === "others'" ? "made by others" : set}`,
      overallTable(judgements, set),
    ]),
    list(candidates.map(({ name, says }) => [name, says])),
    `## ${first}, on every kind`,
    kindTable(judgements, first),
    list(kinds.map(({ name, models }) => [name, models])),
    "## Every policy on every kind: ratios",
    ratioTable(judgements),
    "",
  ].join("\n\n");
}
