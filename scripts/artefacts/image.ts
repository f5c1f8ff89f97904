/**
 * Lays what the image holds beside its base in a folder (out/image unless told otherwise): the package as npm installs
 * it, with the one Node that it runs on. The Dockerfile copies it to the root; it also runs where it lies.
 *
 *   node scripts/artefacts/image.ts TARBALL [folder]
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const repository = resolve(import.meta.dirname, "../..");
const [, , tarball, given] = process.argv;
if (tarball === undefined) throw new Error("which tarball? node scripts/artefacts/image.ts TARBALL [folder]");
const folder = resolve(given ?? join(repository, "out/image"));
const gradus = join(folder, "opt/gradus");

rmSync(folder, { recursive: true, force: true });
mkdirSync(gradus, { recursive: true });
writeFileSync(join(gradus, "package.json"), "{}\n");
// The package `node` fetches its binary by an install script: the checkout's is the same one.
const flags = [
  "--ignore-scripts",
  "--no-package-lock",
  "--no-audit",
  "--no-fund",
  "--prefer-offline",
  "--loglevel=error",
];
execFileSync("npm", ["install", ...flags, resolve(tarball)], { cwd: gradus, stdio: "inherit" });
mkdirSync(join(gradus, "node_modules/node/bin"), { recursive: true });
cpSync(join(repository, "node_modules/node/bin/node"), join(gradus, "node_modules/node/bin/node"));

mkdirSync(join(folder, "usr/local/bin"), { recursive: true });
symlinkSync("../../../opt/gradus/node_modules/gradus/cli/gradus", join(folder, "usr/local/bin/gradus"));
// Git keeps no empty folders, and neither does every engine's context.
mkdirSync(join(folder, "var/lib/gradus"), { recursive: true });
writeFileSync(join(folder, "var/lib/gradus/README"), "Keys, runs, evaluations and pools of the server.\n");
// The server's user is another than who builds the image, whose umask may let nobody else read.
execFileSync("chmod", ["-R", "a+rX", folder]);
