/** Filters completions by their text and score. */
import { violationKind } from "../../envs/lib/violation-kind.ts";
import type { Verdict } from "../../envs/score.ts";
import type { SampleResult } from "../tasks/scoring/results.ts";
import { templateOf } from "./violation-template.ts";

/** Conditions on completions. A completion matches if it meets all that are set. */
export interface SampleFilter {
  /** Verdicts to include. Empty: all. A completion without a reward has no verdict. */
  readonly verdicts: ReadonlySet<Verdict>;
  /** Text that the completion's violation must contain, in lower case. Empty: any violation, or none. */
  readonly violation: string;
  /** Template that the completion's violation must have (templateOf). Empty: any violation, or none. */
  readonly violationTemplate: string;
  readonly rewardMin: number | undefined;
  readonly rewardMax: number | undefined;
  readonly solved: boolean | undefined;
  readonly truncated: boolean | undefined;
  readonly noReward: boolean | undefined;
  /** Reasons for a missing reward to include. Empty: completions with and without a reward. */
  readonly reasons: ReadonlySet<string>;
  /** Text that the completion must contain, in lower case. Empty: any. */
  readonly text: string;
}

/** Returns whether no condition is set, so that every completion matches. */
export function isOpen({ verdicts, violation, violationTemplate, reasons, text, ...others }: SampleFilter): boolean {
  const isUnset = Object.values(others).every((value) => value === undefined);
  const texts = [violation, violationTemplate, text];
  return isUnset && verdicts.size === 0 && reasons.size === 0 && texts.every((each) => each === "");
}

export function isMeant(filter: SampleFilter, completion: string, result: SampleResult): boolean {
  return isMeantByResult(filter, result) && (filter.text === "" || completion.toLowerCase().includes(filter.text));
}

function isMeantByResult(filter: SampleFilter, result: SampleResult): boolean {
  const {
    verdicts,
    violation,
    violationTemplate: template,
    rewardMin,
    rewardMax,
    solved,
    truncated,
    noReward,
    reasons,
  } = filter;
  const isScored = result.kind === "score";
  if (noReward !== undefined && noReward === isScored) return false;
  if (reasons.size > 0 && (isScored || !reasons.has(result.reason))) return false;
  if (!isScored) {
    const bounds = [rewardMin, rewardMax, truncated];
    const wantsViolation = violation !== "" || template !== "";
    const wantsScore = verdicts.size > 0 || wantsViolation || bounds.some((bound) => bound !== undefined);
    return !wantsScore && solved !== true;
  }
  const { score } = result;
  return (
    (verdicts.size === 0 || verdicts.has(score.verdict)) &&
    (violation === "" || score.violation.toLowerCase().includes(violation)) &&
    score.reward >= (rewardMin ?? -Infinity) &&
    score.reward <= (rewardMax ?? Infinity) &&
    (solved === undefined || score.solved === solved) &&
    (truncated === undefined || score.truncated === truncated) &&
    (template === "" || templateOf(violationKind(score.violation)) === template)
  );
}
