/** Reads the suites that the operator names. */
import { readFileSync } from "node:fs";
import { type SuiteDefinition, openSuite, readSuite, suiteDefinitions } from "./evaluation/index.ts";

export type SuitesResult =
  | { readonly kind: "ok"; readonly suites: readonly SuiteDefinition[] }
  | { readonly kind: "invalid"; readonly message: string };

/** The suites that ship with the server and those of files; one that cannot be issued here is a mistake in its file. */
export function loadSuites(paths: readonly string[]): SuitesResult {
  const suites = [...suiteDefinitions];
  for (const path of paths) {
    const read = readFile(path);
    if (typeof read === "string") return { kind: "invalid", message: `--suite-file ${path}: ${read}` };
    const taken = suites.some(({ id, version }) => id === read.id && version === read.version);
    if (taken) {
      const message = `--suite-file ${path}: there is a suite '${read.id}' of version ${read.version} already`;
      return { kind: "invalid", message };
    }
    suites.push(read);
  }
  return { kind: "ok", suites };
}

/** The suite, or what is wrong with the file. */
function readFile(path: string): SuiteDefinition | string {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    return `the file cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`;
  }
  const read = readSuite(text);
  if (read.kind === "invalid") return read.message;
  const opened = openSuite(read.definition);
  return opened.kind === "open" ? read.definition : opened.message;
}
