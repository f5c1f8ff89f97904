/** Scores completions of tasks: opens the id, restores the instance, asks the environment. */
import { LRUCache } from "lru-cache";
import type { Environment } from "../../envs/environment.ts";
import { restore } from "../../envs/instances.ts";
import type { Pool } from "../../envs/pool.ts";
import type { Registry } from "../../envs/registry.ts";
import { resolveScheme } from "../../envs/reward/schemes.ts";
import { type AsyncScoreTask, score, type ScoreTask } from "../../envs/score.ts";
import type { Keyring } from "./keyring.ts";
import { bug, checkLength, failedSample, invalidTask, type NoReward, type SampleResult } from "./sample-result.ts";
import { openTaskId, type Ticket } from "./task-id.ts";

// Sizes of plain data, for caches that are bounded by memory.

/** Items of a list that are looked at. */
const SAMPLE = 8;

/** About how many bytes of heap a value takes. Of a list's items some are looked at, so that this costs little. */
export function roughBytes(value: unknown): number {
  if (ArrayBuffer.isView(value)) return 100 + value.byteLength;
  if (typeof value === "string") return 16 + value.length;
  if (typeof value !== "object" || value === null) return 0;
  if (Array.isArray(value)) return 32 + value.length * (8 + meanBytes(value));
  return Object.values(value).reduce((sum: number, part) => sum + 8 + roughBytes(part), 24);
}

function meanBytes(list: readonly unknown[]): number {
  const step = Math.max(1, Math.floor(list.length / SAMPLE));
  let sum = 0;
  let count = 0;
  for (let i = 0; i < list.length; i += step) {
    sum += roughBytes(list[i]);
    count++;
  }
  return count === 0 ? 0 : sum / count;
}

/** Without the bytes of the instance: they are views of buffers of Node's that have 64 KiB, and would keep them. */
export type OpenTicket = Omit<Ticket, "instance">;

interface OpenParts {
  readonly ticket: OpenTicket;
  readonly groupId: string;
}

/** A task that completions can be scored against at once. */
export interface SyncTask extends OpenParts {
  readonly kind: "sync";
  readonly scoring: ScoreTask;
}

/** One whose completions wait for a resource. */
export interface AsyncTask extends OpenParts {
  readonly kind: "async";
  readonly scoring: AsyncScoreTask;
}

export type OpenTask = SyncTask | AsyncTask;

/** A task that was just made. */
export interface MadeTask {
  readonly taskId: string;
  readonly groupId: string;
  readonly ticket: Ticket;
  readonly environment: Environment;
  readonly instance: unknown;
}

export interface Scorer {
  /** Tells of a task whose completions will come, so that its instance need not be made again. */
  expect(task: MadeTask): void;
  open(taskId: string): OpenTask | NoReward;
  score(task: SyncTask, completion: string): SampleResult;
}

export interface ScorerOptions {
  readonly registry: Registry;
  readonly keyring: Keyring;
  readonly pools: ReadonlyMap<string, Pool>;
  /** UTF-8 bytes. */
  readonly completionBytesMax: number;
  /** Told of each failure of ours, which the client sees as "internal". */
  readonly onFailure: (error: unknown, ticket: OpenTicket) => void;
}

/** The opened forms of tasks are kept in about this much memory: a thousand TSPs, some thousand others. Results never. */
const RECENT_BYTES_MAX = 8 * 1024 ** 2;
/** Of a task beside its instance: its id, ticket and place in the cache. */
const TASK_BYTES = 2048;

export function createScorer(options: ScorerOptions): Scorer {
  const { keyring, registry, completionBytesMax } = options;
  // The completions of a group come one by one where a trainer uses Step, and mostly to the server that made the task.
  const recent = new LRUCache<string, OpenTask>({
    maxSize: RECENT_BYTES_MAX,
    sizeCalculation: ({ scoring }) => TASK_BYTES + roughBytes(scoring.instance),
  });
  return {
    expect({ taskId, groupId, ticket, environment, instance }) {
      const task = openAs(environment, ticket, groupId, instance);
      if (task.kind !== "none") recent.set(taskId, task);
    },
    open(taskId) {
      const known = recent.get(taskId);
      if (known !== undefined) return known;
      const opened = openTaskId(keyring, registry, taskId);
      if (opened.kind === "invalid") return invalidTask(opened.detail);
      const { ticket, groupId } = opened;
      try {
        const task = openTicket(ticket, groupId, options);
        if (task.kind !== "none") recent.set(taskId, task);
        return task;
      } catch (error) {
        options.onFailure(error, ticket);
        return failedSample(bug);
      }
    },
    score(task, completion) {
      const tooLarge = checkLength(completion, completionBytesMax);
      if (tooLarge !== undefined) return tooLarge;
      try {
        return { kind: "score", score: score(task.scoring, completion) };
      } catch (error) {
        options.onFailure(error, task.ticket);
        return failedSample(bug);
      }
    },
  };
}

function openTicket(
  ticket: Ticket,
  groupId: string,
  { registry, pools }: Pick<ScorerOptions, "registry" | "pools">,
): OpenTask | NoReward {
  const found = registry.find(ticket.environment, ticket.version);
  if (found.kind !== "found") return invalidTask(`task_id: ${found.message}`);
  const { environment } = found;
  const { inline } = environment;
  const restored =
    ticket.instance === undefined || inline === undefined
      ? restore(environment, ticket.origin, pools)
      : ({ kind: "ok", instance: inline.decode(ticket.instance) } as const);
  if (restored.kind === "invalid") return invalidTask(`task_id: ${restored.message}`);
  return openAs(environment, ticket, groupId, restored.instance);
}

function openAs(environment: Environment, from: Ticket, groupId: string, instance: unknown): OpenTask | NoReward {
  const { instance: bytes, ...ticket } = from;
  const scheme = schemeOf(environment, ticket);
  if (scheme.kind === "invalid") return invalidTask(`task_id: ${scheme.message}`);
  const { answerFormat: format, thinking } = ticket;
  const baseline = ticket.baseline && { baseline: ticket.baseline };
  const parts = { instance, format, thinking, scheme: scheme.scheme, ...baseline };
  return environment.resource === undefined
    ? { kind: "sync", ticket, groupId, scoring: { environment, ...parts } }
    : { kind: "async", ticket, groupId, scoring: { environment, ...parts } };
}

/** Schemes with their defaults, by environment and name: resolved once, for most tasks have them. */
const defaultSchemes = new WeakMap<Environment, Map<string, ReturnType<typeof resolveScheme>>>();

function schemeOf(environment: Environment, { rewardScheme, rewardParameters }: OpenTicket) {
  for (const _ in rewardParameters) return resolveScheme(environment, rewardScheme, rewardParameters);
  const known = defaultSchemes.get(environment) ?? new Map<string, ReturnType<typeof resolveScheme>>();
  defaultSchemes.set(environment, known);
  const resolved = known.get(rewardScheme) ?? resolveScheme(environment, rewardScheme, {});
  // Only names that exist are kept, so that the map stays as small as the environment's list.
  if (resolved.kind === "ok") known.set(rewardScheme, resolved);
  return resolved;
}
