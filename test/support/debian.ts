/** Programs that tests need and npm does not bring: those that are here; on Debian as root they are installed first. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const TRIES = 6;
const WAIT_MS = 5000;

/** Its path; `names`: what it goes by, the best first. Throws where it cannot be had. */
export function programOf(names: readonly string[], debianPackage: string): string {
  return had(() => names.map(found).find((path) => path !== undefined), names.join(", "), debianPackage);
}

/** A file that a package brings; the same for all architectures but for the folder of libraries. */
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
    // Another test may be bringing the lists of packages up to date.
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
    // Not that one.
    return undefined;
  }
}
