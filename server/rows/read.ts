/** Reads the file of one pool: finds its environment, examines its rows, and checks them by outside resources. */
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
import { type Batch, batchesOf, contentOf, openSource, problemText, type Source, stampOf } from "./source.ts";

/** Stage of a pool's rows: being read, or being checked by outside resources. */
export type PoolStage = "reading" | "checking";

export interface ReaderOptions extends ThreadOptions {
  /** Folder that caches pools; undefined: none. */
  readonly folder: string | undefined;
  /** Opens the resources that check rows. Left out: rows count as unchecked. */
  readonly openPorts?: OpenPorts;
  /** Called with the number of read parts of a pool's file, and then with the number of its checked rows. */
  readonly onProgress?: (pool: string, done: number, total: number, stage: PoolStage) => void;
}

export interface PoolReport {
  /** The pool, which may have no rows. */
  readonly pool: Pool;
  /** Rows of the file that the checks rejected, with the reason of each. */
  readonly failed: ReadonlyMap<number, string>;
  /** Why rows could not be checked; undefined: all were checked. */
  readonly failure: string | undefined;
}

export interface PoolReader {
  /** Returns the pool of a file, which may have no rows, or an error in words. */
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

/** Returns the name under which a pool is cached, made of everything that decides its content. */
async function keptNameOf(
  { file, environmentFiles }: Reading,
  { id: environment, version }: Environment,
  source: Source,
): Promise<string> {
  const ranges = file.selection.map(({ from, to, split }) => [from, to === Infinity ? "end" : to, split ?? "hash"]);
  const selection = JSON.stringify([ranges, file.names, source.format]);
  return keptName({ environment, version, content: await contentOf(source), selection, environmentFiles });
}

/** Maximum number of batches whose Python is parsed at once, which limits how much text is held. */
const BATCHES_ASKED_MAX = 4;

/** Reads all rows, as many batches at once as there are threads, and finishes the pool. */
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

/** Returns a function that reads a batch, and again after a sandbox has parsed the Python of its rows. */
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
