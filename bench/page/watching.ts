/** What pages that watch a run cost its server: CPU of its process with none of them open and with some, by turns. */
import type { Browser, BrowserContext } from "playwright-core";
import { setTimeout as sleep } from "node:timers/promises";
import type { GradusClient, RunHandle } from "../../clients/ts/src/public.ts";
import { goOn } from "../../test/support/long-run.ts";
import type { ServerProcess } from "../transport/processes.ts";
import { type Figure, figure } from "./bars.ts";

const PAGES = 5;
/** Between two update batches of the run that is watched. */
const UPDATE_MS = 500;
/** What opening the pages costs is not what watching costs. */
const SETTLE_MS = 4_000;

export interface Watched {
  readonly server: ServerProcess;
  readonly client: GradusClient;
  readonly run: RunHandle;
  readonly arms: number;
  readonly seconds: number;
  readonly pairs: number;
}

async function openPages(browser: Browser, url: string): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  for (let at = 0; at < PAGES; at++) {
    const page = await context.newPage();
    await page.goto(url);
    await page.locator(".chart-place svg").nth(4).waitFor();
  }
  return context;
}

export async function watching(browser: Browser, origin: string, watched: Watched): Promise<readonly Figure[]> {
  const { server, client, run, arms, seconds, pairs } = watched;
  let isOver = false;
  const live = (async () => {
    while (!isOver) {
      await goOn(client, run, 1);
      await sleep(UPDATE_MS);
    }
  })();
  const shareOf = async (pages: number): Promise<number> => {
    const context = pages === 0 ? undefined : await openPages(browser, `${origin}/#/runs/${run.runId}`);
    await sleep(SETTLE_MS);
    const [before, beganMs] = [server.cpuSeconds(), performance.now()];
    await sleep(seconds * 1000);
    const share = (100 * (server.cpuSeconds() - before)) / ((performance.now() - beganMs) / 1000);
    await context?.close();
    return share;
  };
  const added: number[] = [];
  const alone: number[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const order = pair % 2 === 0 ? [0, PAGES] : [PAGES, 0];
    const shares = new Map<number, number>();
    for (const pages of order) shares.set(pages, await shareOf(pages));
    const none = shares.get(0) ?? NaN;
    alone.push(none);
    added.push(((shares.get(PAGES) ?? NaN) - none) / PAGES);
  }
  isOver = true;
  await live;
  return [
    figure(`a live run of ${arms} arms: the server with no page open`, "% of a core", alone),
    figure(`a live run of ${arms} arms: each page that watches it adds`, "% of a core", added, 2),
  ];
}
