/** The work of worker threads, apart from the threads: the command line does it in its own. */
import { issueGenerated } from "../../envs/instances.ts";
import type { Registry } from "../../envs/registry.ts";
import type { DraftResult, IssueJob } from "./workers.ts";

/** Tasks per level that a new worker makes first, so that no caller pays for cold code. */
const WARM_UP_TASKS = 2;

/** Generates and solves the tasks of a job. */
export function runJob(registry: Registry, job: IssueJob): readonly DraftResult[] {
  const found = registry.find(job.environment, job.version);
  if (found.kind !== "found") throw new Error(`a job names an environment that is not registered: ${job.environment}`);
  return job.seeds.map((seed): DraftResult => {
    const result = issueGenerated(found.environment, { parameters: job.parameters, seed, split: job.split });
    if (result.kind === "exhausted") return result;
    const { origin, hash, baseline } = result.issued;
    return { kind: "draft", draft: baseline === undefined ? { origin, hash } : { origin, hash, baseline } };
  });
}

/** Makes tasks of every level and forgets them. */
export function makeFirstTasks({ environments }: Registry): void {
  for (const environment of environments) {
    for (const { parameters } of environment.generator?.levels ?? [])
      for (let seed = 0; seed < WARM_UP_TASKS; seed++)
        issueGenerated(environment, { parameters, seed: BigInt(seed), split: "bench" });
  }
}
