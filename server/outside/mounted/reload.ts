/** Files of Python that are mounted again when they change: for who writes an environment while it is served. */
import { watch } from "node:fs";
import { dirname } from "node:path";

/** Editors write a file in several steps. */
const SETTLED_MS = 200;

/**
 * Has each of these files mounted again when a Python file in its folder changes, one change after the other. What is returned
 * ends that.
 */
export function watchFiles(
  files: readonly string[],
  again: (file: string) => Promise<void>,
  onError: (file: string, why: string) => void,
): () => void {
  const ends = files.map((file) => {
    let timer: NodeJS.Timeout | undefined;
    let last = Promise.resolve();
    const changed = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        last = last.then(() => again(file));
      }, SETTLED_MS);
    };
    const watcher = watch(dirname(file), { recursive: true }, (_, name) => {
      if (name === null || name.endsWith(".py")) changed();
    });
    watcher.on("error", (error) => onError(file, `it is not watched any more: ${error.message}`));
    return (): void => {
      clearTimeout(timer);
      watcher.close();
    };
  });
  return () => ends.forEach((end) => end());
}
