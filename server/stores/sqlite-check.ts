/** Checks the runs of a data folder for damage, without changing anything. A server may run meanwhile. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { runSchema, runsIn } from "./sqlite-runs.ts";

const PAGE = 100;
const LOCK_MS_MAX = 5000;
const BYTES_AT_A_TIME = 1024 ** 2;

export interface CheckedRuns {
  readonly checked: number;
  /** Number of events of the checked runs. */
  readonly events: number;
  /** Whether the time limit ended the check before all runs were checked. */
  readonly isCutShort: boolean;
  /** Damaged runs, each with its problem. */
  readonly damaged: readonly { readonly id: string; readonly problem: string }[];
}

/**
 * Checks the checksums of all events, for at most `timeMsMax`. Throws if the file cannot be read at all. Undefined: the
 * file does not exist or has another version.
 */
export function checkRuns(directory: string, timeMsMax: number): CheckedRuns | undefined {
  const path = join(directory, runSchema.file);
  if (!existsSync(path)) return undefined;
  const db = new DatabaseSync(path, { readOnly: true, timeout: LOCK_MS_MAX });
  try {
    const [schema] = db.prepare("PRAGMA user_version").all();
    if (![runSchema.version, runSchema.upgrade?.from].includes(schema?.["user_version"] as number)) return undefined;
    // The SQL statements call now_ms, so it must exist. No statement that runs here needs its value.
    db.function("now_ms", () => 0);
    const { list, read } = runsIn(db).methods;
    const damaged: CheckedRuns["damaged"][number][] = [];
    const endMs = performance.now() + timeMsMax;
    for (let [after, checked, events] = ["", 0, 0]; ;) {
      const { runs, more } = list(after, PAGE);
      for (const { key, id, version } of runs) {
        if (performance.now() > endMs) return { checked, events, isCutShort: true, damaged };
        try {
          for (let [at, more] = [0, 1]; more > 0; at += more) more = read(key, at, BYTES_AT_A_TIME)?.length ?? 0;
        } catch (error) {
          damaged.push({ id, problem: (error as Error).message });
        }
        checked++;
        events += version;
      }
      after = runs.at(-1)?.id ?? "";
      if (!more) return { checked, events, isCutShort: false, damaged };
    }
  } finally {
    db.close();
  }
}
