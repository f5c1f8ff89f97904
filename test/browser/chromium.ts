/** A browser without a window, which opens a page until it is told to stop. */
import { spawn } from "node:child_process";
import { chromium as playwright, type Browser } from "playwright-core";
import { programOf } from "../support/debian.ts";
import { temporaryFolder } from "../support/server-process.ts";

/** Names that Chromium goes by, the smallest first. */
const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/** The browser that is here. */
export function chromium(): string {
  return process.env["CHROMIUM"] ?? programOf(names, "chromium-headless-shell");
}

/** Root has no sandbox of Chromium's, and containers little shared memory. The page is ours. */
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
/** A picture is the same on each machine, as far as its fonts are. */
const LOOKS = ["--force-color-profile=srgb", "--font-render-hinting=none"];

/** The browser as playwright drives it; `timeoutMs`: how long its start may take. */
export function launch(timeoutMs: number): Promise<Browser> {
  return playwright.launch({ executablePath: chromium(), args: [...FLAGS, ...LOOKS], timeout: timeoutMs });
}

/** Opens a page in a profile of its own; ends with the scope. */
export function openPage(browser: string, url: string): AsyncDisposable {
  const profile = temporaryFolder();
  const flags = ["--headless", ...FLAGS, "--no-first-run"];
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
