/** The papers' runs, as the tables of examples/README.md list them: a file of examples/ and the overrides of its fields. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type ChangeFlags, parseRunFile, type RunFile } from "../../cli/run-file.ts";

export const folder = resolve(import.meta.dirname, "../../examples");
export const readme = readFileSync(join(folder, "README.md"), "utf8");
/** The run files of examples/, by name. */
export const files: readonly string[] = readdirSync(folder).filter((name) => name.endsWith(".yaml"));

export interface PaperRun {
  readonly runId: string;
  readonly file: string;
  /** Values of `--set`, in order. */
  readonly set: readonly string[];
}

const ROW = /^\| [^|]+ \| \[([\w.-]+\.yaml)\]\(\1\) \| `([\w.-]+)` \| (?:none|`([^`]+)`) \|$/gm;
const OVERRIDE = /--set (?:'([^']+)'|([^\s'"{}[\]*]+))(?: |$)/g;

function overridesIn(flags: string): readonly string[] {
  if (flags.replaceAll(OVERRIDE, "") !== "") throw new Error(`not overrides as a shell takes them: ${flags}`);
  return [...flags.matchAll(OVERRIDE)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}

export const paperRuns: readonly PaperRun[] = [...readme.matchAll(ROW)].map(
  ([, file = "", runId = "", flags = ""]): PaperRun => ({ runId, file, set: overridesIn(flags) }),
);

/** Reads the file of a run with the run's overrides, and with `more` changes after those. */
export function readPaperRun(runId: string, more: ChangeFlags = {}): RunFile {
  const run = paperRuns.find((each) => each.runId === runId);
  if (run === undefined) throw new Error(`no table of examples/README.md has the run ${runId}`);
  const set = [...run.set, `run_id=${runId}`, ...(more.set ?? [])];
  const result = parseRunFile(run.file, readFileSync(join(folder, run.file), "utf8"), { ...more, set });
  if (result.kind === "invalid") throw new Error(result.problems.join("\n"));
  return result.file;
}
