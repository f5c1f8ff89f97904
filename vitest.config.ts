import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import { threadsOfBundle } from "./test/support/bundled-threads.ts";
import LongestFirst from "./test/support/longest-first.ts";

/** Guards against a test that hangs, and nothing else. No test takes as long, even on an overloaded machine. */
const PATIENCE_MS = 600_000;

/**
 * Each of these files has a process of its own. The others share two, because starting a process and loading the product
 * for each of three hundred files took a tenth of the time of all tests.
 */
const APART = [
  "test/clients/ts/fresh-project.test.ts",
  "test/e2e/{domain-suites,environments}.test.ts",
  // This test replaces a module.
  "test/server/curriculum/fixture-policy.test.ts",
  // These take longest, and the files of this project begin first.
  "test/docs/snippets.test.ts",
  "test/e2e/{flight,hostile,kill,two-servers}.test.ts",
  "test/simulation/*.test.ts",
];

export default defineConfig({
  plugins: [threadsOfBundle],
  test: {
    // The hundreds of processes that tests start share one cache of compiled files, as cli/gradus does.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL(".cache/compiled", import.meta.url)) },
    // Tests of memory collect garbage before they measure.
    execArgv: ["--expose-gc"],
    setupFiles: ["test/cli/end-hosts.ts"],
    globalSetup: ["test/support/shared-postgres-end.ts", "test/support/tested-program.ts"],
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: true, test: { name: "apart", include: APART } },
      {
        extends: true,
        test: {
          name: "together",
          include: ["test/**/*.test.ts"],
          // The tests in test/browser need a browser: `make test-browser`.
          exclude: [...configDefaults.exclude, "test/browser/**", ...APART],
          isolate: false,
        },
      },
    ],
    testTimeout: PATIENCE_MS,
    hookTimeout: PATIENCE_MS,
    teardownTimeout: PATIENCE_MS,
    expect: { poll: { timeout: PATIENCE_MS } },
    // Tests wait as long for an event that must happen (test/support/patience.ts).
    provide: { patienceMs: PATIENCE_MS },
    // More workers than the two cores would delay each other.
    maxWorkers: 2,
  },
});
