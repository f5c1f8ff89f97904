/**
 * Vite plugin: servers in a test's process start their worker threads from the bundled program. A thread loads it with
 * half the CPU of the sources, and tests start hundreds of them.
 */
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { VitestPluginContext } from "vitest/node";
import { withBundledThreads } from "../../scripts/artefacts/bundle.ts";
import { VARIABLE } from "./tested-program.ts";

const repository = resolve(import.meta.dirname, "../..");

export const threadsOfBundle = {
  name: "threads of the bundle",
  // Vite's own plugins would replace the places where threads are started.
  enforce: "pre",
  /** Vitest keeps transformed files, so the program's folder must be part of their key. */
  configureVitest({ defineCacheKeyGenerator }: VitestPluginContext): void {
    defineCacheKeyGenerator(() => process.env[VARIABLE]);
  },
  transform(text: string, id: string): string | undefined {
    const folder = process.env[VARIABLE];
    const source = relative(repository, id);
    if (folder === undefined || !source.startsWith("server/")) return undefined;
    const changed = withBundledThreads(text, source, pathToFileURL(join(folder, "dist")).href);
    return changed === text ? undefined : changed;
  },
} as const;
