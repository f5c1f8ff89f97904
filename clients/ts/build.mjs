// Compiles src to dist. The generated code is JavaScript already, which tsc does not copy.
import { execFileSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const tsc = createRequire(import.meta.url).resolve("typescript/lib/tsc.js");

rmSync(here("dist"), { recursive: true, force: true });
execFileSync(process.execPath, [tsc, "-p", here("tsconfig.json")], { stdio: "inherit" });
cpSync(here("src/gen"), here("dist/gen"), { recursive: true });
