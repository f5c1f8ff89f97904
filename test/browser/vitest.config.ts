import { defineConfig } from "vitest/config";
import everyday from "../../vitest.config.ts";

/** Tests that want a browser: `make test-browser`. */
export default defineConfig({ test: { ...everyday.test, include: ["test/browser/*.test.ts"], exclude: [] } });
