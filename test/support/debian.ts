/** Programs of Debian's packages that tests drive. */
import { execFileSync } from "node:child_process";

function found(names: readonly string[]): string | undefined {
  for (const name of names) {
    try {
      return execFileSync("which", [name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    } catch {
      // Not that one.
    }
  }
  return undefined;
}

/** The program of the first name that is here; on Debian as root the package is installed first. */
export function debian(packageName: string, names: readonly string[] = [packageName]): string {
  const here = found(names);
  if (here !== undefined) return here;
  const remedy = `there is no ${names.join(", ")}: install one, as Debian's package ${packageName} does`;
  if (process.getuid?.() !== 0) throw new Error(remedy);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  execFileSync("apt-get", ["update", "-qq"], { env, stdio: "ignore" });
  execFileSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", packageName], { env, stdio: "ignore" });
  const installed = found(names);
  if (installed === undefined) throw new Error(remedy);
  return installed;
}

// For scripts: node test/support/debian.ts PACKAGE [NAME…] prints the program's path.
if (import.meta.main) {
  const [packageName = "", ...names] = process.argv.slice(2);
  console.log(debian(packageName, names.length === 0 ? [packageName] : names));
}
