// Compiles src to dist, and copies the generated code of the public contract to dist/gen: it is JavaScript already, which
// tsc does not copy. The internal messages beside it stay in the repository.
// npm calls this as `prepack` before it packs, and as `prepare` where a project installs this folder.
import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const repository = here("../..");

/** Returns whether npm calls `prepare` although nothing needs to be built. */
function needless({ npm_lifecycle_event: event, npm_command: command, npm_config_local_prefix: project = "" }) {
  if (event !== "prepare") return false;
  // The repository's own install uses the sources as they are; before packing, `prepack` has built it.
  return resolve(project) === resolve(repository) || command === "pack" || command === "publish";
}

function compiler() {
  try {
    return createRequire(import.meta.url).resolve("typescript/lib/tsc.js");
  } catch {
    console.error(`@gradus/client is built with TypeScript, which is not there: run \`make setup\` in ${repository}`);
    process.exit(1);
  }
}

/** Digest of everything that decides the content of dist. */
function digestOf(tsc) {
  const own = ["build.mjs", "tsconfig.json", "../../tsconfig.json"].map(here);
  const files = [here("src"), here("../../proto/gen/gradus/v1")].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name)),
  );
  const all = [tsc, ...own, ...files].sort();
  return hash("sha256", all.map((file) => file + hash("sha256", readFileSync(file))).join(" "));
}

/** Makes the compiled modules import the copy of the generated code that is published with them. */
function importOwnCopy(folder) {
  for (const file of readdirSync(folder, { recursive: true }).filter((name) => /\.(js|d\.ts)$/.test(name))) {
    const text = readFileSync(join(folder, file), "utf8");
    // The sources lie three folders below the root of the repository: clients/ts/src.
    writeFileSync(join(folder, file), text.replaceAll(/"(?:\.\.\/){3}((?:\.\.\/)*)proto\/gen\//g, '"./$1gen/'));
  }
}

function build() {
  const tsc = compiler();
  const digest = digestOf(tsc);
  const stamp = here(".cache/built");
  // Several tests and commands build what is there already.
  if (existsSync(here("dist")) && existsSync(stamp) && readFileSync(stamp, "utf8") === digest) return;
  // Made beside dist and put in its place, so that who reads it meanwhile finds it whole.
  const made = mkdtempSync(here("dist-"));
  try {
    execFileSync(process.execPath, [tsc, "-p", here("tsconfig.json"), "--outDir", made], { stdio: "inherit" });
    importOwnCopy(made);
    cpSync(here("../../proto/gen/gradus/v1"), join(made, "gen/gradus/v1"), { recursive: true });
    rmSync(here("dist"), { recursive: true, force: true });
    renameSync(made, here("dist"));
    mkdirSync(here(".cache"), { recursive: true });
    writeFileSync(stamp, digest);
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    throw error;
  }
}

if (!needless(process.env)) build();
