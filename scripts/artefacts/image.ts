/**
 * Fills a folder (out/image by default) with the files that the container image adds to its base: the package as npm
 * installs it, and the one Node that it runs on. The Dockerfile copies the folder to the image's root. The program also
 * runs from the folder itself.
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
if (tarball === undefined)
  throw new Error("no tarball was given; usage: node scripts/artefacts/image.ts TARBALL [folder]");
const folder = resolve(given ?? join(repository, "out/image"));
const gradus = join(folder, "opt/gradus");

rmSync(folder, { recursive: true, force: true });
mkdirSync(gradus, { recursive: true });
lockVersions(resolve(tarball));
// Run no install scripts: the package `node` would download its binary by one, and the checkout's binary is the same.
const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
execFileSync("npm", ["ci", ...flags], { cwd: gradus, stdio: "inherit" });
// Remove the lock files, because they name the tarball's path on this machine.
for (const file of ["package-lock.json", "node_modules/.package-lock.json"])
  rmSync(join(gradus, file), { force: true });
writeFileSync(join(gradus, "package.json"), "{}\n");
mkdirSync(join(gradus, "node_modules/node/bin"), { recursive: true });
cpSync(join(repository, "node_modules/node/bin/node"), join(gradus, "node_modules/node/bin/node"));

mkdirSync(join(folder, "usr/local/bin"), { recursive: true });
symlinkSync("../../../opt/gradus/node_modules/gradus/cli/gradus", join(folder, "usr/local/bin/gradus"));
// Put a file into the data folder, because Git and some container engines drop empty folders.
mkdirSync(join(folder, "var/lib/gradus"), { recursive: true });
writeFileSync(join(folder, "var/lib/gradus/README"), "Keys, runs, evaluations and pools of the server.\n");
// Let everybody read the files, because the server's user differs from the builder, whose umask may forbid it.
execFileSync("chmod", ["-R", "a+rX", folder]);

/**
 * Writes the package's locked versions as a lock file for the image. The npm command reads the versions that a package
 * locks only if a registry serves the package.
 */
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
