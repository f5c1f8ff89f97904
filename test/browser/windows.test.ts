/** Tests of many windows of the page on live runs: they share the browser's connections and release them. */
import { connect, createServer, type Server, type Socket } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openWholeServer as openServer, type TestServer } from "../support/in-process.ts";
import { createLongRun, goOn } from "../support/long-run.ts";
import { eventually } from "../support/patience.ts";
import { openBrowser, openView } from "./opened.ts";

/** A proxy that knows which of its connections carry a stream of a run's states. */
interface Proxy {
  readonly url: string;
  readonly streams: Set<Socket>;
  /** Streams that were ever begun. */
  begun(): number;
  close(): void;
}

async function openProxy(target: number): Promise<Proxy> {
  const streams = new Set<Socket>();
  const all = new Set<Socket>();
  let begun = 0;
  const server: Server = createServer((socket) => {
    const behind = connect(target, "127.0.0.1");
    all.add(socket);
    for (const [one, other] of [
      [socket, behind],
      [behind, socket],
    ] as const) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
      one.pipe(other);
    }
    socket.on("data", (bytes) => {
      if (!bytes.includes("POST /gradus.v1.CurriculumService/WatchRun")) return;
      begun++;
      streams.add(socket);
    });
    socket.on("close", () => {
      streams.delete(socket);
      all.delete(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    streams,
    begun: () => begun,
    close: () => {
      for (const socket of all) socket.destroy();
      server.close();
    },
  };
}

const RUNS = ["one", "two", "three", "four", "five"];
/** More than a browser has connections. */
const WINDOWS = 9;

let server: TestServer;
let browser: Browser;
let proxy: Proxy;
beforeAll(async () => {
  [server, browser] = await Promise.all([openServer(), openBrowser()]);
  proxy = await openProxy(Number(new URL(server.http).port));
  for (const run of RUNS) await goOn(server.client, await createLongRun(server.client, run, 2), 2);
});
afterAll(async () => {
  proxy?.close();
  await server?.[Symbol.asyncDispose]();
});

const drawn = (page: Page, batches: number) => page.getByText(`${batches} drawn, ${batches} closed`).waitFor();

test("windows on one run share its stream, and the last that leaves ends it", async () => {
  await using opened = await openView(browser, `${proxy.url}/#/runs/one`);
  const pages = [opened.page];
  for (let more = 1; more < WINDOWS; more++) {
    const page = await opened.page.context().newPage();
    await page.goto(`${proxy.url}/#/runs/one`);
    pages.push(page);
  }
  await Promise.all(pages.map((page) => drawn(page, 2)));
  expect(proxy.begun()).toBe(1);
  await goOn(server.client, server.client.run("one"), 1);
  await Promise.all(pages.map((page) => drawn(page, 3)));
  expect(proxy.streams.size).toBe(1);
  const [hidden, ...others] = pages;
  for (const page of others) await page.goto("about:blank");
  expect(proxy.streams.size).toBe(1);
  const hide = (isHidden: boolean) =>
    hidden!.evaluate<void>(`{
      Object.defineProperty(document, "hidden", { configurable: true, get: () => ${isHidden} });
      document.dispatchEvent(new Event("visibilitychange"));
    }`);
  await hide(true);
  await eventually(() => expect(proxy.streams.size).toBe(0));
  await goOn(server.client, server.client.run("one"), 1);
  await hide(false);
  await drawn(hidden!, 4);
  expect(opened.complaints).toEqual([]);
});

test("windows on many runs are live, and leave connections for what else is asked", async () => {
  await using opened = await openView(browser, `${proxy.url}/#/runs/one`);
  const { page } = opened;
  const pages: Page[] = [];
  for (const run of RUNS) {
    const window = await page.context().newPage();
    await window.goto(`${proxy.url}/#/runs/${run}`);
    await window.getByText(/\d+ drawn, \d+ closed/).waitFor();
    pages.push(window);
  }
  expect(proxy.streams.size).toBeLessThanOrEqual(3);
  for (const run of RUNS.slice(1)) await goOn(server.client, server.client.run(run), 1);
  await Promise.all(pages.slice(1).map((window) => drawn(window, 3)));
});

test("a stream that breaks off is begun again", async () => {
  await using opened = await openView(browser, `${proxy.url}/#/runs/two`);
  await drawn(opened.page, 3);
  await eventually(() => expect(proxy.streams.size).toBe(1));
  const before = proxy.begun();
  for (const socket of proxy.streams) socket.destroy();
  await eventually(() => expect(proxy.begun()).toBe(before + 1));
  await goOn(server.client, server.client.run("two"), 1);
  await drawn(opened.page, 4);
  expect(await opened.page.locator(".failure").allInnerTexts()).toEqual([]);
});
