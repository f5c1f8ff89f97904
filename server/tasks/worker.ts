/** A worker thread: loads the environments, then generates and solves. */
import { workerData } from "piscina";
import { loadEnvironments } from "./environments.ts";
import { makeFirstTasks, runJob } from "./jobs.ts";
import type { MakeResult } from "./task.ts";
import type { MakeJob, WorkerData } from "./workers.ts";

const loaded = await loadEnvironments((workerData as WorkerData).environmentFiles);
// The main thread has loaded the same files: one that fails here alone was changed meanwhile.
if (loaded.kind === "invalid") throw new Error(loaded.message);
const { registry } = loaded;

/** Answers once the thread has booted. */
export function ready(): readonly MakeResult[] {
  return [];
}

export default function make(job: MakeJob): readonly MakeResult[] {
  return runJob(registry, job);
}

export function warmUp(): readonly MakeResult[] {
  makeFirstTasks(registry);
  return [];
}
