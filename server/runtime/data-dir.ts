/** Chooses the data directory if --data-dir is not given. It holds keys, runs and evaluations. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { ConfigProblem } from "./option-values.ts";

/** Name of the data directory of earlier versions. If such a folder exists in the current folder, it is used. */
const HERE = ".data";

export const DATA_DIR_WORDS = `${HERE} in the current folder, if there is one; else gradus in XDG_DATA_HOME, which is ~/.local/share unless it is set`;

/**
 * Returns the default data directory. Each user has one, so that a task made in one folder can be scored in another
 * (XDG Base Directory Specification).
 */
export function defaultDataDir(env: Readonly<Record<string, string | undefined>>): string {
  if (existsSync(HERE)) return HERE;
  const named = env["XDG_DATA_HOME"] ?? "";
  // The specification says to ignore relative paths.
  return join(isAbsolute(named) ? named : join(home(), ".local", "share"), "gradus");
}

/**
 * Returns the user's home folder. May throw: in a container, the user may be a number that the system does not know.
 */
function home(): string {
  try {
    return homedir();
  } catch {
    throw new ConfigProblem(
      "--data-dir (or GRADUS_DATA_DIR) must be given: this user has no home folder for the default directory",
    );
  }
}
