/** Words for the bins of rewards, and for the signs that a policy exploits its reward. */
import { type HackingSign, HackingSignKind, type RewardBin } from "../../../proto/gen/gradus/v1/curriculum_pb.js";

const figure = (value: number): string => String(Number(value.toPrecision(4)));

/** Returns a sign in words, without its arm. */
export function signWords({ kind, subject, before, now }: HackingSign): string {
  const change = `${figure(before)} → ${figure(now)}`;
  switch (kind) {
    case HackingSignKind.REWARD_WITHOUT_SOLVED:
      return `the mean reward rises (${change}), and neither the solved share nor the quality does`;
    case HackingSignKind.VIOLATION_DOMINATES:
      return `${figure(100 * now)}% of the last samples have one violation: ${subject}`;
    case HackingSignKind.LENGTH_RUNS_AWAY:
      return `the mean length rises (${change}), and neither the solved share nor the quality does`;
    case HackingSignKind.COMPONENT_SATURATES:
      return `of the reward's components, only ${subject} is near its greatest value (${change})`;
    default:
      return `a sign that this version does not know (${change})`;
  }
}

/** Ends of the histogram of rewards. The bins at the ends also have the rewards beyond. */
const [LEAST, GREATEST] = [-2.5, 2];

/** Returns the bounds of a bin's rewards in words, e.g. "1 to 1.25" or "1.75 or more". */
export function binWords({ lower, upper }: RewardBin): string {
  if (lower <= LEAST) return `below ${upper}`;
  return upper >= GREATEST ? `${lower} or more` : `${lower} to ${upper}`;
}
