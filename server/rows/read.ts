/** Reads the file of one pool: finds its environment, reads its rows in units, and checks them by outside resources. */
import { setImmediate as nextTurn } from "node:timers/promises";
import PQueue from "p-queue";
import type { Environment } from "../../envs/environment.ts";
import { type Pool, poolOf } from "../../envs/pool.ts";
import type { UnitColumns } from "../../envs/pool-columns.ts";
import type { FinishedPool } from "../../envs/pool-finish.ts";
import { namesProblem } from "../../envs/pool-view.ts";
import type { Registry } from "../../envs/registry.ts";
import { checkPool, type OpenPorts } from "./checks.ts";
import { findOwner } from "./owner.ts";
import { readPython } from "./python.ts";
import type { PoolFile } from "./selection.ts";
import type { Unit } from "./units.ts";
import { type Done, type FilePlan, keptAt, type PoolWork } from "./work.ts";

/** Stage of a pool's rows: being read, or being checked by outside resources. */
export type PoolStage = "reading" | "checking";

export interface Reading {
  readonly registry: Registry;
  readonly work: PoolWork;
  readonly name: string;
  readonly file: PoolFile;
  readonly environmentFiles: readonly string[];
  /** Folder that caches its columns; undefined: none. */
  readonly folder: string | undefined;
  /** Folder that stores the checks of its rows; undefined: none. */
  readonly checksFolder: string | undefined;
  /** Opens the outside resources. */
  readonly openPorts: OpenPorts;
  readonly onProgress?: ((pool: string, done: number, total: number, stage: PoolStage) => void) | undefined;
}

export interface PoolReport {
  /** The pool, which may have no rows. */
  readonly pool: Pool;
  /** Rows of the file that the checks rejected, with the reason of each. */
  readonly failed: ReadonlyMap<number, string>;
  /** Why rows could not be checked; undefined: all were checked. */
  readonly failure: string | undefined;
}

/** Returns the pool, or an error in words. */
export async function readPoolFile(reading: Reading): Promise<PoolReport | string> {
  const { registry, work, name, file, environmentFiles, checksFolder } = reading;
  const planned = await work.plan(file.path);
  if (planned.kind === "problem") return planned.message;
  const { units, ...plan } = planned.value;
  const environment = file.environment ?? (await findOwner(registry, work, file, units));
  if (typeof environment === "string") return environment;
  const misnamed = namesProblem(environment.id, environment.rows ?? {}, file.names);
  if (misnamed !== undefined) return misnamed;
  const request = {
    environment: environment.id,
    version: environment.version,
    path: file.path,
    plan,
    selection: file.selection,
    names: file.names,
    environmentFiles,
  };
  const finished = await finishedPool(reading, environment, units, request);
  if (typeof finished === "string") return finished;
  const hasCheck = environment.rows?.check !== undefined;
  const checked = await checkPool(finished, {
    environment,
    openPorts: reading.openPorts,
    onProgress: (done, total) => reading.onProgress?.(name, done, total, "checking"),
    kept:
      checksFolder === undefined || !hasCheck
        ? undefined
        : { folder: checksFolder, path: keptAt({ ...request, folder: checksFolder }) },
  });
  return { pool: poolOf(environment, name, checked.finished), failed: checked.failed, failure: checked.failure };
}

type Request = Omit<Parameters<PoolWork["finish"]>[0], "units" | "folder">;

async function finishedPool(
  reading: Reading,
  environment: Environment,
  units: FilePlan["units"],
  request: Request,
): Promise<FinishedPool | string> {
  const { work, folder } = reading;
  if (folder !== undefined) {
    const kept = await work.cached({ ...request, folder });
    if (kept.kind === "done" && kept.value !== undefined) return kept.value;
  }
  const read = await readUnits(reading, environment, units);
  if (typeof read === "string") return read;
  const finished = await work.finish({ ...request, folder, units: read });
  return finished.kind === "problem" ? finished.message : finished.value;
}

/** Maximum number of units whose Python is parsed at once, which limits how much text is held. */
const UNITS_ASKED_MAX = 4;

/** Reads all units, in their order, as many at once as there are threads. */
async function readUnits(
  { work, name, file, openPorts, onProgress }: Reading,
  { id: environment, version }: Environment,
  units: FilePlan["units"],
): Promise<readonly UnitColumns[] | string> {
  let done = 0;
  const asking = new PQueue({ concurrency: UNITS_ASKED_MAX });
  /** Rows with Python are read again after a sandbox has parsed it. */
  const readUnit = async (unit: Unit): Promise<Done<UnitColumns>> => {
    const request = { environment, version, unit, names: file.names };
    const read = await work.unit(request);
    if (read.kind === "problem" || read.value.waiting.length === 0) return read;
    return asking.add(async () => {
      const found = await readPython(
        read.value.waiting.map(({ python }) => python),
        openPorts,
      );
      if (typeof found === "string") return { kind: "problem", message: found };
      const byRow = read.value.waiting.map(({ row }, i) => [row, found[i] as string] as const);
      return work.unit({ ...request, found: new Map(byRow) });
    });
  };
  const reads = units.map(async (unit) => {
    await nextTurn();
    const read = await readUnit(unit);
    onProgress?.(name, ++done, units.length, "reading");
    return read;
  });
  const results = await Promise.all(reads);
  const problem = results.find((result) => result.kind === "problem");
  if (problem !== undefined) return problem.message;
  return results.flatMap((result) => (result.kind === "done" ? [result.value] : []));
}
