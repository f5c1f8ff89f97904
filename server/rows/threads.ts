/** Starts threads that read files of pools, and ends them when all are read. */
import { Piscina } from "piscina";
import { buffersOf, type Done, type PoolWork } from "./work.ts";

export interface PoolThreads {
  readonly work: PoolWork;
  close(): Promise<void>;
}

export interface PoolThreadOptions {
  readonly threads: number;
  readonly environmentFiles: readonly string[];
}

export function startPoolThreads({ threads, environmentFiles }: PoolThreadOptions): PoolThreads {
  const pool = new Piscina<unknown, Done<never>>({
    filename: new URL("./worker.ts", import.meta.url).href,
    workerData: { environmentFiles },
    minThreads: threads,
    maxThreads: threads,
  });
  return {
    work: {
      plan: (path) => pool.run(path, { name: "plan" }),
      unit: (request) => pool.run(request, { name: "unit" }),
      cached: (request) => pool.run(request, { name: "cached" }),
      finish: (request) => pool.run(request, { name: "finish", transferList: request.units.flatMap(buffersOf) }),
    },
    close: () => pool.destroy(),
  };
}
