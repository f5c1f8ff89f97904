/** The worker thread that reads files of pools. */
import { move, transferableSymbol, valueSymbol, workerData } from "piscina";
import { loadEnvironments } from "../tasks/making/load-environments.ts";
import {
  buffersOf,
  type CachedRequest,
  type Done,
  type FilePlan,
  type FinishRequest,
  poolWork,
  type UnitRequest,
} from "./work.ts";

const { environmentFiles } = workerData as { readonly environmentFiles: readonly string[] };
const loaded = await loadEnvironments(environmentFiles);
// The main thread has loaded the same files, so a file that fails only here was changed meanwhile.
if (loaded.kind === "invalid") throw new Error(loaded.message);
const work = poolWork(loaded.registry);

export function plan(path: string): Promise<Done<FilePlan>> {
  return work.plan(path);
}

export async function unit(request: UnitRequest): Promise<unknown> {
  const done = await work.unit(request);
  return done.kind === "done" ? moved(done, done.value) : done;
}

export async function finish(request: FinishRequest): Promise<unknown> {
  const done = await work.finish(request);
  return done.kind === "done" ? moved(done, done.value.columns) : done;
}

export async function cached(request: CachedRequest): Promise<unknown> {
  const done = await work.cached(request);
  return done.kind === "done" && done.value !== undefined ? moved(done, done.value.columns) : done;
}

/** Hands the columns over without copying them. */
function moved(done: object, columns: object): unknown {
  return move({ [transferableSymbol]: buffersOf(columns), [valueSymbol]: done });
}
