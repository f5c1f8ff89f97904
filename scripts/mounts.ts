/**
 * Writes the table of mounts in docs/guides/mounting.md from the catalogue, server/outside/mounted/catalogue.json.
 * With --python, first mounts each package that this interpreter has, as a server does, tries all of its levels, and
 * writes the figures into the catalogue. With --answers, compares answers with the package's own scorer instead, by
 * bench/mounted/answers.py, and adds the result to the figures. The results of levels are kept in that folder, so that
 * a run that was broken off goes on. With --check, writes nothing, and exits with 1 if the table differs.
 *
 * ```
 * node scripts/mounts.ts [--check] [--python .venv-games/bin/python] [--mount gem] [--answers out/answers]
 * ```
 */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  type MountAnswers,
  mountEntries,
  type MountEntry,
  mountExceptions,
  type MountFound,
  mountHead,
  mountRow,
} from "../server/outside/mounted/mount-table.ts";
import { createProgress } from "../bench/progress.ts";
import { openMounts } from "../server/outside/mounted/open-mounts.ts";

const root = join(import.meta.dirname, "..");
const GUIDE = join(root, "docs/guides/mounting.md");
const CATALOGUE = join(root, "server/outside/mounted/catalogue.json");
const ANSWERS = join(root, "bench/mounted/answers.py");
/** Maximum time in milliseconds to try all levels of a mount. */
const TRIED_MS = 7_200_000;
const [BEGIN, END] = ["<!-- mounts: made by scripts/mounts.ts -->", "<!-- mounts end -->"];

/** Returns the guide's text with the table of these mounts in place of the present one. */
export function withTable(guide: string, entries: readonly MountEntry[]): string {
  const [before, rest] = guide.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`the guide has no lines ${BEGIN} and ${END}`);
  const rows = [mountHead, mountHead.map(() => "---"), ...entries.map(codedRow)];
  const exceptions = mountExceptions(entries);
  const list =
    exceptions.length === 0 ? [] : ["\nLevels without equal scores:\n\n", ...exceptions.map((words) => `- ${words}\n`)];
  const table = rows.map((row) => `| ${row.join(" | ")} |\n`);
  return [before, BEGIN, "\n\n", ...table, ...list, "\n", END, after].join("");
}

/** Returns a row with its mount and its command in backquotes. */
function codedRow(entry: MountEntry): readonly string[] {
  return mountRow(entry).map((cell, i) =>
    cell === entry.mount || (i === mountHead.indexOf("install") && entry.package !== null) ? `\`${cell}\`` : cell,
  );
}

/** Returns the version of a package in an interpreter. Undefined: it is not installed. */
function versionOf(python: string, name: string): string | undefined {
  try {
    const program = "import sys; from importlib.metadata import version; print(version(sys.argv[1]))";
    const stdio: ("ignore" | "pipe")[] = ["ignore", "pipe", "ignore"];
    return execFileSync(python, ["-c", program, name], { encoding: "utf8", stdio }).trim();
  } catch {
    return undefined;
  }
}

/** Mounts something, tries all levels, and returns what is served. Prints what is left out. */
async function found(python: string, mount: string, version: string): Promise<MountFound> {
  const refused = new Set<string>();
  const refuse = ({ name, reason }: { readonly name: string; readonly reason: string }): void => {
    refused.add(name);
    console.log(`left out  ${name}: ${reason}`);
  };
  const mounts = [{ kind: "host", name: mount, target: mount }] as const;
  let progress: ReturnType<typeof createProgress> | undefined;
  const limits = { workers: availableParallelism(), memoryMib: 1024, replacedGraceMs: 60_000 };
  const opened = await openMounts(
    { mounts, python, allow: { read: [], net: [] }, hidden: [], reload: false, ...limits },
    {
      onMount: (report) => report.refused.forEach(refuse),
      onRefused: refuse,
      onFault: (what, why) => console.error(`${what}: ${why}`),
      onProgress: (_, done, total) => {
        progress ??= createProgress(`${mount}, levels tried`, total - done);
        progress.step();
      },
    },
    TRIED_MS,
  );
  progress?.stop();
  if (opened.kind === "invalid") throw new Error(opened.message);
  const served = opened.mounts.environments().map((environment) => ({
    environment,
    levels: environment.levels.filter(({ name }) => !refused.has(`${environment.id}#${name}`)).length,
  }));
  await opened.mounts.close();
  const left = served.filter(({ levels }) => levels > 0);
  return {
    version,
    environments: left.length,
    withTurns: left.filter(({ environment }) => environment.turns !== undefined).length,
    levels: left.reduce((sum, { levels }) => sum + levels, 0),
    axes: left.reduce((sum, { environment }) => sum + (environment.asked?.axes?.length ?? 0), 0),
  };
}

/** Compares answers to a task of each level with the package's own scorer. */
function compared(python: string, mount: string, folder: string): MountAnswers {
  const { status, stdout } = spawnSync(python, [ANSWERS, mount, "--keep", folder], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  // The status is 1 if some scores differ.
  if (status !== 0 && status !== 1) throw new Error(`${ANSWERS} ended with status ${status}`);
  return JSON.parse(stdout) as MountAnswers;
}

/** Returns the figures of a mount. Its levels are measured anew, or with a folder only its answers. */
async function measured(
  python: string,
  { mount, figures }: MountEntry,
  version: string,
  folder: string | undefined,
): Promise<MountFound> {
  const { answers } = figures ?? {};
  if (folder === undefined) return { ...(await found(python, mount, version)), ...(answers && { answers }) };
  if (figures?.version !== version)
    throw new Error(`the levels of ${mount} ${version} are not measured yet: call this without --answers first`);
  return { ...figures, answers: compared(python, mount, folder) };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      check: { type: "boolean", default: false },
      python: { type: "string" },
      mount: { type: "string", multiple: true },
      answers: { type: "string" },
    },
  });
  const { check, python, mount: only, answers: folder } = values;
  const entries: MountEntry[] = [];
  for (const entry of mountEntries) {
    const isAsked = !entry.mount.includes(":") && (only?.includes(entry.mount) ?? true);
    const version = isAsked && python && entry.package ? versionOf(python, entry.package) : undefined;
    if (!python || version === undefined) entries.push(entry);
    else entries.push({ ...entry, figures: await measured(python, entry, version, folder) });
  }
  const guide = readFileSync(GUIDE, "utf8");
  const made = withTable(guide, entries);
  if (check && made !== guide) {
    console.error("docs/guides/mounting.md differs from the catalogue of mounts: run node scripts/mounts.ts");
    process.exitCode = 1;
  }
  if (check) return;
  writeFileSync(GUIDE, made);
  if (python) writeFileSync(CATALOGUE, `${JSON.stringify(entries, undefined, 2)}\n`);
}

if (import.meta.main) await main();
