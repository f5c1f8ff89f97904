/**
 * Reads the tests of programming tasks that are written in Python, by Python's own parser. The program that parses the
 * tests (python/reader.py) itself runs in the sandbox.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Failed, unavailable } from "../../../envs/facts.ts";
import { escaped } from "../../../envs/lib/escape.ts";
import type { AskContext, Sandbox, SandboxResult } from "../../../envs/ports.ts";

/**
 * Processor time for reading one text of tests, in milliseconds. It is ten times what the largest allowed text needs.
 */
const CPU_MS_MAX = 10_000;

/** Modules that python/reader.py imports, in the order in which they must be loaded. */
const MODULES = ["constants", "meanings"];
const FILES = [...MODULES, "reader"].map((name) => new URL(`python/${name}.py`, import.meta.url));

/** Paths of the files that decide how tests are read. Cached tests are read again when one of these files changes. */
export const readerFiles: readonly string[] = FILES.map((url) => fileURLToPath(url));

/** Joins the reader and its modules into one program, since the sandbox runs a single file. */
function programOf(): string {
  const sources = FILES.map((url) => readFileSync(url, "utf8"));
  const made = MODULES.map((name, i) => {
    const source = Buffer.from(sources[i] as string).toString("base64");
    return `sys.modules["${name}"] = types.ModuleType("${name}")\nexec(base64.b64decode("${source}"), sys.modules["${name}"].__dict__)`;
  });
  return ["import base64, sys, types", ...made, sources.at(-1)].join("\n");
}

let program: string | undefined;

/** Returns the reader's output for each text of tests, in order. Returns Failed if the sandbox failed. */
export async function readTexts(
  sandbox: Sandbox,
  texts: readonly string[],
  context: AskContext,
): Promise<readonly string[] | Failed> {
  program ??= programOf();
  const found: string[] = [];
  while (found.length < texts.length) {
    const cases = texts.slice(found.length).map((text) => ({ kind: "call", name: "read", args: [text] }) as const);
    const reply = await sandbox.ask({ program, cases, cpuMsMax: CPU_MS_MAX }, context);
    if (reply.kind === "failed") return reply;
    const { results } = reply;
    if (results.length !== cases.length) return miscounted(results.length, cases.length);
    // A text on which the reader fails may also spoil the results of the texts after it. So only the results before
    // that text are used, and the rest is read again. If the first text of a job fails, it counts as unreadable.
    const broken = results.findIndex(({ kind }) => kind !== "returned");
    found.push(...results.slice(0, broken < 0 ? results.length : Math.max(1, broken)).map(foundIn));
  }
  return found;
}

function miscounted(results: number, texts: number): Failed {
  return unavailable("sandbox", `the sandbox returned ${results} results for ${texts} texts`);
}

function foundIn(result: SandboxResult): string {
  if (result.kind === "returned" && typeof result.value === "string") return result.value;
  return JSON.stringify({ refused: `cannot be read: ${wordsOf(result)}` });
}

function wordsOf(result: SandboxResult): string {
  if (result.kind === "exceeded") return `it takes ${result.limit}`;
  if (result.kind === "raised") return `the reader raised ${escaped(result.error)}`;
  return result.kind === "died" ? result.how : `the reader had the result '${result.kind}'`;
}
