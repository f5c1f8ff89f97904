/** Reads tests that are written as Python, by Python's own parser: python/reader.py is a program like any other. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Failed, unavailable } from "../../../envs/facts.ts";
import { escaped } from "../../../envs/lib/words.ts";
import type { AskContext, Sandbox, SandboxResult } from "../../../envs/ports.ts";

/** Of one text: Python's parser and the reader's own bounds need a tenth of it. */
const CPU_MS_MAX = 10_000;

/** What python/reader.py imports, in this order. */
const MODULES = ["constants", "meanings"];
const FILES = [...MODULES, "reader"].map((name) => new URL(`python/${name}.py`, import.meta.url));

/** The files that decide on what is found. */
export const readerFiles: readonly string[] = FILES.map((url) => fileURLToPath(url));

/** One program of them all: what the last of them imports is there already. */
function programOf(): string {
  const sources = FILES.map((url) => readFileSync(url, "utf8"));
  const made = MODULES.map((name, i) => {
    const source = Buffer.from(sources[i] as string).toString("base64");
    return `sys.modules["${name}"] = types.ModuleType("${name}")\nexec(base64.b64decode("${source}"), sys.modules["${name}"].__dict__)`;
  });
  return ["import base64, sys, types", ...made, sources.at(-1)].join("\n");
}

let program: string | undefined;

/** What each text holds, as the reader writes it, in their order; Failed: nobody can tell, through a fault of ours. */
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
    // A text that breaks the reader may take others with it: of the first of a job alone there is no doubt.
    const broken = results.findIndex(({ kind }) => kind !== "returned");
    found.push(...results.slice(0, broken < 0 ? results.length : Math.max(1, broken)).map(foundIn));
  }
  return found;
}

function miscounted(results: number, texts: number): Failed {
  return unavailable("sandbox", `the sandbox gave ${results} results of ${texts}`);
}

function foundIn(result: SandboxResult): string {
  if (result.kind === "returned" && typeof result.value === "string") return result.value;
  return JSON.stringify({ refused: `cannot be read: ${wordsOf(result)}` });
}

function wordsOf(result: SandboxResult): string {
  if (result.kind === "exceeded") return `it takes ${result.limit}`;
  if (result.kind === "raised") return `the reader raised ${escaped(result.error)}`;
  return result.kind === "died" ? result.how : `the reader came to '${result.kind}'`;
}
