/** Finds programs that tests need and npm does not have. On Debian as root it installs those that are missing. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const TRIES = 6;
const WAIT_MS = 5000;

/** Returns the path of a program. `names` are its names, the best first. Throws if the program cannot be installed. */
export function programOf(names: readonly string[], debianPackage: string): string {
  return had(() => names.map(found).find((path) => path !== undefined), names.join(", "), debianPackage);
}

/** Returns a file of a package. The path differs between architectures only in the folder of libraries. */
export function libraryOf(paths: readonly string[], debianPackage: string): string {
  return had(() => paths.find((path) => existsSync(path)), paths.join(", "), debianPackage);
}

function had(look: () => string | undefined, what: string, debianPackage: string): string {
  const here = look();
  if (here !== undefined) return here;
  const remedy = `there is none of ${what}: install it (on Debian: apt-get install ${debianPackage})`;
  if (process.getuid?.() !== 0) throw new Error(remedy);
  for (let tries = 0; tries < TRIES; tries++) {
    install(debianPackage);
    const installed = look();
    if (installed !== undefined) return installed;
    // Another test may be updating the lists of packages.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
  }
  throw new Error(remedy);
}

function install(debianPackage: string): void {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const wait = ["-o", "DPkg::Lock::Timeout=300"];
  spawnSync("apt-get", ["update", "-qq"], { env, stdio: "ignore" });
  const args = ["install", "-y", "-qq", "--no-install-recommends", ...wait, debianPackage];
  spawnSync("apt-get", args, { env, stdio: "ignore" });
}

function found(name: string): string | undefined {
  try {
    return execFileSync("which", [name], { encoding: "utf8" }).trim();
  } catch {
    // This name is not on the path.
    return undefined;
  }
}
