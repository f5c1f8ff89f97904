/** Rows of code, read as a pool's are: their Python by the sandbox first. */
import type { CodeInstance } from "../../envs/code/instance.ts";
import { python, readRow } from "../../envs/code/rows.ts";
import type { RowRead } from "../../envs/environment.ts";
import type { Sandbox } from "../../envs/ports.ts";
import { readTexts } from "../../server/outside/sandbox/read-python-tests.ts";
import { PATIENCE_MS } from "./patience.ts";

/** Reads a row, whatever it holds. */
export async function readCodeRow(sandbox: Sandbox, row: unknown): Promise<RowRead<CodeInstance>> {
  const text = python.of(row);
  if (text === undefined) return readRow(row);
  const [found] = await foundIn(sandbox, [text]);
  return readRow(python.told(row, found as string));
}

/** Maximum number of texts in one job, as when pools are read. */
const TEXTS_MAX = 64;

/** Returns the sandbox reader's findings on the texts. */
export async function foundIn(sandbox: Sandbox, texts: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  while (found.length < texts.length) {
    const deadlineMs = Date.now() + PATIENCE_MS;
    const context = { signal: AbortSignal.timeout(PATIENCE_MS), deadlineMs };
    const some = await readTexts(sandbox, texts.slice(found.length, found.length + TEXTS_MAX), context);
    if ("kind" in some) throw new Error(some.detail);
    found.push(...some);
  }
  return found;
}
