/** Names the program's files that tests start: those of the bundle, or the sources outside of vitest. */
import { join, resolve } from "node:path";

const repository = resolve(import.meta.dirname, "../..");
const bundled = process.env["TESTED_PROGRAM"];

export const launcher = join(bundled ?? repository, "cli/gradus");
export const main = bundled === undefined ? join(repository, "cli/main.ts") : join(bundled, "dist/main.js");
/** Program that runs commands one after another (test/cli/host.ts). */
export const host = bundled === undefined ? join(repository, "test/cli/host.ts") : join(bundled, "dist/host.js");
