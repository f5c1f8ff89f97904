/**
 * Keeps the new scores in a folder, a line for each group in the order of the groups. A command that was killed goes on
 * after the last whole line.
 */
import { appendFileSync, existsSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { fileHolds } from "../../server/stores/holds.ts";
import { writeOut } from "../out.ts";
import { CliProblem } from "../problem.ts";
import type { ScoredGroup } from "./score.ts";

/** Locks the folder for this command. The operating system releases the lock when the process ends. */
export async function holdFolder(folder: string): Promise<() => void> {
  const release = await fileHolds(folder).hold("rescore");
  if (release !== undefined) return release;
  throw new CliProblem(
    "failure",
    `another command is writing to '${folder}': wait until it ends, or give another --out`,
  );
}

/** Returns the path of the copy of a server's completions in a folder. */
export function copyIn(folder: string): string {
  return join(folder, "samples.jsonl");
}

/** Opens the journal of a folder. Refuses a folder with scores of other completions, or under other settings. */
export async function openJournal(folder: string, settings: object) {
  const [head, path] = [join(folder, "settings.json"), join(folder, "scores.jsonl")];
  const text = `${JSON.stringify(settings, undefined, 2)}\n`;
  const groups = wholeLines(path);
  if (!existsSync(head) || readFileSync(head, "utf8") !== text) {
    if (groups.length > 0)
      throw new CliProblem("usage", `'${folder}' has scores of other completions or settings: give another --out`);
    // Remove the copied completions of an earlier command, which had other settings and failed before its first score,
    // e.g. because a setting was misspelt.
    rmSync(copyIn(folder), { force: true });
    await writeOut("--out", head, text);
  }
  return {
    /** New scores so far, from the first group on. */
    groups,
    add(scored: readonly ScoredGroup[]): void {
      appendFileSync(path, scored.map((group) => `${JSON.stringify(group, written)}\n`).join(""));
      groups.push(...scored);
    },
  };
}

/** Text that stands for -0, which JSON.stringify would write as 0. */
const MINUS_ZERO = "-0";
const written = (_: string, value: unknown): unknown => (Object.is(value, -0) ? MINUS_ZERO : value);
const read = (_: string, value: unknown): unknown => (value === MINUS_ZERO ? -0 : value);

/** Returns the whole lines of the file, and cuts off the rest of a line whose writing was interrupted. */
function wholeLines(path: string): ScoredGroup[] {
  if (!existsSync(path)) return [];
  const bytes = readFileSync(path);
  const end = bytes.lastIndexOf("\n") + 1;
  if (end < bytes.length) truncateSync(path, end);
  const lines = bytes.toString("utf8", 0, end).split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line, read) as ScoredGroup);
}
