/** Files that commands write: whole, or not at all. */
import {
  accessSync,
  closeSync,
  constants,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "../server/stores/folder.ts";
import { CliProblem, pathTrouble } from "./problem.ts";

function problem(option: string, kind: string, path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !("syscall" in error)) return error;
  const { code } = error as NodeJS.ErrnoException;
  const why = code === "ENOENT" ? ": its folder is not there (ENOENT)" : pathTrouble(error);
  return new CliProblem("failure", `${option} must be a ${kind} that can be written; got '${path}'${why}`);
}

/** Makes a directory, so that a command whose files cannot be written ends before its work. */
export function makeDirectory(option: string, path: string): void {
  try {
    makeFolder(path, 0o777);
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw problem(option, "directory", path, error);
  }
}

/**
 * Ends a command whose file could not be written before its work, which may take long. Leaves nothing behind, so that
 * there is nothing to take away when the work is broken off.
 */
export function checkOut(option: string, path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  // A pipe or a device.
  if (found !== undefined && !found.isFile() && !found.isDirectory()) return;
  try {
    if (found?.isDirectory()) openSync(path, "r+");
    // With its point a file in place of the folder is told, too.
    accessSync(`${dirname(path)}/.`, constants.W_OK);
  } catch (error) {
    throw problem(option, "file", path, error);
  }
}

/**
 * Has a file written by `work`, which is given the path to write to: one beside it that takes its name when all is
 * there, so that a file that looks whole is. It is opened first, so that a command that cannot write it ends before its
 * work. A pipe or a device is written to itself.
 */
export async function withOut<T>(option: string, path: string, work: (path: string) => T | Promise<T>): Promise<T> {
  const direct = statSync(path, { throwIfNoEntry: false })?.isFile() === false;
  const partial = direct ? path : `${path}.partial`;
  try {
    closeSync(openSync(partial, "w"));
    const result = await work(partial);
    if (!direct) renameSync(partial, path);
    return result;
  } catch (error) {
    if (!direct) rmSync(partial, { force: true });
    throw problem(option, "file", path, error);
  }
}

/** Refuses to write to the file that is read: the rows that a command leaves out would be gone. */
export function refuseSame(option: string, read: string, out: string): void {
  if (isSame(read, out)) throw new CliProblem("usage", `${option} must be another file than the one that is read`);
}

function isSame(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}

export function writeOut(option: string, path: string, data: string | Uint8Array): Promise<void> {
  return withOut(option, path, (partial) => writeFileSync(partial, data));
}
