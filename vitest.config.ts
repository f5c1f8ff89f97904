import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Long enough with many times the load that there are cores for: a guard against hanging and nothing else. */
const PATIENCE_MS = 600_000;

export default defineConfig({
  test: {
    // The processes that tests start, hundreds of them, do not compile the same files again (as cli/gradus has it).
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL(".cache/compiled", import.meta.url)) },
    // Of memory that something holds, tests leave out what nobody does any more.
    execArgv: ["--expose-gc"],
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/shared-postgres-end.ts"],
    // They want a browser: `make test-browser`.
    exclude: ["test/browser/**"],
    testTimeout: PATIENCE_MS,
    hookTimeout: PATIENCE_MS,
    teardownTimeout: PATIENCE_MS,
    expect: { poll: { timeout: PATIENCE_MS } },
    // Tests wait as long for what must come (test/support/patience.ts).
    provide: { patienceMs: PATIENCE_MS },
    // Two cores: more workers than that make each other late.
    maxWorkers: 2,
  },
});
