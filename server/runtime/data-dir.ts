/** Chooses the data directory if --data-dir is not given: the place of keys, runs and evaluations. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { ConfigProblem } from "./option-values.ts";

/** A folder of this name in the current folder wins, because earlier versions used it. */
const HERE = ".data";

export const DATA_DIR_WORDS = `${HERE} in the current folder, if there is one; else gradus in XDG_DATA_HOME, which is ~/.local/share unless it is set`;

/**
 * Returns the default data directory: one for each user, so that a task from one folder can be scored in another (XDG
 * Base Directory Specification).
 */
export function defaultDataDir(env: Readonly<Record<string, string | undefined>>): string {
  if (existsSync(HERE)) return HERE;
  const named = env["XDG_DATA_HOME"] ?? "";
  // The specification says to ignore relative paths.
  return join(isAbsolute(named) ? named : join(home(), ".local", "share"), "gradus");
}

/**
 * Returns the user's home folder. In a container the user may be a number without an entry in the system, so this may
 * throw.
 */
function home(): string {
  try {
    return homedir();
  } catch {
    throw new ConfigProblem(
      "--data-dir (or GRADUS_DATA_DIR) must be given: this user has no home folder that it could lie in",
    );
  }
}
