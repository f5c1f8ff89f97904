/**
 * Generates tasks, solves them, and renders their prompts in a worker thread. The command line runs this code in its
 * main thread instead.
 */
import type { Environment } from "../../../envs/environment.ts";
import { makeGenerated, searchGenerated, type SearchProgress } from "../../../envs/instances.ts";
import type { Registry } from "../../../envs/registry.ts";
import type { TaskSpec } from "../spec.ts";
import { type MadeResult, renderTask, withHeuristic } from "../task.ts";

/** Properties that are the same for all tasks of one call (a job). */
export interface JobSpec extends Pick<
  TaskSpec,
  "environment" | "version" | "parameters" | "split" | "answerFormat" | "calls" | "tools"
> {
  /** Whether to compute also the objective value that the environment's heuristic reaches. Unset: no. */
  readonly heuristic?: true;
}

/** Work that a worker thread gets at once: seeds of tasks to make, and a time limit. */
export interface Slice {
  readonly spec: JobSpec;
  readonly seeds: readonly bigint[];
  /** State of an interrupted search for the first seed's instance. Undefined: none was begun. */
  readonly progress: SearchProgress | undefined;
  /**
   * Time in milliseconds after which the worker starts no further attempt to make an instance. The limit does not
   * change which tasks the seeds give.
   */
  readonly sliceMs: number;
}

/** Result of a slice, i.e. of some milliseconds of work of a worker thread on a call that makes tasks. */
export interface SliceDone {
  /** Results of the finished seeds, in the order of `seeds` from the first. */
  readonly results: readonly MadeResult[];
  /** State of the search for the next seed's instance. Undefined: no search was interrupted. */
  readonly paused: SearchProgress | undefined;
  /** CPU time that the thread used, in milliseconds. */
  readonly cpuMs: number;
}

/**
 * Number of tasks of each level that a new worker makes first, so that its code is compiled before callers wait for it.
 */
const WARM_UP_TASKS = 2;

/**
 * Generates tasks, solves them, and renders their prompts until `slice.sliceMs` have passed. It makes at least one
 * attempt.
 */
export function runSlice(registry: Registry, slice: Slice): SliceDone {
  const before = threadCpuMs();
  const environment = environmentOf(registry, slice.spec);
  const { parameters, split, heuristic } = slice.spec;
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
    const task = renderTask(environment, slice.spec, result.key, result.instance);
    results.push({ kind: "made", task: heuristic ? withHeuristic(environment, task, result.instance) : task });
  }
  return { results, paused, cpuMs: threadCpuMs() - before };
}

function environmentOf(registry: Registry, { environment: id, version }: JobSpec): Environment {
  const found = registry.find(id, version);
  if (found.kind !== "found") throw new Error(`bug: a job names an environment that is not registered: ${id}`);
  return found.environment;
}

/** Returns the CPU time of this thread only. Other load on the machine does not change it. */
function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** CPU time of a task of one level, measured before the first caller asks for one. */
export interface LevelCost extends Pick<TaskSpec, "environment" | "version" | "parameters"> {
  readonly cpuMs: number;
}

/**
 * Makes tasks of every level that runs usually train on, and drops them, so that V8 compiles the code. Returns the CPU
 * time of each level's last task. Other levels, e.g. those for evaluation only, use the same code.
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
