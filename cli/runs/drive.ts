/** Drives a run like a trainer that trains nothing: draws its tasks, and sends completions. */
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
  /** Maximum number of tasks to draw. If undefined, draws tasks until the run's end. */
  readonly tasksMax: number | undefined;
  /**
   * Maximum number of update batches, counted from the run's first. Defaults to no limit. Needed with dynamic sampling,
   * which draws spare tasks: the number of tasks in a batch is known only when the batch is closed, so `tasksMax`
   * cannot limit the batches.
   */
  readonly batchesMax?: bigint | undefined;
  /** Receives the outcomes of groups of completions as they arrive. */
  readonly onGroups: (groups: readonly GroupOutcome[]) => void;
  readonly signal: AbortSignal;
}

/**
 * Number of completions per call. It is well below the server's limit, so that a call whose programs run in a sandbox
 * returns within seconds.
 */
const COMPLETIONS_MAX = 256;

/** Drives the run until its end or a limit. Returns the number of tasks that this call drew. */
export async function drive(driver: Driver): Promise<number> {
  const { run, config, tasksMax = Infinity, batchesMax, signal } = driver;
  let done = 0;
  let cursor = (await run.get()).state?.cursor ?? 0n;
  // Complete the groups that an earlier driver left open, because the next draws would wait for them.
  const left = await run.groups({ which: "open", tasks: true });
  await give(
    driver,
    left.flatMap(({ task }) => (task !== undefined && task.cursor < cursor ? [task] : [])),
  );
  const isThrough = async (): Promise<boolean> =>
    batchesMax !== undefined && ((await run.get()).state?.batchesClosed ?? 0n) >= batchesMax;
  const wanted = (): number => Math.min(config.promptsPerUpdate, tasksMax - done);
  // Request the next batch while the current one is completed, as trainers do. With `batchesMax`, request the next
  // batch only afterwards, because it may be one too many.
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
 * Requests a batch without waiting for it. The result is undefined if the request is aborted. An error is reported when
 * the result is used.
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
      // Repeat the request, because the server may be waiting for feedback from this process.
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
