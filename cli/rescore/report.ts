/** Reports what changed: a row for each completion, and tables by arm and by verdict. */
import { number, table } from "../print.ts";
import type { StoredGroup } from "./rows.ts";
import type { ScoredGroup } from "./score.ts";

/** Completion with its scores before and now. Null: not known, or there is none. */
export type RescoredRow = ReturnType<typeof rowOf>;

export function rowsOf(stored: readonly StoredGroup[], scored: readonly ScoredGroup[]): readonly RescoredRow[] {
  return stored.flatMap((group, i) => group.completions.map((_, j) => rowOf(group, scored[i]!, j)));
}

function rowOf(
  { id, arm, completions }: StoredGroup,
  { environment, version, level, scores }: ScoredGroup,
  at: number,
) {
  const { name: sample, sampleIndex, before } = completions[at]!;
  const after = scores[at]!;
  return {
    sample,
    arm,
    environment,
    version,
    level,
    group_id: id,
    sample_index: sampleIndex,
    reward_before: before.reward ?? null,
    reward: after.reward ?? null,
    verdict_before: before.verdict ?? null,
    verdict: after.verdict ?? null,
    solved_before: before.solved ?? null,
    solved: after.solved ?? null,
    rloo_advantage_before: before.rloo_advantage ?? null,
    rloo_advantage: after.rloo ?? null,
    grpo_advantage_before: before.grpo_advantage ?? null,
    grpo_advantage: after.grpo ?? null,
    no_reward: after.reason ?? null,
    detail: after.detail ?? null,
  };
}

export type Report = ReturnType<typeof reportOf>;

/** Number of samples that are named as examples of a change. */
const EXAMPLES = 3;

export function reportOf(rows: readonly RescoredRow[]) {
  const arms = [...Map.groupBy(rows, armOf)].map(([arm, own]) => ({
    arm,
    ...meansOf(own),
    changed: own.filter(isChanged).length,
    without_reward: own.filter(({ reward }) => reward === null).length,
    solved_before: solvedOf(own.map((row) => row.solved_before)),
    solved: solvedOf(own.map(({ solved }) => solved)),
  }));
  const changes = [...Map.groupBy(rows.filter(isChanged), changeOf).values()].map((alike) => {
    const [first] = alike as [RescoredRow, ...RescoredRow[]];
    const [arm, from, to] = [armOf(first), wordsBefore(first), wordsNow(first)];
    return { arm, from, to, ...meansOf(alike), samples: alike.slice(0, EXAMPLES).map(({ sample }) => sample) };
  });
  return { arms, changes: changes.sort((a, b) => b.completions - a.completions) };
}

/** Returns the arm of a completion, or its environment and level if it is of no arm. */
function armOf({ arm, environment, level }: RescoredRow): string {
  return arm === "" ? `${environment} ${level}`.trim() : arm;
}

/** Returns whether a score differs from that before. A value that was not known does not count. */
function isChanged(row: RescoredRow): boolean {
  const pairs = [
    [row.reward_before, row.reward],
    [row.verdict_before, row.verdict],
    [row.solved_before, row.solved],
  ] as const;
  return pairs.some(([before, after]) => before !== null && !Object.is(before, after));
}

function meansOf(rows: readonly RescoredRow[]) {
  const before = meanOf(rows.map(({ reward_before: reward }) => reward));
  return { completions: rows.length, reward_before: before, reward: meanOf(rows.map(({ reward }) => reward)) };
}

function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

/** Returns how many are solved. Null: it is known of none. */
function solvedOf(values: readonly (boolean | null)[]): number | null {
  return values.every((value) => value === null) ? null : values.filter((value) => value === true).length;
}

const changeOf = (row: RescoredRow): string => JSON.stringify([armOf(row), wordsBefore(row), wordsNow(row)]);
const wordsBefore = (row: RescoredRow): string => verdictText(row.verdict_before, row.solved_before);
const wordsNow = (row: RescoredRow): string =>
  row.no_reward === null ? verdictText(row.verdict, row.solved) : `no reward: ${row.no_reward}`;

function verdictText(verdict: string | null, isSolved: boolean | null): string {
  return `${verdict ?? "unknown"}${isSolved === true ? ", solved" : ""}`;
}

/** Maximum number of changes in the printed table, the most frequent ones. JSON has all. */
const CHANGES_SHOWN = 40;

const shown = (value: number | null): string => (value === null ? "–" : number(value));

export function reportText({ arms, changes }: Report): string {
  const byArm = table(
    ["arm", "completions", "changed", "without reward", "mean reward before", "now", "solved before", "now"],
    arms.map((each) => [
      ...[each.arm, `${each.completions}`, `${each.changed}`, `${each.without_reward}`],
      ...[shown(each.reward_before), shown(each.reward), shown(each.solved_before), shown(each.solved)],
    ]),
  );
  if (changes.length === 0) return byArm;
  const byVerdict = table(
    ["arm", "verdict before", "now", "completions", "mean reward before", "now", "for example"],
    changes
      .slice(0, CHANGES_SHOWN)
      .map((each) => [
        ...[each.arm, each.from, each.to, `${each.completions}`],
        ...[shown(each.reward_before), shown(each.reward), each.samples.join(", ")],
      ]),
  );
  return `${byArm}\n\n${byVerdict}`;
}
