/** Writes files completely or not at all. */
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

/**
 * Makes a directory and checks that it can be written. A command with an unusable directory thus fails before its work.
 */
export function makeDirectory(option: string, path: string): void {
  try {
    makeFolder(path, 0o777);
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw problem(option, "directory", path, error);
  }
}

/**
 * Fails if a file cannot be written. Called before work that may take long. Leaves no file behind, so that an
 * interrupted command needs no cleanup.
 */
export function checkOut(option: string, path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  // Accept an existing pipe or device without a check.
  if (found !== undefined && !found.isFile() && !found.isDirectory()) return;
  try {
    if (found?.isDirectory()) openSync(path, "r+");
    // Append "/." so that the check also fails if the parent of `path` is a file.
    accessSync(`${dirname(path)}/.`, constants.W_OK);
  } catch (error) {
    throw problem(option, "file", path, error);
  }
}

/**
 * Writes a file by calling `work` with the path of a temporary file, which is then renamed to the final name. The
 * temporary file is opened first, so that a command that cannot write fails before its work. Pipes and devices are
 * written directly.
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

/** Refuses an output path that is also the input, because rows that the command leaves out would be lost. */
export function refuseSame(option: string, read: string, out: string): void {
  if (isSame(read, out)) throw new CliProblem("usage", `${option} must not be the file that is read: choose another`);
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
