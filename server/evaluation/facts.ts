/** What a report reads of a sample: a few numbers, so that reports of many samples are quick. */
import type { Score, Verdict } from "../../envs/score.ts";
import type { NoReward, NoRewardReason, SampleResult } from "../tasks/scorer.ts";

export interface SampleFacts {
  /** "none": there is no verdict, and will not be. */
  readonly verdict: Verdict | "none";
  /** The goal is reached: a right answer, or a proven optimum. */
  readonly solved: boolean;
  /** One of the answers found reaches the goal, though it may not be the last one. */
  readonly verified: boolean;
  /** In [0, 1]; 0 unless feasible. */
  readonly ratio: number;
  readonly reward: number;
  readonly truncated: boolean;
  /** Whether the baseline is proven optimal; undefined: there is none. */
  readonly proven?: boolean;
}

/** Reasons that no later attempt changes: the sample counts, as an answer that is not feasible. */
const FINAL: ReadonlySet<NoRewardReason> = new Set(["too_large", "timeout"]);

export function isFinal(result: SampleResult): boolean {
  return result.kind === "score" || FINAL.has(result.reason);
}

export function factsOf(result: Score | NoReward): SampleFacts {
  if ("reason" in result)
    return { verdict: "none", solved: false, verified: false, ratio: 0, reward: 0, truncated: false };
  const { verdict, solved, ratio = 0, reward, truncated, spans, baseline } = result;
  const verified = solved || spans.some((span) => span.solved);
  return { verdict, solved, verified, ratio, reward, truncated, ...(baseline && { proven: baseline.proven }) };
}
