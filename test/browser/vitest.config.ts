import { defineConfig } from "vitest/config";
import everyday from "../../vitest.config.ts";

/**
 * Ten times the longest test's time: a browser that hangs must not delay each of the tests that share it for longer.
 */
const PATIENCE_MS = 180_000;

/** Its commands are ended behind the file (test/cli/gradus.ts). The others share two processes, each with one browser. */
const APART = ["test/browser/same-record.test.ts"];
const shared = { name: "browser", include: ["test/browser/*.test.ts"], exclude: APART, isolate: false };

/** Tests that want a browser: `make test-browser`. */
const projects = [shared, { name: "browser, apart", include: APART }];
export default defineConfig({
  ...(everyday.plugins && { plugins: everyday.plugins }),
  test: {
    ...everyday.test,
    testTimeout: PATIENCE_MS,
    hookTimeout: PATIENCE_MS,
    provide: { patienceMs: PATIENCE_MS },
    projects: projects.map((test) => ({ extends: true as const, test })),
  },
});
