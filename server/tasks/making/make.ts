/** Makes tasks: reads rows at once, and lets workers generate the others. Each task is made once. */
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
 * Maximum number of characters of cached tasks, which will be shown soon. That is more than a thousand tasks, which are
 * made ahead.
 */
const KEPT_CHARACTERS_MAX = 16 * 1024 ** 2;
/** Approximate size of a task beside its prompt. */
const TASK_CHARACTERS = 2048;

// Names of shares of the workers, beside those of tokens and addresses (callerName). Each run has its own share, and so
// has the making of a suite. If work takes long, a share is divided again, by run or by connection.

export function runCaller(runId: string): string {
  return `run ${runId}`;
}

export function suiteCaller(digest: string): string {
  return `suite ${digest}`;
}

/**
 * Returns the party of a run's sample. It belongs to the caller's token, so that a caller does not get a share for each
 * of many runs.
 */
export function runParty(runId: string, token: string): Party {
  const run = runCaller(runId);
  return { caller: token === "" ? run : callerName(token, ""), connection: run };
}

interface Walk {
  readonly seed: bigint;
  readonly ordinal: number;
  /** Row that the run has at this place, whatever the file's current order. Unset: the walk decides. */
  readonly listed?: ListedRow;
  /** Returns the rank of the row at a place of its pool. Unset: rows have no ranks. */
  readonly rankAt?: ((place: number) => number) | undefined;
}

/** The part of a task from which it can be made again. */
export interface StoredTask {
  readonly spec: TaskSpec;
  readonly key: TaskKey;
}

export interface Maker {
  /** Makes tasks. Returns one result for each seed, in order. */
  make(spec: TaskSpec, seeds: readonly bigint[], requester: Requester): Promise<readonly MakeResult[]>;
  /** Returns the ordinal-th row of a walk through the rows of a specification. */
  makeRow(spec: TaskSpec, walk: Walk): MakeResult;
  /** Returns one task of a teacher for each place, in order. See Teacher. */
  fromTeacher(spec: TaskSpec, wanted: WantedOfTeacher): Promise<readonly MakeResult[]>;
  /** Draws an instance of a mounted environment, with an answer if there is one. */
  draw(
    environment: Environment,
    instance: unknown,
    answer: string | undefined,
    requester: Requester,
  ): Promise<DrawResult>;
  /** Returns the reference answer of a task of a mounted environment. */
  reference(environment: Environment, key: TaskKey, requester: Requester): Promise<ReferenceResult>;
  /** Caches a task, which will be shown by its key. */
  keep(task: MadeTask): void;
  /**
   * Returns the tasks of keys, in order, from the cache or rendered again. Only tasks of mounted environments and
   * missing rows can fail.
   */
  again(wanted: readonly StoredTask[]): Promise<Result<readonly MadeTask[]>>;
}

export interface MakerDeps {
  readonly workers: WorkerPool;
  readonly registry: Registry;
  readonly pools: ReadonlyMap<string, Pool>;
  /** Resources of mounted environments. Unset: there are none. */
  readonly resources?: Pick<Resources, "run" | "retire">;
  /** Teacher of the server. Undefined: there is none. */
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
    return { kind: "made", task: renderTask(environmentOf(spec), spec.answerFormat, key, instance) };
  };
  const fromTeacher: Maker["fromTeacher"] = async (spec, wanted) =>
    // The run was made by a server with a teacher. Its arm is masked, and the other arms go on.
    teacher?.take(spec, wanted) ?? wanted.places.map(() => ({ kind: "exhausted", message: teacherKind.words.missing }));

  const againOne = ({ spec, key }: StoredTask): MakeResult | Promise<MakeResult> => {
    const known = kept.get(key);
    if (known !== undefined) return { kind: "made", task: known };
    const environment = environmentOf(spec);
    const mounted = environment.asked && findMounted(environment);
    if (mounted !== undefined && asker !== undefined) return asker.again(mounted, spec, key);
    const restored = restore(environment, key.origin, pools);
    if (restored.kind === "invalid") return { kind: "exhausted", message: restored.message };
    return { kind: "made", task: renderTask(environment, spec.answerFormat, key, restored.instance) };
  };

  return {
    fromTeacher,
    async make(spec, seeds, requester) {
      const { caller, signal, heuristic } = requester;
      const made = environmentOf(spec);
      const mounted = made.asked && findMounted(made);
      if (mounted !== undefined && asker !== undefined) return asker.make(mounted, spec, seeds, requester);
      const { environment, version, parameters, level, split, source, answerFormat } = spec;
      if (source === "real") return seeds.map((seed) => rendered(spec, pickRow(poolOf(spec), level, split, seed)));
      if (source === "teacher") return fromTeacher(spec, { scope: "without a run", places: seeds.map(String), signal });
      const wanted = { environment, version, parameters, split, answerFormat, ...(heuristic && { heuristic }) };
      return workers.run({ spec: wanted, seeds, caller }, signal);
    },
    makeRow(spec, { seed, ordinal, rankAt, listed }) {
      const { level, split, pool: name } = spec;
      const pool = pools.get(name);
      // The run may have been made by a server with that pool.
      if (pool === undefined)
        return { kind: "unavailable", message: missingPool(name), retryDelayMs: TIMEOUT_RETRY_MS };
      const walked = (): Instantiated => rowAt(pool, level, split, seed, ordinal, rankAt);
      return rendered(spec, listed === undefined ? walked() : rowOfHash(pool, listed, rankAt));
    },
    ...asks(asker),
    keep: (task) => void kept.set(task.key, task),
    async again(wanted) {
      const begun: readonly (MakeResult | Promise<MakeResult>)[] = await mapInSlices(wanted, againOne);
      const results = await Promise.all(begun.map((each) => Promise.resolve(each)));
      const refused = results.find((result) => result.kind !== "made");
      if (refused !== undefined) return refusalOf(refused);
      return ok(results.flatMap((result) => (result.kind === "made" ? [result.task] : [])));
    },
  };
}

/** Returns the operations that ask a mounted environment for pictures and reference answers. */
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
        return { kind: "exhausted", message: `${environment.id} gives no reference answers on this server` };
      return asker.reference(mounted, key, requester);
    },
  };
}

/** Delay after which a client may ask again for tasks that took too long, or whose pool is missing. */
const TIMEOUT_RETRY_MS = 1000;

function missingPool(name: string): string {
  return `this server has no pool '${name}', which the run draws from: start it with --pool ${name}=FILE`;
}

/** Returns the refusal for a task that was not made. */
export function refusalOf(result: Exclude<MakeResult, { readonly kind: "made" }>): Refusal {
  switch (result.kind) {
    case "exhausted":
      return { kind: "failed_precondition", message: result.message };
    case "overloaded": {
      const { retryDelayMs } = result;
      return { kind: "unavailable", message: "the workers' queue is full", retryDelayMs };
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
