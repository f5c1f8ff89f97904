/**
 * The guide's TypeScript snippet in a fresh project, as its reader makes one: the client's folder is installed, or a
 * tarball of it, and the snippet runs on each Node that is here. Fetches the client's dependencies from the registry.
 */
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openServer, type TestServer } from "../../support/in-process.ts";
import { temporaryFolder } from "../../support/server-process.ts";
import { nodes } from "../../cli/gradus.ts";
import { PATIENCE_MS } from "../../support/patience.ts";

const repository = resolve(import.meta.dirname, "../../..");
const folder = temporaryFolder();
const checkout = join(folder.path, "gradus");
const run = promisify(execFile);

const tsc = createRequire(import.meta.url).resolve("typescript/lib/tsc.js");
const guide = readFileSync(join(repository, "docs/guides/getting-started.md"), "utf8");
const [, snippet = ""] = /^```ts\n(.*?)^```/ms.exec(guide) ?? [];
const [, install = ""] = /^(npm install \S+\/clients\/ts)$/m.exec(guide) ?? [];
const [, pack = "", installPacked = ""] = /`(npm pack \S+)` makes .* by `(npm install \S+\.tgz)`/.exec(guide) ?? [];

let server: TestServer;
beforeAll(async () => {
  server = await openServer();
  // The build uses a checkout of its own, so that its output does not disturb other tests.
  mkdirSync(join(checkout, "clients"), { recursive: true });
  const source = join(repository, "clients/ts");
  const filter = (path: string): boolean => !/^(dist|node_modules)/.test(path.slice(source.length + 1));
  cpSync(source, join(checkout, "clients/ts"), { recursive: true, filter });
  cpSync(join(repository, "proto/gen"), join(checkout, "proto/gen"), { recursive: true });
  for (const file of ["tsconfig.json", "package.json", ".npmrc"]) cpSync(join(repository, file), join(checkout, file));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** Runs a command as a reader types it, beside the checkout; npm and its children run on the Node of the path. */
async function type(command: string, cwd: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
  // The commands run as from a shell, not from npm: npm's settings for this repository are not the project's.
  const outer = Object.entries(process.env).filter(([name]) => !/^npm_|^INIT_CWD$|^NODE_OPTIONS$/i.test(name));
  const env = { ...Object.fromEntries(outer), npm_config_prefer_offline: "true", npm_config_audit: "false" };
  return run("bash", ["-euo", "pipefail", "-c", command], { cwd, env, timeout: PATIENCE_MS });
}

function project(name: string): string {
  const path = join(folder.path, name);
  mkdirSync(path);
  writeFileSync(join(path, "package.json"), "{}");
  return path;
}

async function expectRuns(path: string): Promise<void> {
  writeFileSync(join(path, "first.mjs"), snippet.replaceAll("localhost:50051", server.address));
  for (const [version, node] of nodes().filter(([each]) => Number(each.slice(1).split(".")[0]) >= 20)) {
    const { stdout } = await run(node, ["first.mjs"], { cwd: path, timeout: PATIENCE_MS });
    expect(stdout, `on Node ${version}`).toBe("1\n");
  }
}

/** The snippet as TypeScript, in a strict project. */
async function expectTypes(path: string): Promise<void> {
  writeFileSync(join(path, "first.mts"), snippet);
  const options = ["--strict", "--noEmit", "--module", "nodenext", "--lib", "es2023,dom", "--skipDefaultLibCheck"];
  await run(process.execPath, [tsc, ...options, "first.mts"], { cwd: path, timeout: PATIENCE_MS });
}

test("the guide has what a reader types", () => {
  expect([install, pack, installPacked]).toEqual([
    "npm install ../gradus/clients/ts",
    "npm pack ../gradus/clients/ts",
    "npm install ./gradus-client-0.1.0.tgz",
  ]);
  expect(snippet).toContain("await client.reset(");
});

describe("before make setup", () => {
  test("it says that TypeScript is not there, and what brings it", async () => {
    const failed = await type(install, project("early")).catch((error: unknown) => error);
    expect(String((failed as { stderr?: string }).stderr)).toContain("run `make setup` in");
    expect(existsSync(join(checkout, "clients/ts/dist"))).toBe(false);
  });
});

describe("after make setup", () => {
  beforeAll(() => symlinkSync(join(repository, "node_modules"), join(checkout, "node_modules")));

  test("the folder is installed, and the snippet runs", async () => {
    const path = project("linked");
    await type(install, path);
    await expectRuns(path);
  });

  test("a tarball is made and installed, and the snippet runs and has its types without the checkout", async () => {
    const path = project("packed");
    rmSync(join(checkout, "clients/ts/dist"), { recursive: true, force: true });
    await type(pack, path);
    const [tarball] = readdirSync(path).filter((name) => name.endsWith(".tgz"));
    expect(installPacked).toContain(tarball);
    const away = `${checkout}-away`;
    renameSync(checkout, away);
    await type(installPacked, path);
    await expectRuns(path);
    await expectTypes(path);
    renameSync(away, checkout);
  });

  test("npm ci of the repository itself builds nothing", async () => {
    rmSync(join(checkout, "clients/ts/dist"), { recursive: true, force: true });
    const own = { npm_lifecycle_event: "prepare", npm_command: "ci", npm_config_local_prefix: checkout };
    await run(process.execPath, ["clients/ts/build.mjs"], { cwd: checkout, env: { ...process.env, ...own } });
    expect(existsSync(join(checkout, "clients/ts/dist"))).toBe(false);
  });
});
