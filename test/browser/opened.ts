/** The page in a browser, on a real server: what it shows, what it calls, and what must never happen on it. */
import type { Browser, Page } from "playwright-core";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PATIENCE_MS } from "../support/patience.ts";
import { launch } from "./chromium.ts";

/** Where pictures of the views are kept; they are taken anew with UPDATE_PICTURES=1. */
const PICTURES = join(import.meta.dirname, "../../docs/pictures");

export interface OpenedPage extends AsyncDisposable {
  readonly page: Page;
  /** What the browser complained of: faults of scripts, and what the page's policy refused. */
  readonly complaints: readonly string[];
  /** Goes to a view of the page that is open, without loading it again. */
  go(hash: string): Promise<void>;
  picture(name: string): Promise<void>;
}

export function openBrowser(): Promise<Browser> {
  return launch(PATIENCE_MS);
}

export async function openView(
  browser: Browser,
  url: string,
  options: { readonly width?: number; readonly dark?: boolean } = {},
): Promise<OpenedPage> {
  const { width = 1280, dark = false } = options;
  const context = await browser.newContext({
    viewport: { width, height: 860 },
    colorScheme: dark ? "dark" : "light",
    reducedMotion: "reduce",
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on("console", (message) => {
    // A call that is refused, or finds no server, is the page's to show.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      complaints.push(message.text());
  });
  page.on("dialog", (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(url);
  return {
    page,
    complaints,
    go: (hash) => page.evaluate(`location.hash = ${JSON.stringify(hash)}; undefined`),
    async picture(name) {
      if (process.env["UPDATE_PICTURES"] === "1")
        writeFileSync(join(PICTURES, `page-${name}.png`), await page.screenshot());
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}
