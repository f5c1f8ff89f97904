/** Files that options name. */
import { text } from "node:stream/consumers";
import { readTextFile } from "../server/runtime/files.ts";
import { fileProblem, pathTrouble } from "./problem.ts";

/** What the file of an option holds. A FIFO or a device is refused at once, as by the server. */
export function readFileOf(option: string, path: string): string {
  try {
    return readTextFile(path);
  } catch (error) {
    throw fileProblem(`${option} must be a file that can be read; got '${path}'${pathTrouble(error)}`, "usage");
  }
}

/** What the file of --file holds; undefined: standard input. */
export async function completionIn(file: string | undefined): Promise<string> {
  return file === undefined ? text(process.stdin) : readFileOf("--file", file);
}
