/** The page in a browser, on a real server: what it shows, what it calls, and what must never happen on it. */
import type { Browser, Page } from "playwright-core";
import { PATIENCE_MS, until } from "../support/patience.ts";
import { launch } from "./chromium.ts";
import { expectKept } from "./goldens.ts";

export interface OpenedPage extends AsyncDisposable {
  readonly page: Page;
  /** What the browser complained of: faults of scripts, and what the page's policy refused. */
  readonly complaints: readonly string[];
  /** Goes to a view of the page that is open, without loading it again. */
  go(hash: string): Promise<void>;
  /** Holds the view, once all of it is there, against the picture of it that is kept. */
  picture(name: string): Promise<void>;
}

/** Whether all that is in sight is there: nothing is waited for, no chart is empty, and pictures are loaded. */
const IS_WHOLE = `(() => {
  const inSight = (element) => element.getBoundingClientRect().top < innerHeight;
  const charts = [...document.querySelectorAll(".chart-place")].filter(inSight);
  const images = [...document.images].filter(inSight);
  return document.querySelector(".waiting") === null
    && charts.every((place) => place.querySelector("svg") !== null)
    && images.every((image) => image.complete);
})()`;

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
    locale: "en-US",
    timezoneId: "UTC",
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
      await until(() => page.evaluate<boolean>(IS_WHOLE));
      await expectKept(browser, name, await page.screenshot({ animations: "disabled", caret: "hide" }));
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}
