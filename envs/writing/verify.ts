/**
 * Asks a judge which text is better, and grades the result as a win, a loss or a tie against the reference
 * (Omni-Thinker A.1).
 */
import type { Resource, VerifyContext } from "../resource.ts";
import { type Facts, type Failed, type GradedFacts, unavailable } from "../facts.ts";
import { assertNever } from "../lib/assert-never.ts";
import type { Verdict } from "../ports.ts";
import { type Conversation, folded, hasLetters, isTooLong, LETTERS_MIN, TEXT_BYTES_MAX } from "./conversation.ts";
import { comparisonOf, quoted } from "./question.ts";

export const judgeResource: Resource = {
  name: "judge",
  port: "judge",
  // Maximum number of completions that are judged at the same time, each by two requests. --judge-concurrency overrides
  // concurrencyMax, and --judge-timeout-ms overrides timeLimitMs.
  concurrencyMax: 16,
  timeLimitMs: 60_000,
  // Room for two update batches of the paper's size: 256 prompts with 16 completions each.
  waitingMax: 8192,
  heldBytesMax: 64 * 1024 ** 2,
  // One attempt, because the judge's client itself retries failed requests within the time limit.
  attemptsMax: 1,
  probe: async ({ ports, ...context }) => ports.judge?.probe?.(context),
};

const NO_JUDGE = unavailable("judge", "this server has no judge");

export async function verify(
  conversation: Conversation,
  candidate: string,
  { ports, ...context }: VerifyContext,
): Promise<Facts | Failed> {
  const settled = withoutAsking(conversation, candidate);
  if (settled !== undefined) return settled;
  if (ports.judge === undefined) return NO_JUDGE;
  const judged = await ports.judge.ask(comparisonOf(conversation, candidate), context);
  if (judged.kind === "failed") return judged;
  const [first, second] = judged.verdicts;
  return graded([outcomeOf(first, "A"), outcomeOf(second, "B")], [first.reason, second.reason]);
}

type Outcome = "win" | "loss" | "tie";

function outcomeOf({ winner }: Verdict, candidate: Verdict["winner"]): Outcome {
  if (winner === "tie") return "tie";
  return winner === candidate ? "win" : "loss";
}

/**
 * Combines the verdicts of both orders. A judge sometimes favours a position, so a win or a loss counts only if it
 * holds in both orders. Otherwise the result is a tie.
 */
function graded(outcomes: readonly [Outcome, Outcome], [asA, asB]: readonly [string, string]): GradedFacts {
  const [first, second] = outcomes;
  const outcome = first === second ? first : "tie";
  return {
    ...facts(outcome),
    info: { outcome, verdict_as_a: first, reason_as_a: asA, verdict_as_b: second, reason_as_b: asB },
  };
}

const TOO_LONG = `the text has more than ${TEXT_BYTES_MAX} bytes of UTF-8`;

/**
 * Decides cases that need no judge: a text with too few letters, one that is too long, or a copy of the reference.
 * Undefined if the judge must decide.
 */
function withoutAsking({ reference }: Conversation, candidate: string): GradedFacts | undefined {
  if (!hasLetters(candidate, LETTERS_MIN)) return refused(`the text has fewer than ${LETTERS_MIN} letters`);
  if (isTooLong(candidate)) return refused(TOO_LONG);
  // Quoting adds a mark to each line and respells others, which may triple the size.
  if (isTooLong(quoted(candidate))) return refused(`${TOO_LONG} in the form that the judge is shown`);
  if (folded(candidate) === folded(reference)) return { ...facts("tie"), info: { outcome: "tie", copy: "true" } };
  return undefined;
}

function refused(violation: string): GradedFacts {
  return { ...facts("loss"), violation, info: { outcome: "refused" } };
}

function facts(outcome: Outcome): GradedFacts {
  const [value, violation] = priced(outcome);
  return {
    kind: "graded",
    components: [{ name: "preference", value }],
    solved: outcome === "win",
    ...(violation !== undefined && { violation }),
  };
}

function priced(outcome: Outcome): readonly [value: number, violation?: string] {
  switch (outcome) {
    case "win":
      return [1];
    case "tie":
      return [0.5, "the judge does not prefer the text to the reference"];
    case "loss":
      return [0, "the judge prefers the reference"];
    default:
      return assertNever(outcome);
  }
}
