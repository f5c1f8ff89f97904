/** Reads one pool's file: whose it is, its rows in units, and what the outside says of them. */
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

/** What is done to a pool's rows: they are read, or checked by asking the outside. */
export type PoolStage = "reading" | "checking";

export interface Reading {
  readonly registry: Registry;
  readonly work: PoolWork;
  readonly name: string;
  readonly file: PoolFile;
  readonly environmentFiles: readonly string[];
  /** Where its columns are kept; undefined: nowhere. */
  readonly folder: string | undefined;
  /** Where it is kept what the outside said of its rows; undefined: nowhere. */
  readonly checksFolder: string | undefined;
  /** What the outside can be asked by. */
  readonly openPorts: OpenPorts;
  readonly onProgress?: ((pool: string, done: number, total: number, stage: PoolStage) => void) | undefined;
}

export interface PoolReport {
  /** It may have no rows. */
  readonly pool: Pool;
  /** Rows of the file that the outside rejected, with the reason of each. */
  readonly failed: ReadonlyMap<number, string>;
  /** Why rows could not be checked; undefined: there are none. */
  readonly failure: string | undefined;
}

/** The pool, or what is wrong with the file. */
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

/** Whose Python is asked about at once: so much of the rows' text is held. */
const UNITS_ASKED_MAX = 4;

/** All units in their order. As many are read at once as there are threads. */
async function readUnits(
  { work, name, file, openPorts, onProgress }: Reading,
  { id: environment, version }: Environment,
  units: FilePlan["units"],
): Promise<readonly UnitColumns[] | string> {
  let done = 0;
  const asking = new PQueue({ concurrency: UNITS_ASKED_MAX });
  /** Rows with Python are read again when a sandbox has read that. */
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
