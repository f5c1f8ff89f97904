import { defineConfig } from "vitest/config";
import everyday from "../../vitest.config.ts";

/** Tests that want a browser: `make test-browser`. */
const browser = { extends: true as const, test: { name: "browser", include: ["test/browser/*.test.ts"] } };
export default defineConfig({ test: { ...everyday.test, projects: [browser] } });
