/** Scores groups of stored completions again, in requests of several groups. */
import { setTimeout as after } from "node:timers/promises";
import type {
  GradusClient,
  GroupOutcome,
  Outcome,
  ReissuedTask,
  RescoreChoice,
  ResetFailure,
  TaskChoice,
  TaskRef,
} from "../../clients/ts/src/public.ts";
import { CliProblem } from "../problem.ts";
import type { StoredGroup } from "./rows.ts";

/** Score of a completion, or the reason why it has none. */
export interface NewScore {
  readonly reward?: number;
  readonly verdict?: string;
  readonly solved?: boolean;
  readonly rloo?: number | undefined;
  readonly grpo?: number | undefined;
  /** Reason why there is no reward, as in the contract's NoRewardReason, or "episode" or "task_unavailable". */
  readonly reason?: string | undefined;
  /** Words that say what is wrong with the answer, or why there is no reward. */
  readonly detail?: string | undefined;
}

/** New scores of a group, in the order of its completions. */
export interface ScoredGroup {
  readonly environment: string;
  readonly version: number;
  readonly level: string;
  readonly scores: readonly NewScore[];
}

// Limits of one request. They do not apply to a request with a single group.

const GROUPS_MAX = 256;
const COMPLETIONS_MAX = 512;
/** Maximum length of all completions of a request together, in UTF-16 units. */
const LENGTH_MAX = 512 * 1024;

/** Puts groups into requests, in order. */
export function* batchesOf(groups: readonly StoredGroup[]): Generator<readonly StoredGroup[], void, undefined> {
  let batch: StoredGroup[] = [];
  let [completions, length] = [0, 0];
  for (const group of groups) {
    const units = group.completions.reduce((sum, { text }) => sum + text.length, 0);
    const isFull = completions + group.completions.length > COMPLETIONS_MAX || length + units > LENGTH_MAX;
    if (batch.length > 0 && (isFull || batch.length === GROUPS_MAX)) {
      yield batch;
      [batch, completions, length] = [[], 0, 0];
    }
    batch.push(group);
    completions += group.completions.length;
    length += units;
  }
  if (batch.length > 0) yield batch;
}

/** Yields the results of `work` in the order of the items. At most `window` items are in work or wait to be read. */
export async function* inOrder<Item, Result>(
  items: Iterable<Item>,
  window: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, void, undefined> {
  const running: Promise<Result>[] = [];
  for (const item of items) {
    const result = work(item);
    // Keep Node from reporting an unhandled rejection: the error is thrown below, when the result's turn comes.
    result.catch(() => undefined);
    running.push(result);
    if (running.length >= window) yield await (running.shift() as Promise<Result>);
  }
  for (const result of running) yield await result;
}

/** Task of a stored group, issued again under the new settings, or the reason why the server cannot issue it. */
type NewTask = Pick<ScoredGroup, "environment" | "version" | "level"> &
  (
    | { readonly kind: "task"; readonly ref: TaskRef; readonly hasTurns: boolean; readonly size: number }
    | { readonly kind: "gone"; readonly why: NewScore }
  );

/** Scores groups in one request, which is repeated for groups whose completions have no reward yet. */
export async function scoreBatch(
  client: GradusClient,
  groups: readonly StoredGroup[],
  settings: RescoreChoice,
): Promise<readonly ScoredGroup[]> {
  const tasks = await tasksOf(client, groups, settings);
  const taskOf = (group: StoredGroup): NewTask => tasks.get(group) as NewTask;
  const scored = new Map<StoredGroup, GroupOutcome>();
  let waiting = groups.filter((group) => canScore(taskOf(group)));
  const startMs = performance.now();
  while (waiting.length > 0) {
    const outcomes = await client.batchStep(waiting.map((group) => requestOf(group, taskOf(group))));
    for (const [i, group] of waiting.entries()) scored.set(group, outcomes[i] as GroupOutcome);
    waiting = waiting.filter((group) => scored.get(group)?.outcomes.some(mayRetry));
    const late = waiting.flatMap((group) => scored.get(group)?.outcomes.filter(mayRetry) ?? [])[0];
    if (late?.kind === "unscored") await waitFor(late, startMs);
  }
  return groups.map((group) => resultOf(taskOf(group), group, scored.get(group)));
}

function canScore(task: NewTask): boolean {
  return task.kind === "task" && !task.hasTurns;
}

function requestOf({ completions, size }: StoredGroup, task: NewTask) {
  if (task.kind !== "task") throw new Error("bug: a group without a task is scored");
  return { task: task.ref, completions, numGenerations: Math.max(size, task.size) };
}

function mayRetry(outcome: Outcome): boolean {
  return outcome.kind === "unscored" && outcome.retryDelayMs !== undefined;
}

/** Maximum time for which a request is repeated while completions have no reward yet, in milliseconds. */
const RETRY_MS_MAX = 10 * 60 * 1000;
/** Minimum wait before a request is repeated, in milliseconds. */
const WAIT_MS_MIN = 250;

const GOES_ON = "repeat the command to continue";

/** Waits before a request is repeated. `startMs` is the time of the first request, from performance.now(). */
async function waitFor(outcome: Extract<Outcome, { readonly kind: "unscored" }>, startMs: number): Promise<void> {
  const { reason, detail, retryDelayMs = 0 } = outcome;
  if (performance.now() - startMs > RETRY_MS_MAX)
    throw new CliProblem("failure", `completions have no reward yet (${reason}: ${detail}): ${GOES_ON}`);
  await after(Math.max(WAIT_MS_MIN, retryDelayMs));
}

function resultOf(task: NewTask, { completions }: StoredGroup, scored: GroupOutcome | undefined): ScoredGroup {
  const { environment, version, level } = task;
  const why = task.kind === "gone" ? task.why : EPISODE;
  return { environment, version, level, scores: scored?.outcomes.map(scoreOf) ?? completions.map(() => why) };
}

const EPISODE: NewScore = { reason: "episode", detail: "it is an episode of several calls, whose end alone is stored" };

function scoreOf(outcome: Outcome): NewScore {
  if (outcome.kind === "unscored") return { reason: outcome.reason, detail: outcome.detail };
  const { reward, verdict, solved, violation: detail, rlooAdvantage: rloo, grpoAdvantage: grpo } = outcome;
  return { reward, verdict, solved, rloo, grpo, ...(detail !== "" && { detail }) };
}

async function tasksOf(
  client: GradusClient,
  groups: readonly StoredGroup[],
  settings: RescoreChoice,
): Promise<ReadonlyMap<StoredGroup, NewTask>> {
  const found = new Map<StoredGroup, NewTask>();
  const ids = groups.flatMap((group) => (group.task.kind === "id" ? [{ group, taskId: group.task.taskId }] : []));
  const results =
    ids.length === 0
      ? []
      : await client.reissueTasks(
          ids.map(({ taskId }) => taskId),
          settings,
        );
  for (const [i, { result }] of results.entries()) {
    const { group } = ids[i] as (typeof ids)[number];
    found.set(group, result.case === "task" ? reissuedOf(result.value) : goneOf(result.value, "", 0, group.arm));
  }
  const remade = groups.flatMap((group) => (group.task.kind === "seed" ? [{ group, ...group.task }] : []));
  for (const alike of Map.groupBy(remade, ({ choice }) => JSON.stringify(choice)).values()) {
    const [{ choice }] = alike as [(typeof alike)[number]];
    const tasks = await remake(
      client,
      { ...choice, ...settings },
      alike.map(({ seed }) => seed),
    );
    for (const [i, { group }] of alike.entries()) found.set(group, tasks[i] as NewTask);
  }
  return found;
}

function reissuedOf({ environment, version, level, callsMax, numGenerations: size, ...ref }: ReissuedTask): NewTask {
  return { kind: "task", ref, environment, version, level, hasTurns: callsMax > 0, size };
}

async function remake(client: GradusClient, choice: TaskChoice, seeds: readonly string[]): Promise<readonly NewTask[]> {
  const results = await client.batchReset({ ...choice, seeds });
  return results.map(({ result }): NewTask => {
    if (result.case !== "task") return goneOf(result.value, choice.environment, choice.version ?? 0);
    const { environment, version, level, callsMax, taskId, groupId } = result.value;
    return { kind: "task", ref: { taskId, groupId }, environment, version, level, hasTurns: callsMax > 0, size: 0 };
  });
}

/** Status code of gRPC if the environment does not support the new settings: INVALID_ARGUMENT. */
const INVALID_ARGUMENT = 3;

/**
 * Converts the server's failure to issue a task into the reason for its groups. Throws an error instead if the settings
 * are wrong, or if a later attempt may succeed.
 */
function goneOf(failure: ResetFailure | undefined, environment: string, version: number, arm = ""): NewTask {
  const { code = 0, message = "no result", retryDelayMs = 0 } = failure ?? {};
  if (code === INVALID_ARGUMENT)
    throw new CliProblem("usage", arm === "" ? message : `arm '${arm}': ${message}; --arm chooses others`);
  if (retryDelayMs > 0) throw new CliProblem("failure", `${message}: ${GOES_ON}`);
  return { kind: "gone", environment, version, level: "", why: { reason: "task_unavailable", detail: message } };
}
