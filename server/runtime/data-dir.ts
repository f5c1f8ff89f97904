/** Where keys, runs and evaluations are kept, where nothing is said. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { ConfigProblem } from "./option-values.ts";

/** A folder of this name where a command is given is taken, as it was before there was one for each user. */
const HERE = ".data";

export const DATA_DIR_WORDS = `${HERE} in the current folder, if there is one; else gradus in XDG_DATA_HOME, which is ~/.local/share unless it is set`;

/** One for each user, so that a task from one folder can be scored in another (XDG Base Directory Specification). */
export function defaultDataDir(env: Readonly<Record<string, string | undefined>>): string {
  if (existsSync(HERE)) return HERE;
  const named = env["XDG_DATA_HOME"] ?? "";
  // The specification has relative paths ignored.
  return join(isAbsolute(named) ? named : join(home(), ".local", "share"), "gradus");
}

/** A container's user may be a number that the system knows nothing of. */
function home(): string {
  try {
    return homedir();
  } catch {
    throw new ConfigProblem(
      "--data-dir (or GRADUS_DATA_DIR) must be given: this user has no home folder that it could lie in",
    );
  }
}
