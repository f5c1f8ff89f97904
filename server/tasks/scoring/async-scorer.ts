/**
 * Scores completions whose verification or calls wait for an external resource, e.g. a judge. A run's sample is scored
 * and recorded once, however often it is requested, and even if all callers have left. Otherwise an impatient trainer
 * that repeats its request would make a slow judge start anew for ever. A completion without a run is dropped when its
 * caller disconnects.
 */
import { LRUCache } from "lru-cache";
import { bug, type Facts, type Failed } from "../../../envs/facts.ts";
import type { VerifyContext } from "../../../envs/resource.ts";
import { type AsyncScore, beginScore } from "../../../envs/score.ts";
import type { FeedbackItem, FeedbackStatus } from "../../curriculum/feedback.ts";
import type { Advanced, Question } from "../../../envs/turns/turns.ts";
import type { Message } from "@bufbuild/protobuf";
import { turnsOf } from "../../../envs/turns/episode.ts";
import { unlessAborted } from "../../base/waiting.ts";
import { type Party, partyOf } from "../../base/fair-turns.ts";
import { runParty } from "../making/make.ts";
import type { Resources } from "../../outside/gate/resources.ts";
import type { Keyring } from "../keyring.ts";
import { type CompletionForm, type PlayedCompletion, playAskingTurn } from "./play-turn.ts";
import { failedSample, isFinal, type SampleResult, type StepResult } from "./results.ts";
import { type AskingTask, type AsyncTask, checkLength, type OpenToken } from "./scorer.ts";

/** Caller of Step, or of another call that scores completions. */
export interface Caller {
  /** Name of the caller's token; empty if the call has no token. `peer` is the caller's address with the port. */
  readonly caller: string;
  readonly peer: string;
  /** Aborts when the caller has left, or when its deadline has passed. */
  readonly signal: AbortSignal;
  /** Deadline of the call in milliseconds since the Unix epoch. Undefined: none. */
  readonly deadlineMs: number | undefined;
}

/** Sample of a run, whose score is recorded in the run. */
export interface RunSample {
  readonly runId: string;
  /** Key that identifies the sample together with its completion and, in an episode, with its earlier calls. */
  readonly key: string;
  /** Returns the result as feedback for the run. Undefined: the result is not final, so nothing is recorded yet. */
  itemOf(result: StepResult): FeedbackItem | undefined;
}

/**
 * Result of a sample, and the status of recording the result in its run. Without a status, nothing was to be recorded.
 */
export interface ScoredSample {
  readonly result: StepResult;
  readonly status?: FeedbackStatus | undefined;
}

export interface AsyncScorer {
  /** Scores a completion. `sample` is set if it belongs to a run. Never rejects. */
  score(task: AsyncTask, completion: string, caller: Caller, sample?: RunSample): Promise<ScoredSample>;
  /** Plays a completion of a task with turns. Each call waits for its turn at the external resource. Never rejects. */
  play(
    task: AskingTask,
    completion: PlayedCompletion,
    form: CompletionForm,
    caller: Caller,
    sample?: RunSample,
  ): Promise<ScoredSample>;
  /** Returns the number of samples of runs that are being scored, for metrics. */
  inFlight(): number;
}

export interface AsyncScorerOptions {
  readonly keyring: Keyring;
  readonly resources: Resources;
  readonly completionBytesMax: number;
  /** Records a result in a run. The returned status says if the run or its store could not take it. */
  readonly record: (runId: string, item: FeedbackItem) => Promise<FeedbackStatus>;
  readonly onFailure: (error: unknown, token: OpenToken) => void;
}

/** Maximum number of cached results of runs' samples, for callers that left and ask again later. */
const RECENT_MAX = 16_384;
/** Maximum number of callers that may wait for samples which are already being scored for another caller. */
export const JOINED_MAX = 16_384;

/** Sample of a run that is being scored. */
interface Flight {
  readonly going: Promise<ScoredSample>;
  /** Whether a caller has already been told whether the run recorded the result. */
  isReported: boolean;
}

const GONE: Failed = {
  ...({ kind: "failed", reason: "timeout", retryable: true } as const),
  detail: "the call ended before the completion was verified",
};
const CROWDED: Failed = {
  ...({ kind: "failed", reason: "overloaded", retryable: true } as const),
  detail: `${JOINED_MAX} calls already wait for completions that are being verified: try again later`,
};

export function createAsyncScorer(options: AsyncScorerOptions): AsyncScorer {
  const { completionBytesMax } = options;
  const flights = createFlights(options);
  return {
    async score(task, completion, caller, sample) {
      const tooLarge = checkLength(completion, completionBytesMax);
      const work = (party: Party, until: Until): Promise<SampleResult> =>
        tooLarge === undefined ? verified(options, task, completion, party, until) : Promise.resolve(tooLarge);
      return flights.run(task.token, work, caller, sample);
    },
    play: (task, completion, form, caller, sample) =>
      flights.run(task.token, (party, until) => played(options, task, completion, form, party, until), caller, sample),
    inFlight: () => flights.inFlight(),
  };
}

/**
 * Scores one completion, unless `until` ends the work first: its caller has left, or its deadline has passed. The cost
 * is charged to `party`. Never rejects.
 */
type Work = (party: Party, until: Until) => Promise<StepResult>;
/**
 * Signal and deadline of a caller, which end the scoring early. Both are unset for a sample of a run, which is scored
 * even if its caller leaves.
 */
type Until = Partial<Pick<Caller, "signal" | "deadlineMs">>;

/** Scores samples of runs once, however many callers ask for them. */
function createFlights({ record, onFailure }: AsyncScorerOptions) {
  const inFlight = new Map<string, Flight>();
  const recent = new LRUCache<string, SampleResult>({ max: RECENT_MAX });
  let joined = 0;

  const put = async (sample: RunSample, result: StepResult): Promise<ScoredSample> => {
    const item = sample.itemOf(result);
    return { result, status: item && (await record(sample.runId, item)) };
  };

  const begin = async (token: OpenToken, work: Work, { caller }: Caller, sample: RunSample): Promise<ScoredSample> => {
    try {
      const result = await work(runParty(sample.runId, caller), {});
      if (result.kind !== "turn" && isFinal(result)) recent.set(sample.key, result);
      return await put(sample, result);
    } catch (error) {
      onFailure(error, token);
      return { result: failedSample(bug) };
    } finally {
      inFlight.delete(sample.key);
    }
  };

  const join = async (going: Flight["going"], { signal }: Caller): Promise<ScoredSample> => {
    if (joined >= JOINED_MAX) return { result: failedSample(CROWDED) };
    joined++;
    const scored = await unlessAborted(going, signal);
    joined--;
    return scored ?? { result: failedSample(GONE) };
  };

  /**
   * Waits for a sample that is being scored. The first caller that gets its result also gets the status of recording
   * it. Any further caller records the result again, and the run answers DUPLICATE.
   */
  const joinFlight = async (flight: Flight, caller: Caller, sample: RunSample): Promise<ScoredSample> => {
    const scored = await join(flight.going, caller);
    if (scored.status === undefined || !flight.isReported) {
      flight.isReported ||= scored.status !== undefined;
      return scored;
    }
    return put(sample, scored.result);
  };

  return {
    async run(token: OpenToken, work: Work, caller: Caller, sample: RunSample | undefined) {
      if (sample === undefined) return { result: await work(partyOf(caller), caller) };
      const known = recent.get(sample.key);
      if (known !== undefined) return put(sample, known);
      const flight = inFlight.get(sample.key) ?? { going: begin(token, work, caller, sample), isReported: false };
      inFlight.set(sample.key, flight);
      return joinFlight(flight, caller, sample);
    },
    inFlight: () => inFlight.size,
  };
}

/** Verifies a completion with the environment's external resource. Never rejects. */
async function verified(
  { resources, onFailure }: AsyncScorerOptions,
  { scoring, token }: AsyncTask,
  completion: string,
  party: Party,
  { signal, deadlineMs }: Until,
): Promise<SampleResult> {
  try {
    const begun = beginScore(scoring, completion);
    const scored = (ended: AsyncScore): SampleResult =>
      ended.kind === "score" ? { kind: "score", score: ended.score } : failedSample(ended);
    if (begun.kind !== "verification") return scored(begun);
    const job = { party, bytes: Buffer.byteLength(completion), signal, deadlineMs, verify: begun.verify };
    const outcome = await resources.run(scoring.environment.resource, job);
    if (outcome.kind === "cancelled") return failedSample(GONE);
    return scored(outcome.kind === "failed" ? outcome : begun.finish(outcome));
  } catch (error) {
    onFailure(error, token);
    return failedSample(bug);
  }
}

/**
 * Returned to `resources.run` in place of the result of a call. `resources.run` passes on only facts (findings of a
 * verifier), so the result itself is passed in a variable.
 */
const ANSWERED: Facts = Object.freeze({ kind: "feasible" });

/** Plays a completion of an episode. Never rejects. */
async function played(
  { resources, onFailure, ...options }: AsyncScorerOptions,
  task: AskingTask,
  completion: PlayedCompletion,
  form: CompletionForm,
  party: Party,
  { signal, deadlineMs }: Until,
): Promise<StepResult> {
  const { resource } = turnsOf(task.scoring);
  if (resource === undefined) throw new Error(`bug: calls of ${task.token.environment} ask no resource`);
  const { text, toolCalls = [] } = completion;
  const bytes = toolCalls.reduce((sum, call) => sum + Buffer.byteLength(call.argumentsJson), Buffer.byteLength(text));
  const ask = async (question: Question<Message>): Promise<Advanced<Message> | Failed> => {
    let answer: Advanced<Message> | undefined;
    const verify = async (context: VerifyContext): Promise<Facts | Failed> => {
      const found = await question.ask(context);
      if ("kind" in found) return found;
      answer = found;
      return ANSWERED;
    };
    const outcome = await resources.run(resource, { party, bytes, signal, deadlineMs, verify });
    if (outcome.kind === "failed") return outcome;
    return answer === undefined || outcome.kind === "cancelled" ? GONE : answer;
  };
  try {
    return await playAskingTurn(options, task, completion, form, ask);
  } catch (error) {
    onFailure(error, task.token);
    return failedSample(bug);
  }
}
