/** Reads the files that command-line options name. */
import { text } from "node:stream/consumers";
import { readTextFile } from "../server/runtime/files.ts";
import { fileProblem, pathTrouble } from "./problem.ts";

/** Returns the text of an option's file. Refuses a FIFO or a device at once, as the server does. */
export function readFileOf(option: string, path: string): string {
  try {
    return readTextFile(path);
  } catch (error) {
    throw fileProblem(`${option} must be a file that can be read; got '${path}'${pathTrouble(error)}`, "usage");
  }
}

/** Returns the text of the file that --file names. If `file` is undefined, returns the text of standard input. */
export async function completionIn(file: string | undefined): Promise<string> {
  return file === undefined ? text(process.stdin) : readFileOf("--file", file);
}
