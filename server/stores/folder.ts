import { randomBytes } from "node:crypto";
import { existsSync, linkSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and its parents, all with one mode. Throws if a folder cannot be made. Node's own `recursive` loops
 * for ever if a parent exists but can hold no folder, as in /proc.
 */
export function makeFolder(path: string, mode: number): void {
  const above = dirname(path);
  if (above !== path && !existsSync(above)) makeFolder(above, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // The folder existed, or another process made it first.
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory() === true) return;
    if (found === undefined) throw error;
    throw Object.assign(new Error(`${path} is a file, and a folder is wanted`), { code: "ENOTDIR", syscall: "mkdir" });
  }
}

/**
 * Makes a file that only its owner can read, and that appears with its whole text; returns false if the file exists.
 * Only one of several concurrent processes makes the file.
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
    // A full disk leaves a draft too, and a server that restarts again and again would leave more and more drafts.
    rmSync(draft, { force: true });
  }
}
