/**
 * Keeps, in a file, which levels of mounted environments have passed their examination. While an environment's digest
 * stays the same, a restarted server does not examine them again, and gives their tasks at once.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "./folder.ts";

/** Rules that a level breaks, in words for the operator, and for which it is not refused. */
type Advice = readonly string[];

/** Maximum number of lines, one for each level, that are read from the file. If it has more, the oldest are removed. */
const LINES_MAX = 50_000;

/**
 * Opens the file. `facts` are what else decides whether a level passes, e.g. the version of Gradus. If they differ from
 * those in the file, its levels are removed. `onFault` is called at most once, when the file cannot be used. Then
 * levels are known only until the server stops.
 */
export function openExaminedLevels(path: string, facts: unknown, onFault: (why: string) => void) {
  const head = JSON.stringify(facts);
  const known = new Map<string, Advice>();
  let isBroken = false;
  const guarded = (work: () => void): void => {
    if (isBroken) return;
    try {
      work();
    } catch (error) {
      isBroken = true;
      onFault(`${path}: ${(error as Error).message}: all levels will be examined again after a restart`);
    }
  };
  guarded(() => {
    const [before, ...lines] = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
    // The last element is empty, or a line that a killed server did not finish.
    const kept = before === head ? lines.slice(0, -1).slice(-LINES_MAX) : [];
    for (const line of kept) {
      const [key = "", advice] = line.split("\t");
      known.set(key, advice === undefined ? [] : (JSON.parse(advice) as Advice));
    }
    makeFolder(dirname(path), 0o700);
    const isWhole = before === head && kept.length === lines.length - 1 && lines.at(-1) === "";
    if (!isWhole) writeFileSync(path, [head, ...kept, ""].join("\n"), { mode: 0o600 });
  });
  return {
    /** Returns the advice about a level that has passed. Undefined: it is not known to have passed. */
    get: (key: string) => known.get(key),
    add(key: string, advice: Advice): void {
      if (known.has(key) || /[\t\n]/.test(key)) return;
      known.set(key, advice);
      guarded(() => appendFileSync(path, `${key}${advice.length === 0 ? "" : `\t${JSON.stringify(advice)}`}\n`));
    },
  };
}
