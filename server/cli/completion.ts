/** Completions from files. */
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { CliProblem } from "./problem.ts";

/** What a file holds; undefined: standard input. */
export async function completionIn(file: string | undefined): Promise<string> {
  try {
    return file === undefined ? await text(process.stdin) : readFileSync(file, "utf8");
  } catch (error) {
    const { code = "an unknown error" } = error as NodeJS.ErrnoException;
    throw new CliProblem("usage", `--file must be a file that can be read; got '${file}' (${code})`);
  }
}
