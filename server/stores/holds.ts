/**
 * Who works on what: a name is held by one at a time. A file is held by a lock of SQLite's, which the system takes back
 * when the process ends, however it ends: no clock says when a hold is over.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Holds } from "./evaluation-store.ts";
import { makeFolder } from "./folder.ts";
import { isBusy } from "./sqlite-file.ts";

/** Within one process. */
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

/** Among the processes that share a directory. Its files are empty, and stay: to delete one would part who waits for it. */
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
