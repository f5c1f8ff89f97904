/** Entry point of a worker thread: loads the environments, then makes the tasks that the main thread asks for. */
import { workerData } from "piscina";
import { loadEnvironments } from "./load-environments.ts";
import { type LevelCost, makeFirstTasks, runSlice, type Slice, type SliceDone } from "./make-slice.ts";
import type { WorkerData } from "./workers.ts";

const loaded = await loadEnvironments((workerData as WorkerData).environmentFiles);
// The main thread has loaded the same environment files before, so loading fails only if a file was changed since.
if (loaded.kind === "invalid") throw new Error(loaded.message);
const { registry } = loaded;

/** Returns when the thread has started. The main thread calls it to wait for that. */
export function ready(): null {
  return null;
}

export default function make(slice: Slice): SliceDone {
  return runSlice(registry, slice);
}

export function warmUp(): readonly LevelCost[] {
  return makeFirstTasks(registry);
}
