/** Files that options name. */
import { readTextFile } from "../server/runtime/files.ts";
import { CliProblem } from "./problem.ts";

/** What the file of an option holds. A FIFO or a device is refused at once, as by the server. */
export function readFileOf(option: string, path: string): string {
  try {
    return readTextFile(path);
  } catch (error) {
    const { code = "an unknown error" } = error as NodeJS.ErrnoException;
    throw new CliProblem("usage", `${option} must be a file that can be read; got '${path}' (${code})`);
  }
}
