/** The work of worker threads, apart from the threads: the command line does it in its own. */
import { makeGenerated } from "../../envs/instances.ts";
import type { Registry } from "../../envs/registry.ts";
import { type MakeResult, renderTask } from "./task.ts";
import type { MakeJob } from "./workers.ts";

/** Tasks per level that a new worker makes first, so that no caller pays for cold code. */
const WARM_UP_TASKS = 2;

/** Generates, solves and renders the tasks of a job. */
export function runJob(registry: Registry, job: MakeJob): readonly MakeResult[] {
  const found = registry.find(job.environment, job.version);
  if (found.kind !== "found") throw new Error(`a job names an environment that is not registered: ${job.environment}`);
  const { environment } = found;
  const { parameters, split, answerFormat } = job;
  return job.seeds.map((seed): MakeResult => {
    const result = makeGenerated(environment, { parameters, seed, split });
    if (result.kind === "exhausted") return result;
    return { kind: "made", task: renderTask(environment, answerFormat, result.key, result.instance) };
  });
}

/** Makes tasks of every level and forgets them. */
export function makeFirstTasks({ environments }: Registry): void {
  for (const environment of environments) {
    for (const { parameters } of environment.generator?.levels ?? [])
      for (let seed = 0; seed < WARM_UP_TASKS; seed++)
        makeGenerated(environment, { parameters, seed: BigInt(seed), split: "bench" });
  }
}
