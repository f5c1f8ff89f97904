/** Makes tasks: rows here and now, generated ones in the workers; each once. */
import { LRUCache } from "lru-cache";
import type { Environment } from "../../envs/environment.ts";
import { restore } from "../../envs/instances.ts";
import type { MakeResult as Instantiated, TaskKey } from "../../envs/origin.ts";
import { pickRow, type Pool, rowAt } from "../../envs/pool.ts";
import type { Registry } from "../../envs/registry.ts";
import type { TaskSpec } from "./spec.ts";
import { type MadeTask, type MakeResult, renderTask } from "./task.ts";
import type { WorkerPool } from "./workers.ts";

/** How long one job should take, milliseconds: long beside its messages, short beside what others may wait. */
const JOB_MS = 10;
/** Seeds of a job of tasks that were not made before. */
const FIRST_SEEDS = 8;
const SEEDS_MAX = 64;
/** What a waiting job costs the next one, roughly: 8 benchmark TSPs. */
const WAIT_MS = 80;
/** How much a job that was slower than those before counts: another process may have had its core. */
const SLOWER_SHARE = 0.1;
/** Kinds of tasks whose durations are known. */
const KINDS_MAX = 1024;
/** Of the tasks that are kept because they will be shown, prompts and all: some hundred. */
const KEPT_CHARACTERS_MAX = 1024 ** 2;
/** About what a task takes beside its prompt. */
const TASK_CHARACTERS = 2048;

export interface Maker {
  /** One result for each seed, in order. */
  make(spec: TaskSpec, seeds: readonly bigint[], signal?: AbortSignal): Promise<readonly MakeResult[]>;
  /** The ordinal-th row of a walk through the rows of a spec. */
  makeRow(spec: TaskSpec, walk: { readonly seed: bigint; readonly ordinal: number }): MakeResult;
  /** Remembers a task that will be shown by its key, for a while. */
  keep(task: MadeTask): void;
  /** The task of a key: kept, or rendered again. */
  again(spec: TaskSpec, key: TaskKey): MadeTask;
}

export interface MakerDeps {
  readonly workers: WorkerPool;
  readonly registry: Registry;
  readonly pools: ReadonlyMap<string, Pool>;
}

export function createMaker({ workers, registry, pools }: MakerDeps): Maker {
  const sizes = jobSizes();
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
  const rendered = (spec: TaskSpec, result: Instantiated): MakeResult => {
    if (result.kind === "exhausted") return result;
    const { key, instance } = result;
    return { kind: "made", task: renderTask(environmentOf(spec), spec.answerFormat, key, instance) };
  };

  const runJob = async (
    spec: TaskSpec,
    seeds: readonly bigint[],
    signal?: AbortSignal,
  ): Promise<readonly MakeResult[]> => {
    const { environment, version, parameters, split, answerFormat } = spec;
    const result = await workers.run({ environment, version, parameters, split, answerFormat, seeds }, signal);
    switch (result.kind) {
      case "done":
        sizes.took(spec, result.ms / seeds.length);
        return result.results;
      case "overloaded":
        return seeds.map(() => ({ kind: "overloaded", retryDelayMs: (1 + result.waiting) * WAIT_MS }));
      case "timeout":
        return seeds.map(() => ({ kind: "timeout", message: `making the task took longer than ${result.limitMs} ms` }));
      case "cancelled":
        return seeds.map(() => ({ kind: "cancelled" }));
    }
  };

  return {
    async make(spec, seeds, signal) {
      const { level, split, source } = spec;
      if (source === "real") return seeds.map((seed) => rendered(spec, pickRow(poolOf(spec), level, split, seed)));
      const size = sizes.of(spec);
      const jobs = Array.from({ length: Math.ceil(seeds.length / size) }, (_, i) =>
        runJob(spec, seeds.slice(i * size, (i + 1) * size), signal),
      );
      return (await Promise.all(jobs)).flat();
    },
    makeRow: (spec, { seed, ordinal }) => rendered(spec, rowAt(poolOf(spec), spec.level, spec.split, seed, ordinal)),
    keep: (task) => void kept.set(task.key, task),
    again(spec, key) {
      const known = kept.get(key);
      if (known !== undefined) return known;
      const environment = environmentOf(spec);
      const restored = restore(environment, key.origin, pools);
      if (restored.kind === "invalid") throw new Error(restored.message);
      return renderTask(environment, spec.answerFormat, key, restored.instance);
    },
  };
}

function charactersOf({ prompt }: MadeTask): number {
  return TASK_CHARACTERS + prompt.reduce((sum, { content }) => sum + content.length, 256);
}

/** How many tasks make a job, by how long those before took. */
function jobSizes() {
  const msByKind = new LRUCache<string, number>({ max: KINDS_MAX });
  const kindOf = ({ environment, version, level, parameters }: TaskSpec): string =>
    `${environment} ${version} ${level === "" ? JSON.stringify(parameters) : level}`;
  return {
    of: (spec: TaskSpec): number => {
      const ms = msByKind.get(kindOf(spec));
      return ms === undefined ? FIRST_SEEDS : Math.max(1, Math.min(SEEDS_MAX, Math.floor(JOB_MS / ms)));
    },
    took: (spec: TaskSpec, ms: number): void => {
      const kind = kindOf(spec);
      const before = msByKind.get(kind) ?? ms;
      msByKind.set(kind, before + (ms > before ? SLOWER_SHARE : 1) * (ms - before));
    },
  };
}
