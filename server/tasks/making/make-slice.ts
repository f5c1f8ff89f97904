/** Work of worker threads, without the threads. The command line runs it in its own thread. */
import type { Environment } from "../../../envs/environment.ts";
import { makeGenerated, searchGenerated, type SearchProgress } from "../../../envs/instances.ts";
import type { Registry } from "../../../envs/registry.ts";
import type { TaskSpec } from "../spec.ts";
import { type MadeResult, renderTask, withHeuristic } from "../task.ts";

/** Properties that all tasks of a job share. */
export interface JobSpec extends Pick<TaskSpec, "environment" | "version" | "parameters" | "split" | "answerFormat"> {
  /** Whether to return the objective of the environment's heuristic. Defaults to no. */
  readonly heuristic?: true;
}

/** A slice of work for one turn of a worker. */
export interface Slice {
  readonly spec: JobSpec;
  readonly seeds: readonly bigint[];
  /** State of the search for the first seed, if an earlier slice began it. */
  readonly progress: SearchProgress | undefined;
  /** Time, in milliseconds, after which the slice ends between two attempts. Its results do not depend on it. */
  readonly sliceMs: number;
}

/** Result of a slice. */
export interface SliceDone {
  /** Results of the finished seeds, from the first on. */
  readonly results: readonly MadeResult[];
  /** State of the search for the next seed, if the slice ended within it. */
  readonly paused: SearchProgress | undefined;
  /** CPU time that the thread used, in milliseconds. */
  readonly cpuMs: number;
}

/**
 * Number of tasks of each level that a new worker makes first, so that no caller waits for code that is not compiled
 * yet.
 */
const WARM_UP_TASKS = 2;

/** Generates, solves and renders tasks until the slice ends. It makes at least one attempt. */
export function runSlice(registry: Registry, slice: Slice): SliceDone {
  const before = threadCpuMs();
  const environment = environmentOf(registry, slice.spec);
  const { parameters, split, answerFormat, heuristic } = slice.spec;
  const endsAt = performance.now() + slice.sliceMs;
  const isDue = (): boolean => performance.now() >= endsAt;
  const results: MadeResult[] = [];
  let paused: SearchProgress | undefined;
  for (const [i, seed] of slice.seeds.entries()) {
    if (i > 0 && isDue()) break;
    const begun = i === 0 ? slice.progress : undefined;
    const result = searchGenerated(environment, { parameters, seed, split }, isDue, begun);
    if (result.kind === "paused") {
      paused = result.progress;
      break;
    }
    if (result.kind === "exhausted") {
      results.push(result);
      continue;
    }
    const task = renderTask(environment, answerFormat, result.key, result.instance);
    results.push({ kind: "made", task: heuristic ? withHeuristic(environment, task, result.instance) : task });
  }
  return { results, paused, cpuMs: threadCpuMs() - before };
}

function environmentOf(registry: Registry, { environment: id, version }: JobSpec): Environment {
  const found = registry.find(id, version);
  if (found.kind !== "found") throw new Error(`a job names an environment that is not registered: ${id}`);
  return found.environment;
}

/** Returns the CPU time of this thread alone, so that other load on the machine does not raise the cost of a task. */
function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Cost of a task of each level, so that the cost of the first caller's tasks is known. */
export interface LevelCost extends Pick<TaskSpec, "environment" | "version" | "parameters"> {
  readonly cpuMs: number;
}

/**
 * Makes and drops tasks of every level that is usually trained on. Returns the cost of the last one of each. Other
 * levels share their code.
 */
export function makeFirstTasks({ environments }: Registry): readonly LevelCost[] {
  const costs: LevelCost[] = [];
  for (const environment of environments) {
    const trained =
      environment.generator?.levels.filter((level) => level.evaluationOnly !== true && level.byName !== true) ?? [];
    for (const { parameters } of trained) {
      let cpuMs = 0;
      for (let seed = 0; seed < WARM_UP_TASKS; seed++) {
        const before = threadCpuMs();
        makeGenerated(environment, { parameters, seed: BigInt(seed), split: "bench" });
        cpuMs = threadCpuMs() - before;
      }
      costs.push({ environment: environment.id, version: environment.version, parameters, cpuMs });
    }
  }
  return costs;
}
