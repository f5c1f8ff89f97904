/**
 * Makes tasks. It reads rows of pools, gets tasks from teacher models and mounted (externally provided) environments,
 * and lets worker threads generate all others. A cache avoids making a task twice.
 */
import { LRUCache } from "lru-cache";
import { findMounted } from "../../../envs/mounted-tasks.ts";
import type { Environment } from "../../../envs/environment.ts";
import { restore } from "../../../envs/instances.ts";
import type { MakeResult as Instantiated, TaskKey } from "../../../envs/origin.ts";
import { pickRow, type Pool, rowAt, rowOfHash } from "../../../envs/pool.ts";
import type { Registry } from "../../../envs/registry.ts";
import { type Party, callerName } from "../../base/fair-turns.ts";
import { mapInSlices } from "../../base/time-slices.ts";
import type { ListedRow } from "../../curriculum/row-lists.ts";
import { ok, type Refusal, type Result } from "../../curriculum/types.ts";
import type { Resources } from "../../outside/gate/resources.ts";
import type { TaskSpec } from "../spec.ts";
import type { Teacher, WantedOfTeacher } from "../../outside/teacher/teacher.ts";
import { teacher as teacherKind } from "../../outside/teacher/teacher-port.ts";
import { type MadeResult, type MadeTask, type MakeResult, renderTask } from "../task.ts";
import { type Asker, createAsker, type DrawResult, type ReferenceResult, type Requester } from "./mounted-tasks.ts";
import type { WorkerPool } from "./workers.ts";

/**
 * Maximum number of characters of cached tasks. It is enough for more than a thousand tasks that were made in advance
 * and will soon be given out.
 */
const KEPT_CHARACTERS_MAX = 16 * 1024 ** 2;
/** Approximate size of a cached task without its prompt, in characters. */
const TASK_CHARACTERS = 2048;

// Functions that name runs and suites as callers. Callers with a token or an address are named by `callerName`. Worker
// threads are shared equally among callers; if much work waits, a caller's share is divided among its runs or
// connections.

export function runCaller(runId: string): string {
  return `run ${runId}`;
}

export function suiteCaller(digest: string): string {
  return `suite ${digest}`;
}

/**
 * Returns the caller to whom scoring a run's sample is charged. It is the owner of the token, so that nobody gets a
 * larger share by having many runs. Without a token it is the run.
 */
export function runParty(runId: string, token: string): Party {
  const run = runCaller(runId);
  return { caller: token === "" ? run : callerName(token, ""), connection: run };
}

interface Walk {
  readonly seed: bigint;
  readonly ordinal: number;
  /**
   * Row of the pool that the run recorded for this task. It is used even if the order of rows in the pool's file has
   * changed. Unset: the seed decides which row is used.
   */
  readonly listed?: ListedRow;
  /**
   * Returns the rank of the row at a position in its pool: the share of ranked rows that are easier, in [0, 1). Unset:
   * rows are not ranked.
   */
  readonly rankAt?: ((place: number) => number) | undefined;
}

/** Stored specification and key of a task. The task can be made again from them. */
export interface StoredTask {
  readonly spec: TaskSpec;
  readonly key: TaskKey;
}

export interface Maker {
  /** Makes tasks of one specification. Returns one result for each seed, in order. */
  make(spec: TaskSpec, seeds: readonly bigint[], requester: Requester): Promise<readonly MakeResult[]>;
  /** Returns a task from a row of a pool: the row at position `ordinal` in the order that `seed` gives to the rows. */
  makeRow(spec: TaskSpec, walk: Walk): MakeResult;
  /**
   * Returns one task for each of `wanted.places`, in order, written by the server's teacher (a model that proposes
   * tasks).
   */
  fromTeacher(spec: TaskSpec, wanted: WantedOfTeacher): Promise<readonly MakeResult[]>;
  /** Draws a picture of a mounted environment's instance, with an answer if given. */
  draw(
    environment: Environment,
    instance: unknown,
    answer: string | undefined,
    requester: Requester,
  ): Promise<DrawResult>;
  /** Returns the reference answer of a task of a mounted environment. */
  reference(environment: Environment, key: TaskKey, requester: Requester): Promise<ReferenceResult>;
  /** Caches a task that will soon be given out. */
  keep(task: MadeTask): void;
  /**
   * Returns stored tasks with their prompts, in order, from the cache or rendered again. It fails only for tasks of
   * mounted environments and for rows that are missing.
   */
  again(wanted: readonly StoredTask[]): Promise<Result<readonly MadeTask[]>>;
}

export interface MakerDeps {
  readonly workers: WorkerPool;
  readonly registry: Registry;
  readonly pools: ReadonlyMap<string, Pool>;
  /** Queues through which requests reach the providers of mounted environments. Unset: no environment is mounted. */
  readonly resources?: Pick<Resources, "run" | "retire">;
  /** Teacher model of the server. Undefined: there is none. */
  readonly teacher?: Teacher | undefined;
}

export function createMaker({ workers, registry, pools, resources, teacher }: MakerDeps): Maker {
  const asker = resources && createAsker(resources);
  const kept = new LRUCache<TaskKey, MadeTask>({ maxSize: KEPT_CHARACTERS_MAX, sizeCalculation: charactersOf });
  const environmentOf = ({ environment, version }: TaskSpec): Environment => {
    const found = registry.find(environment, version);
    if (found.kind !== "found") throw new Error(found.message);
    return found.environment;
  };
  const poolOf = ({ pool: name }: TaskSpec): Pool => {
    const pool = pools.get(name);
    if (pool === undefined) throw new Error(`a task's spec names a pool that is not loaded: ${name}`);
    return pool;
  };
  const rendered = (spec: TaskSpec, result: Instantiated): MadeResult => {
    if (result.kind === "exhausted") return result;
    const { key, instance } = result;
    return { kind: "made", task: renderTask(environmentOf(spec), spec, key, instance) };
  };
  const fromTeacher: Maker["fromTeacher"] = async (spec, wanted) =>
    // A run may have been created by another server, which has a teacher. Without a teacher the run's arm draws no
    // tasks, and its other arms continue.
    teacher?.take(spec, wanted) ?? wanted.places.map(() => ({ kind: "exhausted", message: teacherKind.words.missing }));

  const againOne = ({ spec, key }: StoredTask): MakeResult | Promise<MakeResult> => {
    const known = kept.get(key);
    if (known !== undefined) return { kind: "made", task: known };
    const environment = environmentOf(spec);
    const mounted = environment.asked && findMounted(environment);
    if (mounted !== undefined && asker !== undefined) return asker.again(mounted, spec, key);
    const restored = restore(environment, key.origin, pools);
    if (restored.kind === "invalid") return { kind: "exhausted", message: restored.message };
    return { kind: "made", task: renderTask(environment, spec, key, restored.instance) };
  };

  return {
    fromTeacher,
    async make(spec, seeds, requester) {
      const { caller, signal, heuristic } = requester;
      const made = environmentOf(spec);
      const mounted = made.asked && findMounted(made);
      if (mounted !== undefined && asker !== undefined) return asker.make(mounted, spec, seeds, requester);
      const { environment, version, parameters, level, split, source, answerFormat, calls, tools } = spec;
      if (source === "real") return seeds.map((seed) => rendered(spec, pickRow(poolOf(spec), level, split, seed)));
      if (source === "teacher") return fromTeacher(spec, { scope: "without a run", places: seeds.map(String), signal });
      const turns = { ...(calls !== undefined && { calls }), ...(tools && { tools }) };
      const asked = { environment, version, parameters, split, answerFormat, ...turns };
      const wanted = { ...asked, ...(heuristic && { heuristic }) };
      return workers.run({ spec: wanted, seeds, caller }, signal);
    },
    makeRow(spec, { seed, ordinal, rankAt, listed }) {
      const { level, split, pool: name } = spec;
      const pool = pools.get(name);
      // The run may have been created by another server, which has the pool.
      if (pool === undefined)
        return { kind: "unavailable", message: missingPool(name), retryDelayMs: TIMEOUT_RETRY_MS };
      const walked = (): Instantiated => rowAt(pool, level, split, seed, ordinal, rankAt);
      return rendered(spec, listed === undefined ? walked() : rowOfHash(pool, listed, rankAt));
    },
    ...asks(asker),
    keep: (task) => void kept.set(task.key, task),
    async again(wanted) {
      const begun: readonly (MakeResult | Promise<MakeResult>)[] = await mapInSlices(wanted, againOne);
      // Only promises (tasks of mounted environments) are awaited, because `await` on thousands of other tasks would
      // take long.
      const results: MakeResult[] = [];
      for (const each of begun) results.push(each instanceof Promise ? await each : each);
      const refused = results.find((result) => result.kind !== "made");
      if (refused !== undefined) return refusalOf(refused);
      return ok(results.flatMap((result) => (result.kind === "made" ? [result.task] : [])));
    },
  };
}

/**
 * Returns the operations that only mounted (externally provided) environments offer: drawing pictures and giving
 * reference answers.
 */
function asks(asker: Asker | undefined): Pick<Maker, "draw" | "reference"> {
  return {
    draw: async (environment, instance, answer, requester) => {
      const mounted = findMounted(environment);
      if (mounted === undefined || asker === undefined)
        return { kind: "undrawn", why: `${environment.id} draws no pictures on this server` };
      return asker.draw(mounted, instance, answer, requester);
    },
    reference: async (environment, key, requester) => {
      const mounted = findMounted(environment);
      if (mounted === undefined || asker === undefined)
        return { kind: "exhausted", message: `this server cannot give reference answers of ${environment.id}` };
      return asker.reference(mounted, key, requester);
    },
  };
}

/** Delay, in milliseconds, after which a client may ask again for tasks that took too long or whose pool is missing. */
const TIMEOUT_RETRY_MS = 1000;

function missingPool(name: string): string {
  return `this server has no pool '${name}', which the run draws from: start it with --pool ${name}=FILE`;
}

/** Returns the refusal of a call whose task was not made. */
export function refusalOf(result: Exclude<MakeResult, { readonly kind: "made" }>): Refusal {
  switch (result.kind) {
    case "exhausted":
      return { kind: "failed_precondition", message: result.message };
    case "overloaded": {
      const { retryDelayMs } = result;
      return {
        kind: "unavailable",
        message: "too many tasks wait to be made on this server: try again later",
        retryDelayMs,
      };
    }
    case "timeout":
      return { kind: "unavailable", message: result.message, retryDelayMs: TIMEOUT_RETRY_MS };
    case "unavailable":
      return result;
    case "cancelled":
      return { kind: "cancelled", message: "the caller left before the answer" };
  }
}

function charactersOf({ prompt }: MadeTask): number {
  return TASK_CHARACTERS + prompt.reduce((sum, { content }) => sum + content.length, 256);
}
