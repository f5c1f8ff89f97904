/**
 * Scores completions whose verification waits for a resource. A sample of a run is scored once, however often it is
 * asked for and whoever still waits, and its result is recorded: a slow judge and an impatient trainer must not try for
 * ever. Outside of a run, a caller that leaves takes its completion along.
 */
import { LRUCache } from "lru-cache";
import type { Failed } from "../../../envs/facts.ts";
import { type AsyncScore, beginScore } from "../../../envs/score.ts";
import type { FeedbackItem, FeedbackStatus } from "../../curriculum/feedback.ts";
import { unlessAborted } from "../../base/waiting.ts";
import { type Party, partyOf } from "../../base/fair-turns.ts";
import { runParty } from "../making/make.ts";
import type { Resources } from "../../outside/gate/resources.ts";
import {
  type AsyncTask,
  checkLength,
  failedSample,
  isFinal,
  type OpenToken,
  type SampleResult,
  withRemedy,
} from "./scorer.ts";
import { bug } from "../../../envs/facts.ts";

/** Who asks. */
export interface Caller {
  /** Its name, where it has a token; its address, with the port. */
  readonly caller: string;
  readonly peer: string;
  /** Aborted when the caller is gone, or its deadline has passed. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch; undefined: never. */
  readonly deadlineMs: number | undefined;
}

/** A sample of a run, and how its result is put down there. */
export interface RunSample {
  readonly runId: string;
  /** Tells samples, and completions of one sample, apart. */
  readonly key: string;
  /** Undefined: there is nothing to record yet. */
  itemOf(result: SampleResult): FeedbackItem | undefined;
}

/** What became of a sample, and what that did to its run; undefined: nothing. */
export interface ScoredSample {
  readonly result: SampleResult;
  readonly status?: FeedbackStatus | undefined;
}

export interface AsyncScorer {
  /** Without a `sample`, the completion is of no run's. Never rejects. */
  score(task: AsyncTask, completion: string, caller: Caller, sample?: RunSample): Promise<ScoredSample>;
  /** Samples of runs that are being scored, for metrics. */
  inFlight(): number;
}

export interface AsyncScorerOptions {
  readonly resources: Resources;
  /** UTF-8 bytes. */
  readonly completionBytesMax: number;
  /** Puts a result down in a run; what the run or its store cannot take is a status. */
  readonly record: (runId: string, item: FeedbackItem) => Promise<FeedbackStatus>;
  readonly onFailure: (error: unknown, token: OpenToken) => void;
}

/** Results of runs' samples that are kept, for those who ask again after they left. */
const RECENT_MAX = 16_384;
/** Callers that may wait for samples which others asked for first. */
export const JOINED_MAX = 16_384;

/** A sample that is being scored. */
interface Flight {
  readonly going: Promise<ScoredSample>;
  /** Whether a call was told what was recorded. */
  isTold: boolean;
}

const GONE: Failed = {
  ...({ kind: "failed", reason: "timeout", retryable: true } as const),
  detail: "the call ended before the completion was verified",
};
const CROWDED: Failed = {
  ...({ kind: "failed", reason: "overloaded", retryable: true } as const),
  detail: `${JOINED_MAX} calls wait for completions that are being verified`,
};

export function createAsyncScorer(options: AsyncScorerOptions): AsyncScorer {
  const { completionBytesMax, record } = options;
  const inFlight = new Map<string, Flight>();
  const recent = new LRUCache<string, SampleResult>({ max: RECENT_MAX });
  let joined = 0;

  const put = async (sample: RunSample, result: SampleResult): Promise<ScoredSample> => {
    const item = sample.itemOf(result);
    return { result, status: item && (await record(sample.runId, item)) };
  };

  const begin = async (
    task: AsyncTask,
    completion: string,
    { caller }: Caller,
    sample: RunSample,
  ): Promise<ScoredSample> => {
    try {
      const result = await verified(options, task, completion, runParty(sample.runId, caller), undefined);
      if (isFinal(result)) recent.set(sample.key, result);
      return await put(sample, result);
    } catch (error) {
      options.onFailure(error, task.token);
      return { result: failedSample(bug) };
    } finally {
      inFlight.delete(sample.key);
    }
  };

  const join = async (going: Promise<ScoredSample>, { signal }: Caller): Promise<ScoredSample> => {
    if (joined >= JOINED_MAX) return { result: failedSample(CROWDED) };
    joined++;
    const scored = await unlessAborted(going, signal);
    joined--;
    return scored ?? { result: failedSample(GONE) };
  };

  /** The first call that still waits is told what was recorded. Each other call records again: its run says DUPLICATE. */
  const joinFlight = async (flight: Flight, caller: Caller, sample: RunSample): Promise<ScoredSample> => {
    const scored = await join(flight.going, caller);
    if (scored.status === undefined || !flight.isTold) {
      flight.isTold ||= scored.status !== undefined;
      return scored;
    }
    return put(sample, scored.result);
  };

  return {
    async score(task, completion, caller, sample) {
      const tooLarge = checkLength(completion, completionBytesMax);
      if (sample === undefined)
        return { result: tooLarge ?? (await verified(options, task, completion, partyOf(caller), caller)) };
      const known = tooLarge ?? recent.get(sample.key);
      if (known !== undefined) return put(sample, known);
      const flight = inFlight.get(sample.key) ?? { going: begin(task, completion, caller, sample), isTold: false };
      inFlight.set(sample.key, flight);
      return joinFlight(flight, caller, sample);
    },
    inFlight: () => inFlight.size,
  };
}

/** Without a caller it goes on to its end. Never rejects. */
async function verified(
  { resources, onFailure }: AsyncScorerOptions,
  { scoring, token }: AsyncTask,
  completion: string,
  party: Party,
  caller: Caller | undefined,
): Promise<SampleResult> {
  try {
    const begun = beginScore(scoring, completion);
    const scored = (ended: AsyncScore): SampleResult =>
      ended.kind === "score"
        ? { kind: "score", score: withRemedy(scoring, completion, ended.score) }
        : failedSample(ended);
    if (begun.kind !== "verification") return scored(begun);
    const outcome = await resources.run(scoring.environment.resource, {
      party,
      bytes: Buffer.byteLength(completion),
      signal: caller?.signal,
      deadlineMs: caller?.deadlineMs,
      verify: begun.verify,
    });
    if (outcome.kind === "cancelled") return failedSample(GONE);
    return scored(outcome.kind === "failed" ? outcome : begun.finish(outcome));
  } catch (error) {
    onFailure(error, token);
    return failedSample(bug);
  }
}
