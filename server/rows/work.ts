/** The steps of reading a pool's file: done in threads, or in this thread if the file is small. */
import { createHash } from "node:crypto";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import type { Environment } from "../../envs/environment.ts";
import { type FoundPython, readUnit, type UnitColumns } from "../../envs/pool-columns.ts";
import { fileProblem, type FinishedPool, finishPool, type RowRange } from "../../envs/pool-finish.ts";
import { type ColumnNames, wantedColumns } from "../../envs/pool-view.ts";
import type { Registry } from "../../envs/registry.ts";
import { cachePath, codeDigest, readCache, writeCache } from "./cache.ts";
import { PoolFileProblem } from "./formats/bytes.ts";
import { filesOf, layOut, type Layout, rowsOf, type Unit } from "./units.ts";

/** A file's format and parts, before its rows are read. */
export interface FilePlan {
  readonly units: readonly Unit[];
  readonly format: Layout["format"];
  /** SHA-256 of its bytes. */
  readonly content: string;
  /** Sizes and times of its files, which reveal a write during the reading. */
  readonly stamp: string;
  /** Whether its rows are lines. */
  readonly lines: boolean;
}

export interface ReaderName {
  readonly environment: string;
  readonly version: number;
}

export interface UnitRequest extends ReaderName {
  readonly unit: Unit;
  /** Columns that the operator gave another name. */
  readonly names: ColumnNames;
  /** Findings of a sandbox in the Python of its rows. Left out: the sandbox was not asked yet. */
  readonly found?: FoundPython;
}

export interface FinishRequest extends ReaderName {
  readonly path: string;
  readonly plan: Omit<FilePlan, "units">;
  readonly units: readonly UnitColumns[];
  readonly selection: readonly RowRange[];
  readonly names: ColumnNames;
  /** Folder that caches the pool; undefined: none. */
  readonly folder: string | undefined;
  readonly environmentFiles: readonly string[];
}

export type CachedRequest = Omit<FinishRequest, "units" | "folder"> & { readonly folder: string };

/** The result, or the problem that the operator has to mend. */
export type Done<T> =
  { readonly kind: "done"; readonly value: T } | { readonly kind: "problem"; readonly message: string };

export interface PoolWork {
  plan(path: string): Promise<Done<FilePlan>>;
  unit(request: UnitRequest): Promise<Done<UnitColumns>>;
  finish(request: FinishRequest): Promise<Done<FinishedPool>>;
  /** Undefined: the pool is not cached. */
  cached(request: CachedRequest): Promise<Done<FinishedPool | undefined>>;
}

/** Returns the buffers of columns, to hand them to another thread. */
export function buffersOf(columns: object): readonly ArrayBuffer[] {
  return Object.values(columns).flatMap((column: unknown) =>
    ArrayBuffer.isView(column) ? [column.buffer as ArrayBuffer] : [],
  );
}

const READ_BYTES = 1 << 20;

/** Creates the steps. `unitBytes` is the size of a text's unit; left out: the usual size. */
export function poolWork(registry: Registry, unitBytes?: number): PoolWork {
  return {
    plan: (path) => attempt(() => planOf(path, unitBytes)),
    unit: ({ unit, names, found, ...reader }) =>
      attempt(async () => {
        const environment = environmentOf(registry, reader);
        const choose = (there: readonly string[]) => wantedColumns(environment.rows ?? {}, names, there);
        return readUnit(environment, await rowsOf(unit, choose), names, found);
      }),
    finish: (request) =>
      attempt(() => {
        const { path, plan, units, selection, names, folder } = request;
        if (stampOf(path) !== plan.stamp) throw new PoolFileProblem("it was written to while it was read: try again");
        const environment = environmentOf(registry, request);
        const problem = fileProblem(units, names);
        if (problem !== undefined) throw new PoolFileProblem(problem);
        const finished = finishPool(environment, units, selection, plan.lines);
        if (folder !== undefined) writeCache(folder, keptAt({ ...request, folder }), finished);
        return finished;
      }),
    cached: (request) => attempt(() => readCache(keptAt(request))),
  };
}

async function attempt<T>(work: () => T | Promise<T>): Promise<Done<T>> {
  try {
    return { kind: "done", value: await work() };
  } catch (error) {
    return { kind: "problem", message: problemText(error) };
  }
}

/**
 * Returns why a file cannot be read, in words. The Parquet library throws plain errors for files that are not Parquet.
 */
export function problemText(error: unknown): string {
  if (error instanceof PoolFileProblem) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code === "string") return `the file cannot be read (${code})`;
  return `the file cannot be read (${error instanceof Error ? error.message : String(error)})`;
}

function environmentOf(registry: Registry, { environment, version }: ReaderName): Environment {
  const found = registry.find(environment, version);
  if (found.kind !== "found") throw new Error(found.message);
  return found.environment;
}

/** Returns a file's format and parts; throws if it cannot be read. */
export async function planOf(path: string, unitBytes: number | undefined): Promise<FilePlan> {
  const stamp = stampOf(path);
  const { format, files, units } = await layOut(path, unitBytes);
  return { units, format, content: contentOf(files), stamp, lines: format === "lines" };
}

function stampOf(path: string): string {
  const stamps = filesOf(path).map((file) => {
    const { size, mtimeMs, ino } = statSync(file);
    return `${ino} ${size} ${mtimeMs}`;
  });
  return stamps.join(" ");
}

function contentOf(files: readonly string[]): string {
  const digest = createHash("sha256");
  const bytes = Buffer.alloc(READ_BYTES);
  for (const file of files) {
    const descriptor = openSync(file, "r");
    try {
      for (let read = readSync(descriptor, bytes); read > 0; read = readSync(descriptor, bytes))
        digest.update(bytes.subarray(0, read));
    } finally {
      closeSync(descriptor);
    }
  }
  return digest.digest("hex");
}

/** Returns the path of a cached pool in a folder, by everything that decides its content. */
export function keptAt(request: CachedRequest): string {
  const { environment, version, plan, selection, names, folder, environmentFiles } = request;
  const ranges = selection.map(({ from, to, split }) => [from, to === Infinity ? "end" : to, split ?? "hash"]);
  const key = { environment, version, content: plan.content, selection: JSON.stringify([ranges, names, plan.format]) };
  return cachePath(folder, { ...key, code: codeDigest(environmentFiles) });
}
