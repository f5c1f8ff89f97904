/** How long a long run takes to be drawn, and what holds up a reader who scrolls. */
import type { Browser, Page } from "playwright-core";
import { type Figure, figure } from "./bars.ts";

const WIDTH = 1280;
const WHEEL_PX = 400;
const TURNS_OF_WHEEL = 30;
/** A frame. */
const TURN_MS = 16;

/** Milliseconds from the change of the address until all charts of the run are drawn, as the page itself sees it. */
function drawnMs(page: Page, run: string): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const begun = performance.now();
    const look = () => {
      const places = document.querySelectorAll(".chart-place");
      const drawn = document.querySelectorAll(".chart-place svg");
      if (places.length > 0 && places.length === drawn.length) {
        seen.disconnect();
        // The frame that shows it has been handed over when the one behind it begins.
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - begun)));
      }
    };
    const seen = new MutationObserver(look);
    seen.observe(document.body, { childList: true, subtree: true });
    location.hash = "#/runs/${run}";
  })`);
}

/** The longest task of the page's thread while it is scrolled to its end and back; 0: none took 50 ms. */
async function scrolledMs(page: Page, selector: string): Promise<number> {
  await page.evaluate(`{
    window.longTasks = [];
    window.observed = new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((e) => e.duration)));
    window.observed.observe({ type: "longtask" });
  }`);
  await page.locator(selector).first().hover();
  for (const direction of [1, -1]) {
    for (let turn = 0; turn < TURNS_OF_WHEEL; turn++) {
      await page.mouse.wheel(0, direction * WHEEL_PX);
      await page.waitForTimeout(TURN_MS);
    }
  }
  await page.waitForTimeout(200);
  return page.evaluate<number>(`{
    window.observed.disconnect();
    Math.max(0, ...window.longTasks);
  }`);
}

export interface Drawn {
  readonly runId: string;
  readonly arms: number;
  readonly batches: number;
}

/**
 * As drawings, by a server that has just been started: it loads the run first, and compiles what it does. `short`: a run with
 * few update batches.
 */
export async function firstDrawings(
  browser: Browser,
  start: () => Promise<{ readonly origin: string; readonly stop: () => Promise<void> }>,
  { runId, arms, batches }: Drawn,
  short: string,
  times: number,
): Promise<Figure> {
  const drawn: number[] = [];
  for (let time = 0; time < times; time++) {
    const { origin, stop } = await start();
    const context = await browser.newContext({ viewport: { width: WIDTH, height: 860 } });
    try {
      const page = await context.newPage();
      await page.goto(`${origin}/#/runs/${short}`);
      await page.locator(".chart-place svg").nth(4).waitFor();
      await page.evaluate(`location.hash = "#/server"; undefined`);
      await page.getByRole("heading", { name: "Server" }).waitFor();
      drawn.push(await drawnMs(page, runId));
    } finally {
      await context.close();
      await stop();
    }
  }
  return figure(
    `${batches} update batches of ${arms} arms: drawn first by a server that was just started`,
    "ms",
    drawn,
  );
}

export async function drawings(
  browser: Browser,
  origin: string,
  { runId, arms, batches }: Drawn,
  times: number,
): Promise<readonly Figure[]> {
  const context = await browser.newContext({ viewport: { width: WIDTH, height: 860 } });
  const page = await context.newPage();
  // What is loaded with the first chart is loaded: the bar on loading is another.
  await page.goto(`${origin}/#/runs/${runId}`);
  await page.locator(".chart-place svg").nth(4).waitFor();
  const drawn: number[] = [];
  const charts: number[] = [];
  for (let time = 0; time < times; time++) {
    await page.evaluate(`location.hash = "#/server"; undefined`);
    await page.getByRole("heading", { name: "Server" }).waitFor();
    drawn.push(await drawnMs(page, runId));
    await page.waitForTimeout(300);
    charts.push(await scrolledMs(page, ".charts"));
  }
  // With lines that nobody has asked for: the server remembers nothing of them, and reads the whole history.
  const unknown: number[] = [];
  for (let arm = 0; arm < Math.min(times, arms); arm++) {
    await page.evaluate(`location.hash = "#/server"; undefined`);
    await page.getByRole("heading", { name: "Server" }).waitFor();
    unknown.push(await drawnMs(page, `${runId}?q=arm-${arm}`));
  }
  await page.evaluate(`location.hash = "#/runs/${runId}/arms"; undefined`);
  await page.locator(".rows tbody tr").first().waitFor();
  const table: number[] = [];
  for (let time = 0; time < times; time++) table.push(await scrolledMs(page, ".rows"));
  await context.close();
  const run = `${batches} update batches of ${arms} arms`;
  return [
    figure(`${run}: drawn`, "ms", drawn, 300),
    figure(`${run}: drawn with lines that nobody asked for before`, "ms", unknown, 300),
    figure(`${run}: longest task while its charts are scrolled`, "ms", [Math.max(...charts)], 50),
    figure(`${run}: longest task while its arms are scrolled`, "ms", [Math.max(...table)], 50),
  ];
}
