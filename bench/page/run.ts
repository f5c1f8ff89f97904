/**
 * Measures the page in Chromium against a real server: bytes of a first load, first paint, the same on a slow network, and
 * how long a long run takes to be drawn. Ends with 1 if a bar is missed.
 *
 * ```
 * node bench/page/run.ts [--arms 8,1000] [--batches 5000] [--times 9] [--data FOLDER] [--json]
 * ```
 *
 * Making the runs takes most of the time; --data keeps them in a folder and finds them there. `make setup` builds the page.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Browser, Page } from "playwright-core";
import { createClient, type GradusClient } from "../../clients/ts/src/index.ts";
import { launch, SENT_BYTES } from "../../test/browser/chromium.ts";
import { createLongRun, goOn } from "../../test/support/long-run.ts";
import { createProgress } from "../progress.ts";
import { spreadOf } from "../transport/measure.ts";
import { startOurs } from "../transport/processes.ts";

const { values: options } = parseArgs({
  options: {
    arms: { type: "string", default: "8,1000" },
    batches: { type: "string", default: "5000" },
    times: { type: "string", default: "9" },
    data: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const times = Number(options.times);
const START_MS = 120_000;
/** Update batches that are drawn at a time, between two steps of the progress bar. */
const PART = 250;

interface Figure {
  readonly figure: string;
  readonly value: number;
  readonly least: number;
  readonly most: number;
  /** Maximum; unset: there is no bar. */
  readonly bar?: number;
}

function figureOf(figure: string, values: readonly number[], bar?: number): Figure {
  const { median, min, max } = spreadOf(values);
  return { figure, value: median, least: min, most: max, ...(bar !== undefined && { bar }) };
}

/** Returns the kilobytes that a view's first load takes in files, compressed and with headers, until this element is there. */
async function weight(browser: Browser, view: string, url: string, last: string): Promise<Figure> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  await page.locator(last).first().waitFor();
  const bytes = await page.evaluate<number>(SENT_BYTES);
  await context.close();
  return figureOf(`${view}: sent, KB`, [bytes / 1000], 200);
}

/** Measures when a view has its first text, and its data, at 50 KB/s and 400 ms latency. */
async function onSlowNetwork(browser: Browser, view: string, url: string, data: string): Promise<readonly Figure[]> {
  const texts: number[] = [];
  const whole: number[] = [];
  for (let time = 0; time < times; time++) {
    const context = await browser.newContext();
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    const throughput = { downloadThroughput: 50_000, uploadThroughput: 50_000 };
    await devtools.send("Network.enable");
    await devtools.send("Network.emulateNetworkConditions", { offline: false, latency: 400, ...throughput });
    await page.goto(url, { waitUntil: "commit" });
    await page.getByText(data).first().waitFor();
    whole.push(await page.evaluate<number>("performance.now()"));
    texts.push(await page.evaluate<number>(FIRST_PAINT));
    await context.close();
  }
  return [
    figureOf(`${view}, slow network: first text, ms`, texts, 3000),
    figureOf(`${view}, slow network: data, ms`, whole, 3000),
  ];
}

const FIRST_PAINT = `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN`;

async function firstPaints(browser: Browser, origin: string): Promise<Figure> {
  const paints: number[] = [];
  // The first is left out: the browser starts its processes.
  for (let time = 0; time <= times; time++) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(origin);
    await page.getByRole("link", { name: "np/tsp" }).waitFor();
    if (time > 0) paints.push(await page.evaluate<number>(FIRST_PAINT));
    await context.close();
  }
  return figureOf("first paint, ms", paints, 1000);
}

/** Returns the milliseconds from the change of the address until all charts of the run are drawn. */
function drawnMs(page: Page, run: string): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const begun = performance.now();
    const look = () => {
      const places = document.querySelectorAll(".chart-place");
      const drawn = document.querySelectorAll(".chart-place svg");
      if (places.length > 0 && places.length === drawn.length) {
        seen.disconnect();
        // The browser has taken the frame that shows the charts when the frame after it begins.
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - begun)));
      }
    };
    const seen = new MutationObserver(look);
    seen.observe(document.body, { childList: true, subtree: true });
    location.hash = "#/runs/${run}";
  })`);
}

async function drawings(browser: Browser, origin: string, run: string, title: string): Promise<Figure> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  const page = await context.newPage();
  // The code of charts is loaded with the first one, which is left out.
  await page.goto(`${origin}/#/runs/${run}`);
  await page.locator(".chart-place svg").nth(4).waitFor();
  const drawn: number[] = [];
  for (let time = 0; time < times; time++) {
    await page.evaluate(`location.hash = "#/server"; undefined`);
    await page.getByRole("heading", { name: "Server" }).waitFor();
    drawn.push(await drawnMs(page, run));
  }
  await context.close();
  return figureOf(`${title}: drawn, ms`, drawn, 300);
}

/** Makes a run as long as wanted, or longer: a folder of --data may have one. Returns its id. */
async function madeRun(client: GradusClient, arms: number): Promise<string> {
  const run = await createLongRun(client, `of-${arms}-arms`, arms);
  const drawn = Number((await run.get()).state?.batchesDrawn ?? 0n);
  const left = Math.max(0, Number(options.batches) - drawn);
  const progress = createProgress(`update batches of ${arms} arms`, Math.ceil(left / PART));
  for (let done = 0; done < left; done += PART) {
    await goOn(client, run, Math.min(PART, left - done));
    progress.step();
  }
  progress.stop();
  return run.runId;
}

const folder = options.data ?? mkdtempSync(join(tmpdir(), "gradus-bench-"));
mkdirSync(folder, { recursive: true });
const browser = await launch(START_MS);
const server = await startOurs(folder);
const client = createClient(`127.0.0.1:${server.port}`);
try {
  const origin = `http://127.0.0.1:${server.httpPort}`;
  const figures = [
    await weight(browser, "tasks", origin, ".thumbnail img"),
    await firstPaints(browser, origin),
    ...(await onSlowNetwork(browser, "tasks", origin, "np/tsp")),
  ];
  for (const arms of options.arms.split(",").map(Number)) {
    const title = `${options.batches} update batches of ${arms} arms`;
    const run = await madeRun(client, arms);
    const url = `${origin}/#/runs/${run}`;
    figures.push(await weight(browser, title, url, ".chart-place svg"), await drawings(browser, origin, run, title));
    figures.push(...(await onSlowNetwork(browser, title, url, "update batches")));
  }
  if (options.json) console.log(JSON.stringify(figures, undefined, 2));
  else console.table(figures);
  process.exitCode = figures.some(({ value, bar }) => bar !== undefined && !(value <= bar)) ? 1 : 0;
} finally {
  client.close();
  await server.stop();
  await browser.close();
  if (options.data === undefined) rmSync(folder, { recursive: true, force: true });
}
