import { randomBytes } from "node:crypto";
import { existsSync, linkSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it, all of one mode. Throws why it cannot be. Node's own `recursive` goes on for ever
 * where the folder above is there and can hold none, as in /proc.
 */
export function makeFolder(path: string, mode: number): void {
  const above = dirname(path);
  if (above !== path && !existsSync(above)) makeFolder(above, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // It was there, or another process was first.
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory() === true) return;
    if (found === undefined) throw error;
    throw Object.assign(new Error(`${path} is a file, and a folder is wanted`), { code: "ENOTDIR", syscall: "mkdir" });
  }
}

/**
 * Makes a file for its owner only, which appears whole; false: there is one. Of several processes that do this at once one
 * makes it.
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
    // A full disk leaves one too, and a server that is started again and again would leave more and more of them.
    rmSync(draft, { force: true });
  }
}
