/** Maps verdicts to tones (colours) and words. The page never shows a colour without the words. */
import type { Outcome, VerdictName } from "../../../clients/ts/src/outcomes.ts";
import type { Tone } from "../ui/tone.ts";

export function verdictTone(verdict: VerdictName, solved: boolean): Tone {
  if (solved) return "good";
  switch (verdict) {
    case "malformed":
    case "infeasible":
      return "bad";
    case "feasible":
    case "graded":
      return "poor";
    case "unknown":
      return "plain";
  }
}

/** Returns the verdict in words, e.g. "✓ feasible, solved". */
export function verdictWords(outcome: Outcome): string {
  if (outcome.kind === "unscored") return `no reward: ${outcome.reason.replaceAll("_", " ")}`;
  const { verdict, solved } = outcome;
  return solved ? `✓ ${verdict}, solved` : `${verdict === "feasible" || verdict === "graded" ? "≈" : "✗"} ${verdict}`;
}

export function outcomeTone(outcome: Outcome): Tone {
  return outcome.kind === "unscored" ? "plain" : verdictTone(outcome.verdict, outcome.solved);
}
