/** Sends a prompt to a judge model until it gives a verdict. Retries if that may help, but not after the deadline. */
import { type Failed, malformed, unavailable } from "../../../envs/facts.ts";
import type { ChatMessage } from "../../../envs/prompt.ts";
import { readVerdict } from "../../../envs/lib/judge-reply.ts";
import type { AskContext, Verdict } from "../../../envs/ports.ts";
import type { Clock } from "../../base/clock.ts";
import { sleep, unlessAborted } from "../../base/waiting.ts";
import type { AskModel, Reply } from "../chat-endpoint.ts";
import type { Counter } from "./judge-metrics.ts";

/** Maximum number of requests for one verdict. */
export const REQUESTS_MAX = 4;
/**
 * Maximum number of replies to one prompt in which no verdict can be read. Then the judge gives no verdict on this
 * prompt.
 */
export const UNREADABLE_MAX = 2;
/**
 * Delay before the second request, in milliseconds, unless the endpoint names another delay. Doubles with each further
 * request.
 */
const BACKOFF_MS = 250;

export type Answered = { readonly kind: "verdict"; readonly verdict: Verdict } | Failed;

export interface AskDeps {
  readonly ask: AskModel;
  readonly clock: Clock;
  readonly counter: Pick<Counter, "requested" | "paid">;
}

/** Asks a judge model for its verdict on one prompt, with retries. Never rejects. Resolves by the caller's deadline. */
export async function askForVerdict(
  { ask, clock, counter }: AskDeps,
  prompt: readonly ChatMessage[],
  { signal: caller, deadlineMs }: AskContext,
): Promise<Answered> {
  const limit = new AbortController();
  const allowedMs = deadlineMs - clock.now();
  const cancelTimer = clock.setTimer(Math.max(0, allowedMs), () => limit.abort());
  const signal = AbortSignal.any([caller, limit.signal]);
  let last: Failed = late(`no verdict within ${allowedMs} ms`);
  try {
    for (let requests = 1, unreadable = 0; ; requests++) {
      const reply = await unlessAborted(ask(prompt, signal), signal);
      // An aborted request has no useful error, so the error of the request before it is reported.
      if (reply === undefined || signal.aborted) {
        counter.requested(limit.signal.aborted ? "timeout" : "cancelled");
        return { ...last, ...LATE };
      }
      const answered = readReply(reply, counter);
      if (answered.kind === "verdict") return answered;
      last = answered;
      if (reply.kind === "reply") unreadable++;
      if (requests >= REQUESTS_MAX || unreadable >= UNREADABLE_MAX || !maySucceed(reply)) return last;
      const waitMs = last.retryDelayMs ?? (reply.kind === "reply" ? 0 : BACKOFF_MS * 2 ** (requests - 1));
      if (clock.now() + waitMs >= deadlineMs) return last;
      await sleep(clock, waitMs, signal);
      if (signal.aborted) return last;
    }
  } finally {
    cancelTimer();
  }
}

function readReply(reply: Reply, counter: AskDeps["counter"]): Answered {
  if (reply.kind === "failed") {
    counter.requested(reply.why);
    const { message, retryDelayMs, why } = reply;
    const detail = `the judge: ${message}`;
    if (why === "timeout") return late(detail);
    const again = { retryable: !isOfThisPrompt(reply), ...(retryDelayMs !== undefined && { retryDelayMs }) };
    return unavailable("judge", detail, again);
  }
  counter.paid(reply.tokens);
  const read = reply.wasCut === true ? malformed(CUT) : readVerdict(reply.text);
  counter.requested(read.kind === "answer" ? "verdict" : "unreadable");
  if (read.kind === "answer") return { kind: "verdict", verdict: read.answer };
  return unavailable("judge", `the judge's reply has no verdict: ${read.reason}`);
}

/**
 * Returns whether the endpoint rejected only this prompt. Sending this prompt again is useless, but other prompts may
 * succeed.
 */
function isOfThisPrompt({ status = 0 }: { readonly status?: number }): boolean {
  return status === 400 || status === 413 || status === 422;
}

/** Returns whether another request may succeed. A wrong key, path or model name stays wrong. */
function maySucceed(reply: Reply): boolean {
  if (reply.kind === "reply" || reply.status === undefined) return true;
  return reply.status >= 500 || reply.status === 408 || reply.status === 409 || reply.status === 429;
}

const CUT = "the reply was cut off at its maximum length, probably before the verdict";

const LATE = { reason: "timeout", resource: undefined } as const;

function late(detail: string): Failed {
  return { kind: "failed", reason: "timeout", detail, retryable: true };
}
