/**
 * Bundles the program once for all tests, as its package holds it. A bundle starts with half the CPU of the sources, and
 * tests start hundreds of commands and servers. Used as vitest's globalSetup. As a program it prints the bundle's folder,
 * for the tests in Python.
 */
import { hash } from "node:crypto";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join, resolve } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { bundleProgram } from "../../scripts/artefacts/bundle.ts";
import { environmentsDigest } from "../../server/rows/cache.ts";

const repository = resolve(import.meta.dirname, "../..");
const KEPT = join(repository, ".cache/tested");
/** Time after which a bundle of other sources is deleted. */
const KEPT_MS = 86_400_000;
/** Files that decide the bundle. */
const SOURCES =
  "{envs,pictures,server,cli,clients/ts/src,proto,scripts/artefacts,test/cli}/**/*.{ts,js,json,py,jsonl,sql}";

/** Variable with the folder of the bundled program, which test/support/program.ts reads. */
export const VARIABLE = "TESTED_PROGRAM";

export default async function setup(): Promise<void> {
  process.env[VARIABLE] = await bundled();
}

/** Returns the folder of the bundled program, which is made if there is none of these sources. */
async function bundled(): Promise<string> {
  const files = [...globSync(SOURCES, { cwd: repository }), "cli/gradus", "package-lock.json"].sort();
  const digest = hash(
    "sha256",
    files.map((file) => file + hash("sha256", readFileSync(join(repository, file)))).join(" "),
  );
  const folder = join(KEPT, digest.slice(0, 16));
  if (!existsSync(folder)) await lay(folder);
  return folder;
}

/** Lays the program out as a package, and puts it in its place whole. */
async function lay(folder: string): Promise<void> {
  const draft = join(KEPT, `.draft-${process.pid}`);
  mkdirSync(join(draft, "cli"), { recursive: true });
  const entries = { main: "cli/main.ts", health: "cli/health.ts", host: "test/cli/host.ts" };
  const made = { version: manifest.version, commit: "", environments: environmentsDigest() };
  await bundleProgram(join(draft, "dist"), entries, made);
  mkdirSync(join(draft, "dist/page"));
  symlinkSync(join(repository, "page/dist"), join(draft, "dist/page/dist"));
  symlinkSync(join(repository, "node_modules"), join(draft, "node_modules"));
  for (const file of ["cli/gradus", "cli/node-flags.json", "package.json"])
    cpSync(join(repository, file), join(draft, file));
  // Another run may still use a bundle of other sources that is younger.
  for (const other of readdirSync(KEPT).map((name) => join(KEPT, name)))
    if ((statSync(other, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) < Date.now() - KEPT_MS)
      rmSync(other, { recursive: true, force: true });
  try {
    renameSync(draft, folder);
  } catch (error) {
    // The tests in Python, which run at the same time, made the same bundle first.
    if (!existsSync(folder)) throw error;
    rmSync(draft, { recursive: true });
  }
}

if (import.meta.main) console.log(await bundled());
