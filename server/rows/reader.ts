/** Reads the files of pools: small ones in this thread, large ones in threads, which start for the first large file. */
import { statSync } from "node:fs";
import type { Registry } from "../../envs/registry.ts";
import type { OpenPorts } from "./checks.ts";
import { type PoolReport, type PoolStage, readPoolFile } from "./read.ts";
import type { PoolFile } from "./selection.ts";
import { type PoolThreads, startPoolThreads } from "./threads.ts";
import { isPlain } from "./units.ts";
import { poolWork } from "./work.ts";

export interface ReaderOptions {
  readonly threads: number;
  /** Modules of environments, in addition to Gradus's own. */
  readonly environmentFiles: readonly string[];
  /** Folder that caches pools; undefined: none. */
  readonly folder: string | undefined;
  /** Opens the resources that check rows. Left out: rows count as unchecked. */
  readonly openPorts?: OpenPorts;
  /** Called with the number of read parts of a pool's file, and then with the number of its checked rows. */
  readonly onProgress?: (pool: string, done: number, total: number, stage: PoolStage) => void;
}

/** Maximum bytes of a text file that is read in this thread: starting a thread would take longer. */
const READ_HERE_BYTES = 256 * 1024;

/** Bytes that this thread reads at a time: some milliseconds of work. */
const STRETCH_BYTES = 16 * 1024;

export interface PoolReader {
  /** Returns the pool of a file, which may have no rows, or an error in words. */
  read(name: string, file: PoolFile): Promise<PoolReport | string>;
  close(): Promise<void>;
}

const noPorts: OpenPorts = async () => ({ ports: {}, missing: {} });

export function createPoolReader(registry: Registry, options: ReaderOptions): PoolReader {
  const { environmentFiles, folder, openPorts = noPorts, onProgress } = options;
  let threads: PoolThreads | undefined;
  return {
    read(name, file) {
      const isSmall = readsHere(file.path);
      const work = isSmall ? poolWork(registry, STRETCH_BYTES) : (threads ??= startPoolThreads(options)).work;
      const folders = { folder: isSmall ? undefined : folder, checksFolder: folder };
      return readPoolFile({ registry, work, name, file, environmentFiles, ...folders, openPorts, onProgress });
    },
    close: async () => threads?.close(),
  };
}

/** Returns whether a file is read in this thread. If the file cannot be examined, the reader reports why. */
function readsHere(path: string): boolean {
  try {
    const stats = statSync(path);
    if (stats.isDirectory()) return false;
    return !stats.isFile() || (stats.size <= READ_HERE_BYTES && isPlain(path));
  } catch {
    return true;
  }
}
