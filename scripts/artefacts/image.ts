/**
 * Lays what the image holds beside its base in a folder (out/image unless told otherwise): the package as npm installs
 * it, with the one Node that it runs on. The Dockerfile copies it to the root; it also runs where it lies.
 *
 * ```
 * node scripts/artefacts/image.ts TARBALL [folder]
 * ```
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
lockVersions(resolve(tarball));
// The package `node` fetches its binary by an install script: the checkout's is the same one.
const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
execFileSync("npm", ["ci", ...flags], { cwd: gradus, stdio: "inherit" });
// The lock files name the tarball's place on this machine.
for (const file of ["package-lock.json", "node_modules/.package-lock.json"])
  rmSync(join(gradus, file), { force: true });
writeFileSync(join(gradus, "package.json"), "{}\n");
mkdirSync(join(gradus, "node_modules/node/bin"), { recursive: true });
cpSync(join(repository, "node_modules/node/bin/node"), join(gradus, "node_modules/node/bin/node"));

mkdirSync(join(folder, "usr/local/bin"), { recursive: true });
symlinkSync("../../../opt/gradus/node_modules/gradus/cli/gradus", join(folder, "usr/local/bin/gradus"));
// Git keeps no empty folders, and neither does every engine's context.
mkdirSync(join(folder, "var/lib/gradus"), { recursive: true });
writeFileSync(join(folder, "var/lib/gradus/README"), "Keys, runs, evaluations and pools of the server.\n");
// The server's user is another than who builds the image, whose umask may let nobody else read.
execFileSync("chmod", ["-R", "a+rX", folder]);

/** `npm` reads the versions that a package locks only if a registry serves it, so that they become the image's own. */
function lockVersions(path: string): void {
  const read = (file: string): Record<string, unknown> =>
    JSON.parse(execFileSync("tar", ["-xzOf", path, `package/${file}`], { encoding: "utf8" })) as Record<
      string,
      unknown
    >;
  const { packages, ...lock } = read("npm-shrinkwrap.json") as { readonly packages: Readonly<Record<string, object>> };
  const { "": own, ...others } = packages;
  const root = { dependencies: { gradus: `file:${path}` } };
  const entries = { "": root, "node_modules/gradus": { ...own, resolved: `file:${path}` }, ...others };
  writeFileSync(join(gradus, "package.json"), JSON.stringify(root));
  writeFileSync(join(gradus, "package-lock.json"), JSON.stringify({ ...lock, packages: entries }));
}
