/** Drives a run with tasks and feedback, like a trainer that trains nothing. */
import {
  FeedbackSource,
  type GradusClient,
  type GroupOutcome,
  type NextBatchResponse,
  type RunConfig,
  type RunHandle,
  type Task,
} from "../../clients/ts/src/public.ts";

export interface Driver {
  readonly client: GradusClient;
  readonly run: RunHandle;
  readonly config: RunConfig;
  /** Returns the completions of each task. */
  readonly complete: (tasks: readonly Task[]) => readonly (readonly string[])[];
  /** Maximum number of tasks. Undefined means: to the run's end. */
  readonly tasksMax: number | undefined;
  /**
   * Maximum number of update batches, counted from the run's first. Unset means none. Used with dynamic sampling, where
   * the number of reserve tasks in a batch is known only when it closes. The next batch may already be drawn then.
   */
  readonly batchesMax?: bigint | undefined;
  /** Receives the outcomes of groups as they arrive. */
  readonly onGroups: (groups: readonly GroupOutcome[]) => void;
  readonly signal: AbortSignal;
}

/**
 * Number of completions per call. It is well below the server's limit, so that programs in a sandbox return within
 * seconds.
 */
const COMPLETIONS_MAX = 256;

/** Drives the run. Returns the number of tasks that it drew itself. */
export async function drive(driver: Driver): Promise<number> {
  const { run, config, tasksMax = Infinity, batchesMax, signal } = driver;
  let done = 0;
  let cursor = (await run.get()).state?.cursor ?? 0n;
  // An earlier driver may have left groups open, for which the next draws would wait.
  const left = await run.groups({ which: "open", tasks: true });
  await give(
    driver,
    left.flatMap(({ task }) => (task !== undefined && task.cursor < cursor ? [task] : [])),
  );
  const isThrough = async (): Promise<boolean> =>
    batchesMax !== undefined && ((await run.get()).state?.batchesClosed ?? 0n) >= batchesMax;
  const wanted = (): number => Math.min(config.promptsPerUpdate, tasksMax - done);
  // The next batch is requested while this one is completed, as trainers do. With a maximum of batches it is not,
  // because it may be one too many.
  let next = ahead(run, cursor, wanted(), signal);
  while (done < tasksMax && !signal.aborted) {
    const batch = await next;
    if (batch === undefined) return done;
    done += batch.tasks.length;
    cursor = batch.nextCursor;
    const goesOn = !batch.done && wanted() > 0;
    if (goesOn && batchesMax === undefined) next = ahead(run, cursor, wanted(), signal);
    await give(driver, batch.tasks);
    if (batch.done || (await isThrough())) return done;
    if (goesOn && batchesMax !== undefined) next = ahead(run, cursor, wanted(), signal);
  }
  return done;
}

/**
 * Requests a batch without waiting for it. Undefined if the request is aborted. An error is reported when the result is
 * used.
 */
function ahead(
  run: RunHandle,
  cursor: bigint,
  count: number,
  signal: AbortSignal,
): Promise<NextBatchResponse | undefined> {
  const batch = waitedFor(run, cursor, count, signal);
  batch.catch(() => undefined);
  return batch;
}

async function waitedFor(run: RunHandle, cursor: bigint, count: number, signal: AbortSignal) {
  for (;;) {
    try {
      return await run.nextBatch({ cursor, count, waitMs: 60_000 }, { signal });
    } catch (error) {
      if (signal.aborted) return undefined;
      // The server may be waiting for feedback from this process, so the request is repeated.
      if (!isUnavailable(error)) throw error;
    }
  }
}

function isUnavailable(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    error.code === "UNAVAILABLE" &&
    "retryDelayMs" in error &&
    error.retryDelayMs !== undefined
  );
}

async function give({ client, run, config, complete, onGroups }: Driver, tasks: readonly Task[]): Promise<void> {
  const each = Math.max(1, Math.floor(COMPLETIONS_MAX / config.numGenerations));
  for (let from = 0; from < tasks.length; from += each) {
    const some = tasks.slice(from, from + each);
    const completed = complete(some);
    const groups = some.map((task, i) => ({ task, completions: completed[i] ?? [] }));
    const outcomes = await client.batchStep(groups);
    onGroups(outcomes);
    if (config.feedbackSource === FeedbackSource.REPORTED) await run.reportAdvantages(outcomes.map(advantagesOf));
  }
}

function advantagesOf({ groupId, outcomes, statistics }: GroupOutcome) {
  const advantages = outcomes.flatMap(({ rlooAdvantage }) => (rlooAdvantage === undefined ? [] : [rlooAdvantage]));
  return { groupId, advantages, ...(statistics && { rewardMean: statistics.mean }) };
}
