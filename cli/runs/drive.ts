/** Drives a run from its tasks to its feedback, as a trainer would that trains nothing. */
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
  /** The completions of each task. */
  readonly complete: (tasks: readonly Task[]) => readonly (readonly string[])[];
  /** Tasks after which it stops; undefined: at the run's end. */
  readonly tasksMax: number | undefined;
  /**
   * Update batches after which it stops, counted from the run's first; left out: none. For dynamic sampling, where nobody
   * knows before a batch is closed how many of its tasks come from the reserve. The batch behind them may be drawn by then.
   */
  readonly batchesMax?: bigint | undefined;
  /** Told what became of groups as they are answered. */
  readonly onGroups: (groups: readonly GroupOutcome[]) => void;
  readonly signal: AbortSignal;
}

/** Completions in a call: well below what a server takes, and programs that run in a sandbox come back within seconds. */
const COMPLETIONS_MAX = 256;

/** Gives the number of tasks that were driven: of those that it drew itself. */
export async function drive(driver: Driver): Promise<number> {
  const { run, config, tasksMax = Infinity, batchesMax, signal } = driver;
  let done = 0;
  let cursor = (await run.get()).state?.cursor ?? 0n;
  // Whoever drove it before may have left some open, which the next draws would wait for.
  const left = await run.groups({ which: "open", tasks: true });
  await give(
    driver,
    left.flatMap(({ task }) => (task !== undefined && task.cursor < cursor ? [task] : [])),
  );
  const isThrough = async (): Promise<boolean> =>
    batchesMax !== undefined && ((await run.get()).state?.batchesClosed ?? 0n) >= batchesMax;
  const wanted = (): number => Math.min(config.promptsPerUpdate, tasksMax - done);
  // The next batch is asked for while this one is completed, as trainers do: but not where it may be one too many.
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

/** A batch that is on its way; undefined: it was broken off. A failure waits until it is looked at. */
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
      // Feedback that is due comes from here: the machine is slow.
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
