import { defineConfig } from "vitest/config";
import everyday from "../../vitest.config.ts";

/** Its commands are ended behind the file (test/cli/gradus.ts). The others share two processes, each with one browser. */
const APART = ["test/browser/same-record.test.ts"];
const shared = { name: "browser", include: ["test/browser/*.test.ts"], exclude: APART, isolate: false };

/** Tests that want a browser: `make test-browser`. */
const projects = [shared, { name: "browser, apart", include: APART }];
export default defineConfig({
  test: { ...everyday.test, projects: projects.map((test) => ({ extends: true as const, test })) },
});
