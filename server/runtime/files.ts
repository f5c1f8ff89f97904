/** Reads files that the operator names: keys, certificates, tokens, pools, suites. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { ConfigProblem } from "./option-values.ts";

/**
 * Returns the text of a regular file. Throws at once for a FIFO or a device, because reading it might never end. The
 * error's `code` names the problem in a word or two, like the errors of Node.
 */
export function readTextFile(path: string): string {
  const { text } = readOwnedFile(path);
  return text;
}

/** Returns the text of a file that an option names. Throws ConfigProblem if the file cannot be read. */
export function readOptionFile(flag: string, path: string): string {
  try {
    return readTextFile(path);
  } catch (error) {
    const why = error instanceof Error && "code" in error ? String(error.code) : "an unknown error";
    throw new ConfigProblem(`--${flag} must be a file that can be read; got '${path}' (${why})`);
  }
}

/** Returns the text and the permission bits of a regular file. */
export function readOwnedFile(path: string): { readonly text: string; readonly mode: number } {
  // Without O_NONBLOCK, opening a FIFO would wait for a writer.
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() && !stats.isDirectory()) {
      const code = "not a regular file";
      throw Object.assign(new Error(`${code} (a FIFO, a device or a socket): ${path}`), { code });
    }
    return { text: readFileSync(descriptor, "utf8"), mode: stats.mode & 0o777 };
  } finally {
    closeSync(descriptor);
  }
}
