/**
 * Writes the table of mounts in docs/guides/mounting.md from the catalogue, server/outside/mounted/catalogue.json.
 * With --python, first mounts each package that this interpreter has, as a server does, tries all of its levels, and
 * writes the figures into the catalogue. With --check, writes nothing, and exits with 1 if the table differs.
 *
 * ```
 * node scripts/mounts.ts [--check] [--python .venv-games/bin/python] [--mount gem]
 * ```
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { mountEntries, type MountEntry, type MountFound, mountHead, mountRow } from "../cli/mount-table.ts";
import { openMounts } from "../server/outside/mounted/open-mounts.ts";

const root = join(import.meta.dirname, "..");
const GUIDE = join(root, "docs/guides/mounting.md");
const CATALOGUE = join(root, "server/outside/mounted/catalogue.json");
const [BEGIN, END] = ["<!-- mounts: made by scripts/mounts.ts -->", "<!-- mounts end -->"];

/** Returns the guide's text with the table of these mounts in place of the present one. */
export function withTable(guide: string, entries: readonly MountEntry[]): string {
  const [before, rest] = guide.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`the guide has no lines ${BEGIN} and ${END}`);
  const rows = [mountHead, mountHead.map(() => "---"), ...entries.map(codedRow)];
  return [before, BEGIN, "\n\n", ...rows.map((row) => `| ${row.join(" | ")} |\n`), "\n", END, after].join("");
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
  const limits = { workers: availableParallelism(), memoryMib: 1024, replacedGraceMs: 60_000 };
  const opened = await openMounts(
    { mounts, python, allow: { read: [], net: [] }, hidden: [], reload: false, ...limits },
    {
      onMount: (report) => report.refused.forEach(refuse),
      onRefused: refuse,
      onFault: (what, why) => console.error(`${what}: ${why}`),
    },
  );
  if (opened.kind === "invalid") throw new Error(opened.message);
  while (opened.mounts.figures().some(({ levels }) => (levels.get("untried") ?? 0) > 0)) await setTimeout(1000);
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

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      check: { type: "boolean", default: false },
      python: { type: "string" },
      mount: { type: "string", multiple: true },
    },
  });
  const { check, python, mount: only } = values;
  const entries: MountEntry[] = [];
  for (const entry of mountEntries) {
    const isAsked = !entry.mount.includes(":") && (only?.includes(entry.mount) ?? true);
    const version = isAsked && python && entry.package ? versionOf(python, entry.package) : undefined;
    entries.push(python && version ? { ...entry, figures: await found(python, entry.mount, version) } : entry);
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
