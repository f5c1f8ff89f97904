/** Entry point of a thread that draws pictures, solves tasks, reads run files or simulates runs, for people. */
import { workerData } from "piscina";
import { loadEnvironments } from "../tasks/making/load-environments.ts";
import type { BackgroundData } from "./background-threads.ts";
import { type BackgroundJob, runJob } from "./background-jobs.ts";

const loaded = await loadEnvironments((workerData as BackgroundData).environmentFiles);
// The main thread loaded the same files, so a file that fails here was changed in the meantime.
if (loaded.kind === "invalid") throw new Error(loaded.message);
const { registry } = loaded;

export default function run(job: BackgroundJob): unknown {
  return runJob(registry, job);
}
