/** Reads batches of a pool's rows: batches of short files in the calling thread, all others in worker threads. */
import { Piscina } from "piscina";
import { type FoundPython, readUnit, type UnitColumns } from "../../envs/pool-columns.ts";
import { type ColumnNames, wantedColumns } from "../../envs/pool-view.ts";
import type { Registry } from "../../envs/registry.ts";
import { type Batch, problemText, rowsOf } from "./pool-files.ts";

export interface BatchRequest {
  readonly batch: Batch;
  readonly environment: string;
  readonly version: number;
  /** Columns that have another name in the file than in the environment, as given by --column. */
  readonly names: ColumnNames;
  /** Python code of the rows as a sandbox has parsed it. Undefined: no sandbox has parsed the code yet. */
  readonly found?: FoundPython;
}

/** Returns the rows of a batch, or a message about a problem that the operator must fix. */
export type Examine = (request: BatchRequest) => Promise<UnitColumns | string>;

/** Returns a function that reads batches in the calling thread. */
export function examineIn(registry: Registry): Examine {
  return async ({ batch, environment: id, version, names, found }) => {
    const known = registry.find(id, version);
    if (known.kind !== "found") throw new Error(known.message);
    const { environment } = known;
    try {
      const rows = await rowsOf(batch, (there) => wantedColumns(environment.rows ?? {}, names, there));
      return readUnit(environment, rows, names, found);
    } catch (error) {
      return problemText(error);
    }
  };
}

export interface ThreadOptions {
  readonly threads: number;
  /** Files with the operator's own environments, in addition to those of Gradus. */
  readonly environmentFiles: readonly string[];
}

/** Starts worker threads that read batches. */
export function startExaminers({ threads, environmentFiles }: ThreadOptions) {
  const pool = new Piscina<BatchRequest, UnitColumns | string>({
    filename: new URL("./worker.ts", import.meta.url).href,
    workerData: { environmentFiles },
    minThreads: threads,
    maxThreads: threads,
  });
  const examine: Examine = (request) => pool.run(request);
  return { examine, close: () => pool.destroy() };
}
