/** Reads the files of pools: small ones here, large ones in threads, which are started for the first of them. */
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
  /** Modules of environments beside Gradus's own. */
  readonly environmentFiles: readonly string[];
  /** Where pools that were read once are kept; undefined: nowhere. */
  readonly folder: string | undefined;
  /** What rows are checked with. Left out: nothing, and they count as unchecked. */
  readonly openPorts?: OpenPorts;
  /** Told how many parts of a pool's file are read, then how many of its rows are checked. */
  readonly onProgress?: (pool: string, done: number, total: number, stage: PoolStage) => void;
}

/** Up to here a file of lines is read in this thread: one would take longer to start. */
const READ_HERE_BYTES = 256 * 1024;

/** What is read at a stretch here: some milliseconds of work. */
const STRETCH_BYTES = 16 * 1024;

export interface PoolReader {
  /** The pool of a file, which may have no rows, or what is wrong with the file. */
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

/** What cannot be looked at is left to who reads it. */
function readsHere(path: string): boolean {
  try {
    const stats = statSync(path);
    if (stats.isDirectory()) return false;
    return !stats.isFile() || (stats.size <= READ_HERE_BYTES && isPlain(path));
  } catch {
    return true;
  }
}
