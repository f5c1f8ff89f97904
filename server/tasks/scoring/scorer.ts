/** Scores completions: verifies the task id, restores its instance, and lets the environment judge the answer. */
import { bug } from "../../../envs/facts.ts";
import { roughBytes } from "../../base/rough-bytes.ts";
import { LRUCache } from "lru-cache";
import type { Environment } from "../../../envs/environment.ts";
import { mountedPlaceOf, changedSources } from "../../../envs/mounted-tasks.ts";
import { restore, type Restored } from "../../../envs/instances.ts";
import type { Pool } from "../../../envs/pool.ts";
import type { Registry } from "../../../envs/registry.ts";
import { resolveScheme } from "../../../envs/reward/schemes.ts";
import { type AnyScoreTask, type AsyncScoreTask, score, type ScoreTask } from "../../../envs/score.ts";
import { neededResource } from "../../../envs/resource.ts";
import type { Keyring } from "../keyring.ts";
import { encodeSettings, openTaskId, type TaskToken } from "../task-id.ts";
import { failedSample, invalidTask, type NoReward, type SampleResult, type StepResult } from "./results.ts";
import { type CompletionForm, type PlayedCompletion, playTurn, toolNames } from "./play-turn.ts";

/**
 * Returns a refusal if a completion is too long. A UTF-16 unit takes at most 3 bytes of UTF-8, so short texts need not
 * be measured.
 */
export function checkLength(completion: string, bytesMax: number): NoReward | undefined {
  if (completion.length * 3 <= bytesMax) return undefined;
  const bytes = Buffer.byteLength(completion);
  if (bytes <= bytesMax) return undefined;
  const detail = `the completion has ${bytes} bytes of UTF-8, and the limit is ${bytesMax}`;
  return { kind: "none", reason: "too_large", detail, retryDelayMs: 0 };
}

// Types of opened task ids, i.e. of ids that were verified and decoded. They are cached within a limit of memory.

/**
 * Content of a task id without the bytes of its instance. These bytes lie in 64 KiB buffers of Node, and keeping them
 * would keep the whole buffers in memory.
 */
export type OpenToken = Omit<TaskToken, "inline">;

interface OpenParts {
  readonly token: OpenToken;
  readonly groupId: string;
}

/** Task whose completions are scored without an external resource. */
export interface SyncTask extends OpenParts {
  readonly kind: "sync";
  readonly scoring: ScoreTask;
  /**
   * Encoded content of the task id without its episode, as `encodeSettings` returns it. Empty: the task has no turns.
   */
  readonly settings: Uint8Array;
  /** Names of the tools that the policy may call. Empty: it has none, or the task has no turns. */
  readonly tools: readonly string[];
  /** Task id by which the caches of begun episodes have this task. Undefined: it is in neither. */
  readonly begunId?: string;
}

/** Task whose completions need an external resource to be scored, e.g. a judge. */
export interface AsyncTask extends OpenParts {
  readonly kind: "async";
  readonly scoring: AsyncScoreTask;
}

/** Task with turns whose calls may need an external resource. */
export interface AskingTask extends OpenParts {
  readonly kind: "asking";
  readonly scoring: AnyScoreTask;
  readonly settings: Uint8Array;
  readonly tools: readonly string[];
}

export type OpenTask = SyncTask | AsyncTask | AskingTask;

/** Returns the task with the mark that its completion was cut off at the maximum length, as the trainer reports. */
export function asCut<Task extends OpenTask>(task: Task): Task {
  return { ...task, scoring: { ...task.scoring, wasCut: true } };
}

export interface Scorer {
  /** Caches a task that was just given out, so that its id need not be decoded when completions arrive. */
  expect(taskId: string, groupId: string, token: TaskToken): void;
  open(taskId: string): OpenTask | NoReward;
  /**
   * Forgets all cached tasks, so that every task id is verified again. Called when the keys change, because a key may
   * have been removed.
   */
  forget(): void;
  score(task: SyncTask, completion: string): SampleResult;
  play(task: SyncTask, completion: PlayedCompletion, form: CompletionForm): StepResult;
}

export interface ScorerOptions {
  readonly registry: Registry;
  readonly keyring: Keyring;
  readonly pools: ReadonlyMap<string, Pool>;
  readonly completionBytesMax: number;
  /** Called with each internal error. The client is told only "internal". */
  readonly onFailure: (error: unknown, token: OpenToken) => void;
}

/**
 * Maximum size of the cache of tasks, in bytes: enough for about a thousand TSP tasks, or several thousand others.
 * Scores are never cached.
 */
const RECENT_BYTES_MAX = 8 * 1024 ** 2;
/** Approximate size of a cached task without its instance, in bytes. */
const TASK_BYTES = 2048;

/** Task that was given out and has no completions yet. Its instance is restored when the first one arrives. */
interface Expected {
  readonly kind: "expected";
  readonly token: TaskToken;
  readonly groupId: string;
}

/** Maximum length of a cached id. Looking up a longer one takes about as long as verifying it. */
const CACHED_ID_MAX = 4096;

/**
 * Maximum number of cached episodes that wait for a call. Each takes at most 8 KB, and shares its instance with others
 * of its task.
 */
const EPISODES_MAX = 4096;
/** Maximum number of cached episodes whose call has come: enough for some groups of samples. */
const CONTINUED_MAX = 256;

export function createScorer(options: ScorerOptions): Scorer {
  const { keyring, registry, completionBytesMax } = options;
  // Trainers that use Step send a group's completions one by one, mostly to the server that made the task, so tasks are
  // cached.
  const recent = new LRUCache<string, OpenTask | Expected>({
    maxSize: RECENT_BYTES_MAX,
    sizeCalculation: (task) => TASK_BYTES + (task.kind === "expected" ? 0 : roughBytes(task.scoring.instance)),
  });
  // Tasks of begun episodes are cached by the task id of their next turn, because the next call mostly comes to the
  // server that sent the last reply. That call moves the entry to a small cache, for other samples of the group that
  // made the same calls. Old entries would fill the heap and lengthen the pauses of garbage collections.
  const begun = new LRUCache<string, SyncTask>({ max: EPISODES_MAX });
  const continued = new LRUCache<string, SyncTask>({ max: CONTINUED_MAX });
  const cached = (taskId: string) => recent.get(taskId) ?? begun.get(taskId) ?? continued.get(taskId);
  const openAs = (taskId: string, token: TaskToken, groupId: string): OpenTask | NoReward => {
    // While environments are being mounted, `find` throws UNAVAILABLE. That is no failure of scoring: the caller waits.
    const found = registry.find(token.environment, token.version);
    try {
      const task = openToken(found, token, groupId, options.pools);
      // Task ids of later turns are not added to `recent`, because most of them are opened only once.
      if (task.kind !== "none" && token.episode === undefined) recent.set(taskId, task);
      return task;
    } catch (error) {
      options.onFailure(error, token);
      return failedSample(bug);
    }
  };
  return {
    expect: (taskId, groupId, token) => void recent.set(taskId, { kind: "expected", token, groupId }),
    open(taskId) {
      const known = taskId.length > CACHED_ID_MAX ? undefined : cached(taskId);
      if (known?.kind === "expected") return openAs(taskId, known.token, known.groupId);
      if (known !== undefined) return known;
      const opened = openTaskId(keyring, registry, taskId);
      return opened.kind === "ok" ? openAs(taskId, opened.token, opened.groupId) : invalidTask(opened.detail);
    },
    forget() {
      recent.clear();
      begun.clear();
      continued.clear();
    },
    score(task, completion) {
      const tooLarge = checkLength(completion, completionBytesMax);
      if (tooLarge !== undefined) return tooLarge;
      try {
        return { kind: "score", score: score(task.scoring, completion) };
      } catch (error) {
        options.onFailure(error, task.token);
        return failedSample(bug);
      }
    },
    play(task, completion, form) {
      try {
        const result = playTurn(options, task, completion, form);
        if (task.begunId !== undefined && begun.delete(task.begunId)) continued.set(task.begunId, task);
        if (result.kind !== "turn" || result.taskId.length > CACHED_ID_MAX) return result;
        const { taskId: begunId, episode } = result;
        begun.set(begunId, { ...task, begunId, token: { ...task.token, episode } });
        return result;
      } catch (error) {
        options.onFailure(error, task.token);
        return failedSample(bug);
      }
    },
  };
}

const NO_SETTINGS = new Uint8Array();

function openToken(
  found: ReturnType<Registry["find"]>,
  full: TaskToken,
  groupId: string,
  pools: ReadonlyMap<string, Pool>,
): OpenTask | NoReward {
  const { inline: bytes, ...token } = full;
  if (found.kind !== "found") return invalidTask(`task_id: ${found.message}`);
  const { environment } = found;
  if (environment.asked?.digest !== token.digest) {
    const detail = `task_id: ${changedSources(environment, token.digest)}`;
    return { kind: "none", reason: "failed_precondition", detail, retryDelayMs: 0 };
  }
  const restored = restoredOf(environment, token, bytes, pools);
  if (restored.kind === "invalid") return invalidTask(`task_id: ${restored.message}`);
  const scheme = schemeOf(environment, token);
  if (scheme.kind === "invalid") return invalidTask(`task_id: ${scheme.message}`);
  const { answerFormat: format, thinking, version } = token;
  const { baseline } = token.key;
  const rest = { format, thinking, version, ...(baseline && { baseline }) };
  const settings = token.calls === undefined ? NO_SETTINGS : encodeSettings(full);
  const parts = { instance: restored.instance, scheme: scheme.scheme, hasRemedies: true, ...rest };
  const { turns, resource } = environment;
  const tools = turns === undefined ? [] : toolNames(turns, token.tools);
  if (token.calls !== undefined && neededResource(environment, { tools, calls: token.calls }) !== undefined)
    return { kind: "asking", token, groupId, scoring: { environment, ...parts }, settings, tools };
  return resource === undefined
    ? { kind: "sync", token, groupId, scoring: { environment, ...parts }, settings, tools }
    : { kind: "async", token, groupId, scoring: { environment, ...parts } };
}

/**
 * Returns the instance that the task id contains. If it contains none, makes the instance again from its origin, e.g.
 * its seed or its row in a pool.
 */
function restoredOf(
  environment: Environment,
  { key }: OpenToken,
  bytes: Uint8Array | undefined,
  pools: ReadonlyMap<string, Pool>,
): Restored {
  const { asked, inline } = environment;
  const place = asked && mountedPlaceOf(key);
  if (asked !== undefined && place !== undefined) return { kind: "ok", instance: asked.refer(place, bytes) };
  if (bytes === undefined || inline === undefined) return restore(environment, key.origin, pools);
  return { kind: "ok", instance: inline.decode(bytes) };
}

/** Cache of reward schemes with default parameters, by environment and name. Most tasks use default parameters. */
const defaultSchemes = new WeakMap<Environment, Map<string, ReturnType<typeof resolveScheme>>>();

function schemeOf(environment: Environment, { rewardScheme, rewardParameters, calls }: OpenToken) {
  const hasTurns = calls !== undefined;
  for (const _ in rewardParameters) return resolveScheme(environment, rewardScheme, rewardParameters, hasTurns);
  const known = defaultSchemes.get(environment) ?? new Map<string, ReturnType<typeof resolveScheme>>();
  defaultSchemes.set(environment, known);
  const resolved = known.get(rewardScheme) ?? resolveScheme(environment, rewardScheme, {}, hasTurns);
  // Only names that exist are cached, so that clients cannot make the map grow.
  if (resolved.kind === "ok") known.set(rewardScheme, resolved);
  return resolved;
}
