/** Programs that tests need and npm does not bring: those that are here; on Debian as root they are installed first. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

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
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  // Another test may be installing.
  const wait = ["-o", "DPkg::Lock::Timeout=300"];
  execFileSync("apt-get", ["update", "-qq"], { env, stdio: "ignore" });
  execFileSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...wait, debianPackage], {
    env,
    stdio: "ignore",
  });
  const installed = look();
  if (installed === undefined) throw new Error(remedy);
  return installed;
}

function found(name: string): string | undefined {
  try {
    return execFileSync("which", [name], { encoding: "utf8" }).trim();
  } catch {
    // Not that one.
    return undefined;
  }
}
