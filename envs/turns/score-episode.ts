/** Scores an episode that has ended: its return, and the facts about the call that decided the return. */
import { type Findings, malformed } from "../facts.ts";
import { assertNever } from "../lib/assert-never.ts";
import { escaped } from "../lib/escape.ts";
import { clipUtf8 } from "../lib/text.ts";
import {
  infoOf,
  ratioOf,
  type Score,
  type AnyScoreTask,
  type StopReason,
  VIOLATION_BYTES_MAX,
  violationOf,
} from "../score.ts";
import type { Episode } from "./turns.ts";

export interface EpisodeEnd {
  readonly stop: StopReason;
  readonly score: Score;
  /** Hash of all calls and of the episode's end, as in Episode. */
  readonly digest: string;
}

/**
 * Returns the score of an episode that has ended. `last` has the findings about the episode's last call. It is
 * undefined if the last completion made no call.
 */
export function scoreEpisode(
  task: AnyScoreTask,
  { calls, standing, digest }: Episode,
  stop: StopReason,
  last: Findings | undefined,
): EpisodeEnd {
  const { scheme, parameters } = task.scheme;
  const unread = malformed(
    calls === 0 ? `${whyUnsolved(stop, calls)}, before the first call` : whyUnsolved(stop, calls),
  );
  const findings = last ?? unread;
  const known = { goal: task.environment.goal, baseline: task.baseline, parameters, formatValid: false };
  const nothing = { ...known, findings: unread, trivial: undefined, tidiness: undefined };
  const reward = standing?.value ?? scheme.price(nothing).reward;
  const { verdict = "malformed", objective, quality = 0 } = standing ?? {};
  const violation = verdict === "feasible" ? "" : last === undefined ? whyUnsolved(stop, calls) : violationOf(findings);
  const score: Score = {
    reward,
    components: [{ name: "return", value: reward, weight: 1 }],
    verdict,
    solved: stop !== "truncated" && standing?.solved === true,
    objective,
    baseline: task.baseline,
    ratio: ratioOf(task, objective),
    quality,
    violation: clipUtf8(escaped(violation), VIOLATION_BYTES_MAX),
    terminated: true,
    truncated: stop === "truncated",
    spans: [],
    info: infoOf(task, findings),
    episode: { stop, calls },
  };
  return { stop, score, digest };
}

/** Returns in words why an episode ended before its goal was reached. */
function whyUnsolved(stop: StopReason, calls: number): string {
  switch (stop) {
    case "goal":
      return `the task ended without its goal after ${calls} calls`;
    case "budget":
      return `the goal was not reached in ${calls} calls`;
    case "ended":
      return `the trainer ended the episode after ${calls} calls`;
    case "truncated":
      return `a completion reached its maximum length after ${calls} calls`;
    default:
      return assertNever(stop);
  }
}
