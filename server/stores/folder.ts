import { randomBytes } from "node:crypto";
import { existsSync, linkSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and its missing parents, all with the same mode. Throws if one cannot be made. Node's own `recursive`
 * option loops for ever if a parent cannot contain folders, as in /proc.
 */
export function makeFolder(path: string, mode: number): void {
  const above = dirname(path);
  if (above !== path && !existsSync(above)) makeFolder(above, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // If the folder exists now, it existed before, or another process has just made it.
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory() === true) return;
    if (found === undefined) throw error;
    throw Object.assign(new Error(`${path} is a file, but must be a folder`), { code: "ENOTDIR", syscall: "mkdir" });
  }
}

/**
 * Makes a file that only its owner can read. Other processes see the whole text or no file. If several processes make
 * the file at once, only one succeeds. Returns false if the file already exists.
 */
export function makeFile(path: string, text: string): boolean {
  makeFolder(dirname(path), 0o700);
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flush: true });
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    // The draft (temporary file) is deleted also after an error. Otherwise each restart on a full disk would leave a
    // draft behind.
    rmSync(draft, { force: true });
  }
}
