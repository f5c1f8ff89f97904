/** A browser without a window, which opens a page until it is told to stop. */
import { execFileSync, spawn } from "node:child_process";
import { temporaryFolder } from "../support/server-process.ts";

/** Names that Chromium goes by, the smallest first. */
const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

function found(): string | undefined {
  const given = process.env["CHROMIUM"];
  if (given !== undefined) return given;
  for (const name of names) {
    try {
      return execFileSync("which", [name], { encoding: "utf8" }).trim();
    } catch {
      // Not that one.
    }
  }
  return undefined;
}

/** The browser that is here; on Debian as root one that is installed first. */
export function chromium(): string {
  const here = found();
  if (here !== undefined) return here;
  const remedy = `there is no Chromium: install one (${names.join(", ")}), or give its path as CHROMIUM`;
  if (process.getuid?.() !== 0) throw new Error(remedy);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  execFileSync("apt-get", ["update", "-qq"], { env, stdio: "ignore" });
  const install = ["install", "-y", "-qq", "--no-install-recommends", "chromium-headless-shell"];
  execFileSync("apt-get", install, { env, stdio: "ignore" });
  const installed = found();
  if (installed === undefined) throw new Error(remedy);
  return installed;
}

/** Opens a page in a profile of its own; ends with the scope. */
export function openPage(browser: string, url: string): AsyncDisposable {
  const profile = temporaryFolder();
  // Root has no sandbox of Chromium's, and containers little shared memory. The page is ours.
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"];
  const child = spawn(browser, [...flags, `--user-data-dir=${profile.path}`, url], { stdio: "ignore" });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
      profile[Symbol.dispose]();
    },
  };
}
