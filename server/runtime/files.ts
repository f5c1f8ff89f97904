/** Files that the operator names: keys, certificates, tokens, pools, suites. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { ConfigProblem } from "./option-values.ts";

/**
 * The text of a file that is one. A FIFO or a device is refused at once: to read one would wait for a writer that never
 * comes, or never end. The error's `code` says what it is in a word or two, as those of Node do.
 */
export function readTextFile(path: string): string {
  const { text } = readOwnedFile(path);
  return text;
}

/** The text of a file that an option names. Throws ConfigProblem. */
export function readOptionFile(flag: string, path: string): string {
  try {
    return readTextFile(path);
  } catch (error) {
    const why = error instanceof Error && "code" in error ? String(error.code) : "an unknown error";
    throw new ConfigProblem(`--${flag} must be a file that can be read; got '${path}' (${why})`);
  }
}

/** With the permissions of the file that was read. */
export function readOwnedFile(path: string): { readonly text: string; readonly mode: number } {
  // Without O_NONBLOCK to open a FIFO waits too.
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() && !stats.isDirectory()) {
      const code = "not a regular file";
      throw Object.assign(new Error(`${code}, but a FIFO, a device or a socket: ${path}`), { code });
    }
    return { text: readFileSync(descriptor, "utf8"), mode: stats.mode & 0o777 };
  } finally {
    closeSync(descriptor);
  }
}
