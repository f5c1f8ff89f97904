/** Makes a row for each completion, and prints the report as tables by arm and by verdict. */
import type { RescoreReport } from "../../clients/ts/src/rescore-report.ts";
import { number, table } from "../print.ts";
import type { StoredGroup } from "./rows.ts";
import type { ScoredGroup } from "./score.ts";

/**
 * Row of the result: a completion with its old and its new score. A field is null if its value is unknown or missing.
 */
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

/**
 * Maximum number of rows in the printed table of changed verdicts, which shows the most frequent changes. JSON has all.
 */
const CHANGES_SHOWN = 40;

const shown = (value: number | null): string => (value === null ? "–" : number(value));

export function reportText({ arms, changes }: RescoreReport<string>): string {
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
