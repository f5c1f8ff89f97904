/** What became of one completion: a score, or the reason why there is none. */
import type { Failed, FailureReason } from "../../envs/facts.ts";
import type { Score } from "../../envs/score.ts";

export type NoRewardReason = FailureReason | "invalid_task_id" | "too_large";

export interface NoReward {
  readonly kind: "none";
  readonly reason: NoRewardReason;
  readonly detail: string;
  /** 0: trying again is of no use. */
  readonly retryDelayMs: number;
}

export type SampleResult = { readonly kind: "score"; readonly score: Score } | NoReward;

/** Whether no later attempt changes it: the sample counts as done, with its reward or without one. */
export function isFinal(result: SampleResult): boolean {
  return result.kind === "score" || result.retryDelayMs === 0;
}

export function invalidTask(detail: string): NoReward {
  return { kind: "none", reason: "invalid_task_id", detail, retryDelayMs: 0 };
}

/** A UTF-16 unit is at most 3 bytes of UTF-8, so most texts need no counting. */
export function checkLength(completion: string, bytesMax: number): NoReward | undefined {
  if (completion.length * 3 <= bytesMax) return undefined;
  const bytes = Buffer.byteLength(completion);
  if (bytes <= bytesMax) return undefined;
  const detail = `the completion has ${bytes} bytes of UTF-8, and the limit is ${bytesMax}`;
  return { kind: "none", reason: "too_large", detail, retryDelayMs: 0 };
}

/** How long a client waits before it sends again what we failed at, where nothing says how long. */
const RETRY_DELAY_MS = 1000;

export function failedSample({ reason, detail, retryable, retryDelayMs = RETRY_DELAY_MS }: Failed): NoReward {
  return { kind: "none", reason, detail, retryDelayMs: retryable ? Math.max(1, Math.ceil(retryDelayMs)) : 0 };
}

/** A bug of ours, which the log tells of. */
export const bug: Failed = Object.freeze({
  ...({ kind: "failed", reason: "internal", retryable: true } as const),
  detail: "the server failed to score this completion; its log says why",
});
