import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import LongestFirst from "./test/support/longest-first.ts";

/** Long enough with many times the load that there are cores for: a guard against hanging and nothing else. */
const PATIENCE_MS = 600_000;

/**
 * Each of these files has a process of its own. The others share two: to start one and to load the product again for each
 * of three hundred files took a tenth of the time of all tests.
 */
const APART = [
  "test/clients/ts/fresh-project.test.ts",
  "test/e2e/{domain-suites,environments}.test.ts",
  // It puts another module in the place of one.
  "test/server/curriculum/fixture-policy.test.ts",
  // They take longest, and these begin first.
  "test/docs/snippets.test.ts",
  "test/e2e/{flight,hostile,kill,two-servers}.test.ts",
  "test/simulation/*.test.ts",
];

export default defineConfig({
  test: {
    // The processes that tests start, hundreds of them, do not compile the same files again (as cli/gradus has it).
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL(".cache/compiled", import.meta.url)) },
    // Of memory that something holds, tests leave out what nobody does any more.
    execArgv: ["--expose-gc"],
    setupFiles: ["test/cli/end-hosts.ts"],
    globalSetup: ["test/support/shared-postgres-end.ts"],
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: true, test: { name: "apart", include: APART } },
      {
        extends: true,
        test: {
          name: "together",
          include: ["test/**/*.test.ts"],
          // What is in test/browser wants one: `make test-browser`.
          exclude: [...configDefaults.exclude, "test/browser/**", ...APART],
          isolate: false,
        },
      },
    ],
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
