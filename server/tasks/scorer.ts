/** Scores completions of one task: opens the id, restores the instance, asks the environment. */
import { LRUCache } from "lru-cache";
import type { Environment } from "../../envs/environment.ts";
import { restore } from "../../envs/instances.ts";
import type { Pool } from "../../envs/pool.ts";
import { findEnvironment } from "../../envs/registry.ts";
import { resolveScheme } from "../../envs/reward/schemes.ts";
import { type Score, score, type ScoreTask } from "../../envs/score.ts";
import type { Keyring } from "./keyring.ts";
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

export type NoRewardReason =
  "invalid_task_id" | "too_large" | "timeout" | "judge_unavailable" | "sandbox_failed" | "overloaded" | "internal";

export interface NoReward {
  readonly kind: "none";
  readonly reason: NoRewardReason;
  readonly detail: string;
  /** 0: trying again is of no use. */
  readonly retryDelayMs: number;
}

export type SampleResult = { readonly kind: "score"; readonly score: Score } | NoReward;

/** Without the bytes of the instance: they are views of buffers of Node's that have 64 KiB, and would keep them. */
export type OpenTicket = Omit<Ticket, "instance">;

/** A task that completions can be scored against. */
export interface OpenTask {
  readonly kind: "open";
  readonly ticket: OpenTicket;
  readonly groupId: string;
  readonly scoring: ScoreTask;
}

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
  score(task: OpenTask, completion: string): SampleResult;
}

export interface ScorerOptions {
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
  const { keyring, pools, completionBytesMax } = options;
  // The completions of a group come one by one where a trainer uses Step, and mostly to the server that made the task.
  const recent = new LRUCache<string, OpenTask>({
    maxSize: RECENT_BYTES_MAX,
    sizeCalculation: ({ scoring }) => TASK_BYTES + roughBytes(scoring.instance),
  });
  return {
    expect({ taskId, groupId, ticket, environment, instance }) {
      const task = openAs(environment, ticket, groupId, instance);
      if (task.kind === "open") recent.set(taskId, task);
    },
    open(taskId) {
      const known = recent.get(taskId);
      if (known !== undefined) return known;
      const opened = openTaskId(keyring, taskId);
      if (opened.kind === "invalid") return invalid(opened.detail);
      const { ticket, groupId } = opened;
      try {
        const task = openTicket(ticket, groupId, pools);
        if (task.kind === "open") recent.set(taskId, task);
        return task;
      } catch (error) {
        options.onFailure(error, ticket);
        return internal();
      }
    },
    score(task, completion) {
      const tooLarge = checkLength(completion, completionBytesMax);
      if (tooLarge !== undefined) return tooLarge;
      try {
        return { kind: "score", score: score(task.scoring, completion) };
      } catch (error) {
        options.onFailure(error, task.ticket);
        return internal();
      }
    },
  };
}

function openTicket(ticket: Ticket, groupId: string, pools: ReadonlyMap<string, Pool>): OpenTask | NoReward {
  const found = findEnvironment(ticket.environment, ticket.version);
  if (found.kind !== "found") return invalid(`task_id: ${found.message}`);
  const { environment } = found;
  const { inline } = environment;
  const restored =
    ticket.instance === undefined || inline === undefined
      ? restore(environment, ticket.origin, pools)
      : ({ kind: "ok", instance: inline.decode(ticket.instance) } as const);
  if (restored.kind === "invalid") return invalid(`task_id: ${restored.message}`);
  return openAs(environment, ticket, groupId, restored.instance);
}

function openAs(environment: Environment, from: Ticket, groupId: string, instance: unknown): OpenTask | NoReward {
  const { instance: bytes, ...ticket } = from;
  const scheme = schemeOf(environment, ticket);
  if (scheme.kind === "invalid") return invalid(`task_id: ${scheme.message}`);
  const { answerFormat: format, thinking } = ticket;
  const baseline = ticket.baseline && { baseline: ticket.baseline };
  return {
    kind: "open",
    ticket,
    groupId,
    scoring: { environment, instance, format, thinking, scheme: scheme.scheme, ...baseline },
  };
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

/** A UTF-16 unit is at most 3 bytes of UTF-8, so most texts need no counting. */
function checkLength(completion: string, bytesMax: number): NoReward | undefined {
  if (completion.length * 3 <= bytesMax) return undefined;
  const bytes = Buffer.byteLength(completion);
  if (bytes <= bytesMax) return undefined;
  const detail = `the completion has ${bytes} bytes of UTF-8, and the limit is ${bytesMax}`;
  return { kind: "none", reason: "too_large", detail, retryDelayMs: 0 };
}

function invalid(detail: string): NoReward {
  return { kind: "none", reason: "invalid_task_id", detail, retryDelayMs: 0 };
}

/** How long a client waits before it sends again what we failed at. */
const INTERNAL_RETRY_MS = 1000;

function internal(): NoReward {
  const detail = "the server failed to score this completion; its log says why";
  return { kind: "none", reason: "internal", detail, retryDelayMs: INTERNAL_RETRY_MS };
}
