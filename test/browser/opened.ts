/** Opens the page in a browser on a real server, and records its calls and complaints, for the tests of the page. */
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { PATIENCE_MS, until } from "../support/patience.ts";
import { launch } from "./chromium.ts";
import { expectKept } from "./goldens.ts";

export interface OpenedPage extends AsyncDisposable {
  readonly page: Page;
  /** The browser's complaints: errors of scripts, and requests that the page's policy refused. */
  readonly complaints: readonly string[];
  /** Goes to a view of the page that is open, without loading it again. */
  go(hash: string): Promise<void>;
  /** Waits until all of the view that is in sight is there. */
  whole(): Promise<void>;
  /** Holds the view, once all of it is there, against the picture of it that is kept. */
  picture(name: string): Promise<void>;
  /** Returns all findings on accessibility for screen readers, whatever their impact. */
  findings(): Promise<readonly string[]>;
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

let browser: Promise<Browser> | undefined;

/** The browser of all files that this process tests: each page has a profile of its own. It ends with the process. */
export function openBrowser(): Promise<Browser> {
  browser ??= launch(PATIENCE_MS);
  return browser;
}

export interface Look {
  readonly width?: number;
  readonly dark?: boolean;
  /** Whether figures are shown before the view is there. Defaults to false, because texts would be there twice then. */
  readonly firstSight?: boolean;
}

export async function openView(browser: Browser, url: string, look: Look = {}): Promise<OpenedPage> {
  const { width = 1280, dark = false, firstSight = false } = look;
  const context = await browser.newContext({
    viewport: { width, height: 860 },
    colorScheme: dark ? "dark" : "light",
    reducedMotion: "reduce",
    locale: "en-US",
    timezoneId: "UTC",
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const complaints = complaintsOf(page);
  if (!firstSight)
    await page.route(/\/first-sight-/, (route) => route.fulfill({ contentType: "text/javascript", body: "" }));
  await page.goto(url);
  const whole = () => until(() => page.evaluate<boolean>(IS_WHOLE));
  return {
    page,
    complaints,
    go: (hash) => page.evaluate(`location.hash = ${JSON.stringify(hash)}; undefined`),
    whole,
    async picture(name) {
      await whole();
      await expectKept(browser, name, await page.screenshot({ animations: "disabled", caret: "hide" }));
    },
    findings: () => findingsIn(page),
    [Symbol.asyncDispose]: () => context.close(),
  };
}

function complaintsOf(page: Page): readonly string[] {
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
  return complaints;
}

async function findingsIn(page: Page): Promise<readonly string[]> {
  const isThere = await page.evaluate<boolean>("window.axe !== undefined");
  if (!isThere) await page.evaluate(axe.source).catch(() => undefined);
  const { violations } = await page.evaluate(async () => {
    const { run } = (globalThis as unknown as { readonly axe: typeof axe }).axe;
    return run({ resultTypes: ["violations"] });
  });
  return violations.map(({ id, nodes }) => {
    const places = nodes.map(({ html }) => html).join(" ");
    return `${id}: ${places.slice(0, 300)}`;
  });
}
