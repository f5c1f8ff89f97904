/** Modules of the operator's own code. They run in this process with all its rights. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { readTextFile } from "../runtime/files.ts";

export type DefaultExport =
  { readonly kind: "loaded"; readonly value: unknown } | { readonly kind: "invalid"; readonly message: string };

/** A module's default export, or why it cannot be loaded. */
export async function defaultExportOf(path: string): Promise<DefaultExport> {
  try {
    // To import a FIFO would wait for ever.
    readTextFile(resolve(path));
    const { default: value } = (await import(pathToFileURL(resolve(path)).href)) as { readonly default?: unknown };
    return { kind: "loaded", value };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { kind: "invalid", message: `the module cannot be loaded (${why})` };
  }
}
