/** Result of one completion: a score, the next turn of an episode, or the reason why the completion has neither. */
import type { Failed } from "../../../envs/facts.ts";
import { escaped } from "../../../envs/lib/escape.ts";
import type { Score } from "../../../envs/score.ts";
import type { Reply } from "../../../envs/turns/turns.ts";
import type { SampleEpisode } from "../encode-episode.ts";

export type NoRewardReason = Failed["reason"] | "invalid_task_id" | "too_large" | "failed_precondition";

export interface NoReward {
  readonly kind: "none";
  readonly reason: NoRewardReason;
  /** Name of the external resource that failed, e.g. "judge". Undefined: none did. */
  readonly resource?: string | undefined;
  readonly detail: string;
  /** Delay before a retry, in milliseconds. 0: a retry would not help. */
  readonly retryDelayMs: number;
}

/** Final result of a sample. `digest` is set for an episode; episodes with different calls have different digests. */
export type SampleResult = { readonly kind: "score"; readonly score: Score; readonly digest?: string } | NoReward;

/** Result of a completion: the final one of its sample, or the next turn of an episode that is not over. */
export type StepResult = SampleResult | NextTurn;

/** Result of a completion after which its episode goes on: replies to the policy, and the task id of the next turn. */
export interface NextTurn {
  readonly kind: "turn";
  readonly taskId: string;
  /** Episode that the task id holds. */
  readonly episode: SampleEpisode;
  /** Replies, one for each call that was made. */
  readonly replies: readonly Reply[];
  /** Sum of the calls' rewards. Undefined: none has a reward of its own. */
  readonly reward: number | undefined;
  readonly callsLeft: number;
}

/** Returns whether the result is final, i.e. it has a reward, or a retry would not help. */
export function isFinal(result: SampleResult): boolean {
  return result.kind === "score" || result.retryDelayMs === 0;
}

/** Returns the result for a completion whose task_id cannot be used. */
export function invalidTask(detail: string): NoReward {
  return { kind: "none", reason: "invalid_task_id", detail, retryDelayMs: 0 };
}

/** Default delay, in milliseconds, before a client retries after a failure. */
const RETRY_DELAY_MS = 1000;

export function failedSample(failed: Failed): NoReward {
  const { reason, resource, detail, retryable, retryDelayMs = RETRY_DELAY_MS } = failed;
  return {
    kind: "none",
    reason,
    resource,
    detail: escaped(detail),
    retryDelayMs: retryable ? Math.max(1, Math.ceil(retryDelayMs)) : 0,
  };
}
