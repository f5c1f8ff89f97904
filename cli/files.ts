/** Reads files that options name. */
import { text } from "node:stream/consumers";
import { readTextFile } from "../server/runtime/files.ts";
import { fileProblem, pathTrouble } from "./problem.ts";

/** Returns the text of an option's file. A FIFO or a device is refused at once, as by the server. */
export function readFileOf(option: string, path: string): string {
  try {
    return readTextFile(path);
  } catch (error) {
    throw fileProblem(`${option} must be a file that can be read; got '${path}'${pathTrouble(error)}`, "usage");
  }
}

/** Returns the text of --file, or of standard input if it is undefined. */
export async function completionIn(file: string | undefined): Promise<string> {
  return file === undefined ? text(process.stdin) : readFileOf("--file", file);
}
