/** Files that commands write: whole, or not at all. */
import { accessSync, constants, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { CliProblem } from "./problem.ts";

function refuse(option: string, kind: string, path: string, error: unknown): never {
  const { code = "an unknown error" } = error as NodeJS.ErrnoException;
  throw new CliProblem("usage", `${option} must be a ${kind} that can be written; got '${path}' (${code})`);
}

/** What is there; undefined: nothing. */
const found = (path: string) => statSync(path, { throwIfNoEntry: false });

/** Ends the command before its work if what it makes could not be written here. */
export function checkFile(option: string, path: string): void {
  try {
    const there = found(path);
    if (there?.isDirectory() === true) throw Object.assign(new Error("a directory"), { code: "EISDIR" });
    accessSync(there === undefined ? dirname(path) : path, constants.W_OK);
  } catch (error) {
    refuse(option, "file", path, error);
  }
}

/** The same for a directory, which is made. */
export function makeDirectory(option: string, path: string): void {
  try {
    mkdirSync(path, { recursive: true });
    accessSync(path, constants.W_OK);
  } catch (error) {
    refuse(option, "directory", path, error);
  }
}

/** Writes a file under another name first, so that half of it never stands under its own. */
export function writeOut(option: string, path: string, data: string | Uint8Array): void {
  // A pipe or a device takes what it is given, and cannot be replaced.
  const direct = found(path)?.isFile() === false;
  const partial = direct ? path : `${path}.${process.pid}.partial`;
  try {
    writeFileSync(partial, data);
    if (!direct) renameSync(partial, path);
  } catch (error) {
    if (!direct) rmSync(partial, { force: true });
    refuse(option, "file", path, error);
  }
}
