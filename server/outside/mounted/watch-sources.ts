/** Watches the files that a mounted Python file was loaded from, and mounts it again when one changes (`--reload`). */
import { existsSync, type FSWatcher, realpathSync, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname, resolve, sep } from "node:path";
import type { Mount } from "./mount-options.ts";

/** Maximum number of watched files per mounted file. */
const SOURCES_MAX = 1024;

/**
 * Pause, in milliseconds, between the last change event and the check of the files. Editors write a file in several
 * steps.
 */
const SETTLED_MS = 200;
/**
 * Interval, in milliseconds, of checks without a change event. Replaced folders and network file systems send no
 * events.
 */
const LOOK_MS = 2000;

/**
 * Calls `reload` when one of `sources()` was changed, deleted, replaced or created. Calls never overlap, and each is
 * followed by a new call of `sources()`.
 *
 * `sinceMs`, by Date.now(), is a time before the files were first loaded. Returns a function that ends the watch.
 */
export function watchSources(sources: () => readonly string[], reload: () => Promise<void>, sinceMs: number) {
  let seen: ReadonlyMap<string, string> = new Map();
  let watchers: readonly FSWatcher[] = [];
  let settling: NodeJS.Timeout | undefined;
  let isEnded = false;
  const follow = async (loadedMs: number): Promise<void> => {
    const now = await signaturesOf(sources(), loadedMs);
    // At the first check, a missing file counts as changed, because it existed when the mount was loaded.
    const known = (file: string): string | undefined =>
      seen.size === 0 && now.get(file) === "missing" ? "newer" : seen.get(file);
    seen = new Map([...now].map(([file, signature]) => [file, known(file) ?? signature]));
    watchers.forEach((watcher) => watcher.close());
    const folders = isEnded ? [] : [...Map.groupBy(now.keys(), dirname)];
    watchers = folders.flatMap(([folder, files]) => watchFolder(folder, files, soon));
  };
  const lookNow = async (): Promise<void> => {
    // If no file was known at the last check, the mount was not ready, and there is nothing to compare with.
    if (seen.size === 0) return follow(sinceMs);
    const now = await signaturesOf(sources());
    if (isEnded || [...now].every(([file, signature]) => seen.get(file) === signature)) return;
    const beganMs = Date.now();
    seen = now;
    await reload();
    await follow(beganMs);
  };
  let last = follow(sinceMs);
  const look = () => void (last = last.then(lookNow));
  const soon = (): void => {
    clearTimeout(settling);
    settling = setTimeout(look, SETTLED_MS);
  };
  const looks = setInterval(look, LOOK_MS);
  return (): void => {
    isEnded = true;
    clearInterval(looks);
    clearTimeout(settling);
    watchers.forEach((watcher) => watcher.close());
  };
}

/**
 * Watches a folder for changes of `files`. Returns no watcher if the folder cannot be watched, e.g. because it was
 * deleted.
 */
function watchFolder(folder: string, files: readonly string[], onEvent: () => void): readonly FSWatcher[] {
  const names = new Set(files.map((file) => basename(file)));
  try {
    const watcher = watch(folder, (_, name) => (name === null || names.has(name)) && onEvent());
    return [watcher.on("error", () => watcher.close())];
  } catch {
    return [];
  }
}

/**
 * Returns each file's signature (inode, size and times), which changes when the file does. A file that changed after
 * `loadedMs` gets the signature "newer", so that the next check sees a difference.
 */
async function signaturesOf(files: readonly string[], loadedMs = Infinity): Promise<ReadonlyMap<string, string>> {
  const found = files.map(async (file): Promise<[string, string]> => {
    const now = await stat(file, { bigint: true }).catch(() => undefined);
    if (now === undefined) return [file, "missing"];
    const { dev, ino, size, mtimeNs, ctimeNs, ctimeMs } = now;
    return [file, Number(ctimeMs) < loadedMs ? [dev, ino, size, mtimeNs, ctimeNs].join() : "newer"];
  });
  return new Map(await Promise.all(found));
}

/**
 * Returns the mounted file and those of `paths` that lie in its folder. Others are left out, because the paths come
 * from a host, which runs untrusted code.
 */
export function sourcesWithin(mount: Mount, paths: readonly string[]): readonly string[] {
  if (mount.kind === "remote") return [];
  const real = (path: string): string => (existsSync(path) ? realpathSync(path) : path);
  const folder = real(dirname(real(mount.target))) + sep;
  const within = paths.filter((path) => path.startsWith(folder) && resolve(path) === path);
  return [...new Set([mount.target, ...within])].slice(0, SOURCES_MAX);
}
