/**
 * Locks that are identified by names; at most one caller holds the lock of a name. Among processes, it is an SQLite
 * lock of a file, which the operating system releases when the process ends in any way. So no time limit is needed.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Holds } from "./evaluation-store.ts";
import { makeFolder } from "./folder.ts";
import { isBusy } from "./sqlite-file.ts";

/** Returns locks within this process. */
export function memoryHolds(): Holds {
  const held = new Set<string>();
  return {
    async hold(name) {
      if (held.has(name)) return undefined;
      held.add(name);
      return () => void held.delete(name);
    },
  };
}

/**
 * Returns locks among the processes that share a directory. Their files are empty and never deleted, because deleting
 * one would separate the processes that wait for its lock.
 */
export function fileHolds(directory: string): Holds {
  const folder = join(directory, "holds");
  return {
    async hold(name) {
      makeFolder(folder, 0o700);
      const file = new DatabaseSync(join(folder, `${name}.lock`), { timeout: 0 });
      try {
        file.exec("BEGIN EXCLUSIVE");
        return () => {
          if (file.isOpen) file.close();
        };
      } catch (error) {
        file.close();
        if (isBusy(error)) return undefined;
        throw error;
      }
    },
  };
}
