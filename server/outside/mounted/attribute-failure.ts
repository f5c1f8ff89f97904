/**
 * Decides who is at fault if a verifier gives no verdict. The answer counts as infeasible if the verifier hangs or dies
 * on it twice, the second time in a fresh process. In addition, a fresh process must then succeed in verifying the
 * instance's reference answer.
 *
 * Every other failure says nothing about the answer, which then gets no reward.
 */
import { type Facts, type Failed, type Findings, unavailable } from "../../../envs/facts.ts";
import { onOneLine } from "../../../envs/lib/escape.ts";
import type { Described } from "./read-description.ts";
import { isRight, readFacts } from "./read-facts.ts";
import type { AskOptions, Failure, Provider, VerifyResult } from "./provider.ts";

export interface VerifyingAnswer {
  readonly provider: Provider;
  readonly described: Described;
  readonly resource: string;
  /** Returns the reference answer of the instance. Undefined: there is none. */
  readonly canary: () => Promise<string | undefined>;
}

/**
 * Verifies an answer. If the verifier hangs or dies, tries again, then verifies the reference answer to see whether the
 * answer or the verifier is to blame. Never rejects.
 */
export async function verifyOrAttribute(
  { provider, described, resource, canary }: VerifyingAnswer,
  instance: Uint8Array,
  answer: string,
  { party, signal }: AskOptions,
): Promise<Findings | Failed> {
  const { asked } = described;
  const ask = (text: string, fresh: boolean): Promise<VerifyResult> =>
    provider.verify(asked, { instance, answer: text }, { party, signal, fresh });
  const first = await ask(answer, false);
  // If the caller has disconnected, nothing is tried again.
  if (!isVerifierFailure(first) || signal.aborted) return factsOrFailure(described, resource, first);
  const second = await ask(answer, true);
  if (!isVerifierFailure(second) || signal.aborted) return factsOrFailure(described, resource, second);
  const reference = await canary();
  // Without a reference answer, an empty answer is verified instead. Any result then shows that the verifier works.
  const alive = await ask(reference ?? "", true);
  if (alive.kind === "facts" && (reference === undefined || isRight(described, alive)))
    return infeasibleBy(described, second);
  const { failure, detail } = second;
  const what =
    alive.kind === "facts"
      ? "counts even the reference answer as wrong"
      : `fails at ${reference === undefined ? "an empty answer" : "the reference answer"} too`;
  return unavailable(resource, `the verifier ${what} (${failure}: ${onOneLine(detail)})`);
}

type VerifierFailure = Failure & { readonly failure: "timeout" | "crashed" | "memory" };

function isVerifierFailure(verified: VerifyResult): verified is VerifierFailure {
  return verified.kind === "failure" && ["timeout", "crashed", "memory"].includes(verified.failure);
}

/** Ends of sentences such as "verifying this answer …" or "the call …", by the kind of failure. */
export const verifierFailure = {
  timeout: "does not end",
  crashed: "ends its process",
  memory: "needs more memory than allowed",
} as const;

function infeasibleBy({ components }: Described, { failure }: VerifierFailure): Facts {
  const violation = `verifying this answer ${verifierFailure[failure]}, even on a second try, although the reference answer can be verified`;
  if (components.length === 0) return { kind: "infeasible", violation };
  const none = components.map(({ name }) => ({ name, value: 0 }));
  return { kind: "graded", components: none, solved: false, violation };
}

function factsOrFailure(described: Described, resource: string, verified: VerifyResult): Findings | Failed {
  if (verified.kind === "facts") {
    const read = readFacts(described, verified.facts);
    return read.kind === "facts"
      ? read.facts
      : notAgain(resource, `the verifier returned an invalid result: ${read.why}`);
  }
  const { failure, detail } = verified;
  const words = `the verifier failed (${failure}): ${onOneLine(detail)}`;
  // The verifier's code would raise the same exception again, so the failure is marked as not retryable.
  return failure === "raised" ? notAgain(resource, words) : unavailable(resource, words);
}

function notAgain(resource: string, words: string): Failed {
  return unavailable(resource, words, { retryable: false });
}
