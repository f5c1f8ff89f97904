/**
 * Reads the file of one pool: finds its environment, reads its rows, and lets resources (e.g. the sandbox) check them.
 */
import { join } from "node:path";
import PQueue from "p-queue";
import type { Environment } from "../../envs/environment.ts";
import { type Pool, poolOf } from "../../envs/pool.ts";
import type { UnitColumns } from "../../envs/pool-columns.ts";
import { fileProblem, type FinishedPool, finishPool } from "../../envs/pool-finish.ts";
import { namesProblem } from "../../envs/pool-view.ts";
import type { Registry } from "../../envs/registry.ts";
import { keptName, readKept, writeKept } from "./cache.ts";
import { checkPool, type OpenPorts } from "./checks.ts";
import { type Examine, examineIn, startExaminers, type ThreadOptions } from "./examine.ts";
import { findOwner } from "./owner.ts";
import { readPython } from "./python.ts";
import type { PoolFile } from "./selection.ts";
import { type Batch, batchesOf, contentOf, openSource, problemText, type Source, stampOf } from "./pool-files.ts";

/**
 * Stage of loading a pool. "reading": its rows are read from the file. "checking": a resource, e.g. the sandbox, checks
 * them.
 */
export type PoolStage = "reading" | "checking";

export interface ReaderOptions extends ThreadOptions {
  /** Folder that caches pools. Undefined: pools are not cached. */
  readonly folder: string | undefined;
  /** Opens the resources that check rows. Undefined: rows are not checked. */
  readonly openPorts?: OpenPorts;
  /**
   * Called with the progress of each stage: the number of parts of the file that were read, then the number of rows
   * that were checked.
   */
  readonly onProgress?: (pool: string, done: number, total: number, stage: PoolStage) => void;
}

export interface PoolReport {
  /** Pool that was read. It may have no rows. */
  readonly pool: Pool;
  /** Reason for each row that the checks rejected, by the row's number in the file. */
  readonly failed: ReadonlyMap<number, string>;
  /** Reason why the first unchecked row could not be checked. Undefined: all were checked. */
  readonly failure: string | undefined;
}

export interface PoolReader {
  /** Reads the pool of a file. Returns the pool, which may have no rows, or an error message. */
  read(name: string, file: PoolFile): Promise<PoolReport | string>;
  close(): Promise<void>;
}

const noPorts: OpenPorts = async () => ({ ports: {}, missing: {} });

export function createPoolReader(registry: Registry, options: ReaderOptions): PoolReader {
  const here = examineIn(registry);
  let threads: ReturnType<typeof startExaminers> | undefined;
  return {
    async read(name, file) {
      const examineOf = ({ isShort }: Source) => (isShort ? here : (threads ??= startExaminers(options)).examine);
      return readPoolFile({ ...options, registry, name, file, here, examineOf });
    },
    close: async () => threads?.close(),
  };
}

interface Reading extends ReaderOptions {
  readonly registry: Registry;
  readonly name: string;
  readonly file: PoolFile;
  readonly here: Examine;
  readonly examineOf: (source: Source) => Examine;
}

async function readPoolFile(reading: Reading): Promise<PoolReport | string> {
  const { registry, name, file, here, folder, openPorts = noPorts, onProgress } = reading;
  const opened = await openSource(file.path).catch(problemText);
  if (typeof opened === "string") return opened;
  const environment = file.environment ?? (await findOwner(registry, here, file, opened).catch(problemText));
  if (typeof environment === "string") return environment;
  const misnamed = namesProblem(environment.id, environment.rows ?? {}, file.names);
  if (misnamed !== undefined) return misnamed;
  const path = folder && join(folder, await keptNameOf(reading, environment, opened));
  const isKept = path !== undefined && !opened.isShort;
  let finished = isKept ? readKept<FinishedPool>(`${path}.pool`) : undefined;
  if (finished === undefined) {
    const read = await readRows(reading, environment, opened).catch(problemText);
    if (typeof read === "string") return read;
    finished = read;
    if (isKept) writeKept(`${path}.pool`, finished);
  }
  const checked = await checkPool(finished, {
    environment,
    openPorts,
    onProgress: (done, total) => onProgress?.(name, done, total, "checking"),
    kept: path && `${path}.checks`,
  });
  return { pool: poolOf(environment, name, checked.finished), failed: checked.failed, failure: checked.failure };
}

/**
 * Returns the name under which a pool is cached. The name contains a hash of everything that decides the pool's
 * content.
 */
async function keptNameOf(
  { file, environmentFiles }: Reading,
  { id: environment, version }: Environment,
  source: Source,
): Promise<string> {
  const ranges = file.selection.map(({ from, to, split }) => [from, to === Infinity ? "end" : to, split ?? "hash"]);
  const selection = JSON.stringify([ranges, file.names, source.format]);
  return keptName({ environment, version, content: await contentOf(source), selection, environmentFiles });
}

/** Maximum number of batches whose Python code is parsed at once, so that not too much text is in memory. */
const BATCHES_ASKED_MAX = 4;

/** Reads all rows of a file and builds the pool. Batches are read in parallel by the threads. */
async function readRows(reading: Reading, environment: Environment, source: Source): Promise<FinishedPool | string> {
  const { name, file, threads, onProgress } = reading;
  const examine = examinerOf(reading, environment, reading.examineOf(source));
  const queue = new PQueue({ concurrency: threads + BATCHES_ASKED_MAX });
  const results: Promise<UnitColumns | string>[] = [];
  let [begun, done] = [0, 0];
  try {
    for await (const batch of batchesOf(source)) {
      await queue.onSizeLessThan(1);
      const parts = batch.part - begun;
      begun = batch.part;
      const read = queue.add(async () => {
        const rows = await examine(batch);
        onProgress?.(name, (done += parts), source.parts, "reading");
        return rows;
      });
      results.push(read);
    }
  } finally {
    await queue.onIdle();
  }
  const units: UnitColumns[] = [];
  for (const unit of await Promise.all(results)) {
    if (typeof unit === "string") return unit;
    units.push(unit);
  }
  if (stampOf(source.path) !== source.stamp) return "it was written to while it was read: try again";
  return fileProblem(units, file.names) ?? finishPool(environment, units, file.selection, source.format === "lines");
}

/**
 * Returns a function that reads a batch. If rows contain Python code, a sandbox parses the code, and the batch is read
 * again with the findings.
 */
function examinerOf(
  { file, openPorts = noPorts }: Reading,
  { id: environment, version }: Environment,
  examine: Examine,
): (batch: Batch) => Promise<UnitColumns | string> {
  const asking = new PQueue({ concurrency: BATCHES_ASKED_MAX });
  return async (batch) => {
    const request = { environment, version, batch, names: file.names };
    const read = await examine(request);
    if (typeof read === "string" || read.waiting.length === 0) return read;
    return asking.add(async () => {
      const found = await readPython(
        read.waiting.map(({ python }) => python),
        openPorts,
      );
      if (typeof found === "string") return found;
      return examine({ ...request, found: new Map(read.waiting.map(({ row }, i) => [row, found[i] as string])) });
    });
  };
}
