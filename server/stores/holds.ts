/**
 * Mutual exclusion by name: each name has one holder at a time. A file is held by an SQLite lock, which the operating
 * system releases when the process ends, however it ends. So no clock decides when a hold is over.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Holds } from "./evaluation-store.ts";
import { makeFolder } from "./folder.ts";
import { isBusy } from "./sqlite-file.ts";

/** Returns holds within one process. */
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
 * Returns holds among the processes that share a directory. The files are empty and stay: a deleted file would separate
 * the processes that wait for its lock.
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
