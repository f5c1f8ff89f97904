/** Completions from files. */
import { text } from "node:stream/consumers";
import { readFileOf } from "./files.ts";

/** What a file holds; undefined: standard input. */
export async function completionIn(file: string | undefined): Promise<string> {
  return file === undefined ? text(process.stdin) : readFileOf("--file", file);
}
