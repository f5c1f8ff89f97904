/**
 * Fills a folder (out/package by default) with the npm package `gradus`, from which `npm pack` makes a tarball. The
 * sources have to be built, because Node strips no types under node_modules. `esbuild` bundles the program, the module
 * of each worker thread, and the libraries. Files that are read at run time are copied beside the bundles.
 *
 * ```
 * node scripts/artefacts/package.ts [folder]
 * ```
 */
import { build as bundle, type Metafile } from "esbuild";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import lock from "../../package-lock.json" with { type: "json" };
import manifest from "../../package.json" with { type: "json" };
import { environmentsDigest } from "../../server/rows/cache.ts";
import type { Build } from "../../server/runtime/version.ts";
import { bundleProgram } from "./bundle.ts";

const repository = resolve(import.meta.dirname, "../..");
const PAGE_ENTRY = "page/src/main.tsx";

function commitOf(): string {
  try {
    const git = (...args: readonly string[]): string =>
      execFileSync("git", args, { cwd: repository, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    return git("rev-parse", "--short=12", "HEAD") + (git("status", "--porcelain") === "" ? "" : "-dirty");
  } catch {
    return "";
  }
}

/** Returns the folder of the npm package that contains a file. Undefined for a file of our own. */
function packageOf(input: string): string | undefined {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0];
}

/**
 * Returns the folders of all npm packages in the bundles of the server and the page. Vite builds the page itself, from
 * the same sources.
 */
async function bundledIn({ inputs }: Metafile): Promise<readonly string[]> {
  const page = await bundle({
    absWorkingDir: repository,
    entryPoints: [PAGE_ENTRY],
    outdir: "page",
    bundle: true,
    write: false,
    jsx: "automatic",
    jsxImportSource: "preact",
    loader: { ".svg": "dataurl", ".woff2": "dataurl" },
    logLevel: "error",
    metafile: true,
  });
  const all = [...Object.keys(inputs), ...Object.keys(page.metafile.inputs)].map(packageOf);
  return [...new Set(all)].filter((folder) => folder !== undefined).sort();
}

/** Returns the licence texts of the bundled libraries, which must be passed on with them. */
function licencesOf(folders: readonly string[]): string {
  const texts = folders.map((folder) => {
    const { name, version, license } = readJson(join(folder, "package.json")) as Record<string, string>;
    const files = readdirSync(join(repository, folder)).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
    const said = files.map((file) => readFileSync(join(repository, folder, file), "utf8").trim());
    return [`${name} ${version} (${license})`, ...said].join("\n\n");
  });
  return `${texts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

const readJson = (path: string): unknown => JSON.parse(readFileSync(join(repository, path), "utf8"));

/**
 * Returns the npm packages that bundles import, in the tested versions, and the package `node` that the program runs
 * on.
 */
function dependenciesOf({ outputs }: Metafile): Readonly<Record<string, string>> {
  const imported = Object.values(outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  const named = Object.entries(manifest.dependencies);
  return Object.fromEntries(named.filter(([name]) => name === "node" || imported.includes(name)));
}

type Locked = (typeof lock.packages)["node_modules/node"] & {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};

const locked = lock.packages as unknown as Readonly<Record<string, Locked>>;

/**
 * Returns the path in the lock file of the npm package that code in a folder imports by a name. Node looks in the folder
 * first, then in the folders above it.
 */
function placeOf(name: string, from: string): string | undefined {
  const place = `${from === "" ? "" : `${from}/`}node_modules/${name}`;
  if (place in locked || from === "") return place in locked ? place : undefined;
  return placeOf(name, from.slice(0, Math.max(0, from.lastIndexOf("node_modules/") - 1)));
}

/**
 * Returns the npm packages to install beside the bundles, by their paths in the lock file: the imported packages and
 * their own dependencies.
 */
function installedWith(dependencies: Readonly<Record<string, string>>): Readonly<Record<string, Locked>> {
  const found: Record<string, Locked> = {};
  const waiting = Object.keys(dependencies).map((name) => placeOf(name, ""));
  for (const place of waiting) {
    const entry = place === undefined ? undefined : locked[place];
    if (place === undefined || entry === undefined || place in found) continue;
    // Drop the marks for development packages. A package that only tools need in this repository may be one that the
    // server needs.
    const { dev: _, devOptional, ...rest } = entry as Locked & { readonly dev?: true; readonly devOptional?: true };
    found[place] = devOptional ? ({ ...rest, optional: true } as Locked) : rest;
    const names = Object.keys({ ...entry.dependencies, ...entry.optionalDependencies });
    waiting.push(...names.map((name) => placeOf(name, place)));
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns name and version of a package, as a bill of materials refers to it. */
function referenceOf(folder: string): string {
  const { name, version } = readJson(join(folder, "package.json")) as Readonly<Record<"name" | "version", string>>;
  return `${name}@${version}`;
}

/** Folder of the Node binary, which the package `node` downloads for the machine that it is installed on. */
const RUNTIME = `node_modules/node/node_modules/node-${process.platform}-${process.arch}`;

async function lay(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  const dist = join(folder, "dist");
  const entries = { main: "cli/main.ts", health: "cli/health.ts", environment: "scripts/artefacts/environment.ts" };
  const build: Build = { version: manifest.version, commit: commitOf(), environments: environmentsDigest() };
  const metafile = await bundleProgram(dist, entries, build);
  cpSync(join(repository, "page/dist"), join(dist, "page/dist"), { recursive: true });
  for (const file of ["README.md", "CHANGELOG.md", "LICENSE", "cli/gradus", "cli/node-flags.json"])
    cpSync(join(repository, file), join(folder, file));
  const bundled = await bundledIn(metafile);
  writeFileSync(join(folder, "LICENSES-OF-LIBRARIES"), licencesOf(bundled));
  declare(join(dist, "types"));
  const { name, version, description, license, type, bin } = manifest;
  const exports = {
    "./environment": { types: "./dist/types/scripts/artefacts/environment.d.ts", default: "./dist/environment.js" },
  };
  const files = ["dist", "cli", "LICENSES-OF-LIBRARIES", "CHANGELOG.md", "npm-shrinkwrap.json"];
  const dependencies = dependenciesOf(metafile);
  const installed = installedWith(dependencies);
  const packed = {
    name,
    version,
    description,
    license,
    type,
    bin,
    exports,
    files,
    dependencies,
  };
  const write = (file: string, value: unknown): void =>
    writeFileSync(join(folder, file), `${JSON.stringify(value, undefined, 2)}\n`);
  write("package.json", packed);
  // Write a shrinkwrap file, so that npm installs exactly these versions, also of indirect dependencies.
  const packages = { "": { name, version, license, bin, dependencies }, ...installed };
  write("npm-shrinkwrap.json", { name, version, lockfileVersion: lock.lockfileVersion, requires: true, packages });
  // Write the list for the bill of materials, which the package does not contain.
  const beside = Object.entries(installed).map(
    ([place, of]) => `${place.replace(/^.*node_modules\//, "")}@${of.version}`,
  );
  write("materials.json", [...new Set([...bundled.map(referenceOf), ...beside, referenceOf(RUNTIME)])].sort());
  fillPools(folder);
}

/** Writes the type declarations of the exports that modules of environments import. */
function declare(types: string): void {
  const folder = mkdtempSync(join(tmpdir(), "gradus-package-"));
  const emit = { noEmit: false, declaration: true, emitDeclarationOnly: true, rootDir: repository, outDir: types };
  const compilerOptions = { ...emit, typeRoots: [join(repository, "node_modules/@types")] };
  const files = [join(repository, "scripts/artefacts/environment.ts")];
  const config = { extends: join(repository, "tsconfig.json"), compilerOptions, files, include: [] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  execFileSync(process.execPath, [join(repository, "node_modules/typescript/bin/tsc"), "-p", folder]);
  rmSync(folder, { recursive: true });
}

/**
 * Reads the shipped pools once and keeps the results in the package, because its folder may be read-only once it is
 * installed.
 */
function fillPools(folder: string): void {
  const data = mkdtempSync(join(tmpdir(), "gradus-package-"));
  execFileSync(process.execPath, [join(folder, "dist/main.js"), "envs", "--json", "--data-dir", data]);
  rmSync(data, { recursive: true });
}

await lay(resolve(process.argv[2] ?? join(repository, "out/package")));
