/** The work of worker threads, apart from the threads: the command line does it in its own. */
import type { Environment } from "../../../envs/environment.ts";
import { makeGenerated, searchGenerated, type SearchProgress } from "../../../envs/instances.ts";
import type { Registry } from "../../../envs/registry.ts";
import type { TaskSpec } from "../spec.ts";
import { type MadeResult, renderTask, withHeuristic } from "../task.ts";

/** What the tasks of a job have in common. */
export interface JobSpec extends Pick<TaskSpec, "environment" | "version" | "parameters" | "split" | "answerFormat"> {
  /** Whether to say what the environment's heuristic attains. Left out: no. */
  readonly heuristic?: true;
}

/** A turn of a worker. */
export interface Slice {
  readonly spec: JobSpec;
  readonly seeds: readonly bigint[];
  /** How far an earlier slice came with the first of the seeds. */
  readonly progress: SearchProgress | undefined;
  /** After so long, milliseconds, the slice ends between two attempts. What is found does not depend on it. */
  readonly sliceMs: number;
}

/** What a slice came to. */
export interface SliceDone {
  /** Of as many seeds as were finished, from the first on. */
  readonly results: readonly MadeResult[];
  /** How far the next seed is, where its search was broken off. */
  readonly paused: SearchProgress | undefined;
  /** CPU that the thread used. */
  readonly cpuMs: number;
}

/** Tasks per level that a new worker makes first, so that no caller pays for cold code. */
const WARM_UP_TASKS = 2;

/** Generates, solves and renders tasks until the slice is over; at least one attempt is made. */
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

/** Of this thread alone: a machine that is busy elsewhere does not make work look dear. */
function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** What a task of each level costs, so that the first caller's are known for what they are. */
export interface LevelCost extends Pick<TaskSpec, "environment" | "version" | "parameters"> {
  readonly cpuMs: number;
}

/**
 * Makes tasks of every level that is usually trained on, forgets them, and says what the last of each cost. The other
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
