/** A browser without a window. */
import { chromium as playwright, type Browser } from "playwright-core";
import { programOf } from "../support/debian.ts";

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

/** Bytes of the page's document and files that were loaded so far, compressed and with headers. Calls do not count. */
export const SENT_BYTES = `performance
  .getEntries()
  .filter(({ entryType, name }) => entryType === "navigation" || name.includes("/assets/"))
  .reduce((sum, { transferSize }) => sum + transferSize, 0)`;
