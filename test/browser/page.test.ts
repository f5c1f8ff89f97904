/** The client in a real browser: a page bundled by vite calls the server's HTTP port, from an origin of its own. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import { text } from "node:stream/consumers";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { environments } from "../../envs/registry.ts";
import { openWholeServer as openServer, type TestServer } from "../support/in-process.ts";
import { openBrowser } from "./opened.ts";

const token = "a-token-of-a-browser";
const DEADLINE_MS = 300_000;

/** A server of the page that returns the page's posted result. */
interface PageServer {
  readonly origin: string;
  readonly server: Server;
  posted(): Promise<unknown>;
}

async function bundled(): Promise<string> {
  const lib = { entry: `${import.meta.dirname}/page.ts`, formats: ["es" as const], fileName: "page" };
  const made = await build({ configFile: false, logLevel: "silent", build: { lib, write: false, target: "es2022" } });
  const [bundle] = [made].flat();
  if (bundle === undefined || !("output" in bundle)) throw new Error("vite gave no bundle");
  return bundle.output[0].code;
}

async function servePage(script: string): Promise<PageServer> {
  const waiting: ((result: unknown) => void)[] = [];
  const take = async (request: IncomingMessage): Promise<void> => {
    waiting.shift()?.(JSON.parse(await text(request)));
  };
  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? "/", "http://page");
    if (request.method === "POST") void take(request).then(() => response.end());
    else if (pathname === "/page.js") response.setHeader("content-type", "text/javascript").end(script);
    else
      response
        .setHeader("content-type", "text/html")
        .end(`<script type="module" src="/page.js${search.replaceAll("&", "&amp;")}"></script>`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, server, posted: () => new Promise((resolve) => waiting.push(resolve)) };
}

let [listed, stranger]: readonly PageServer[] = [];
let gradus: TestServer;
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
  const script = await bundled();
  [listed, stranger] = [await servePage(script), await servePage(script)];
  gradus = await openServer({ corsOrigin: [listed.origin], token });
});
afterAll(async () => {
  await gradus[Symbol.asyncDispose]();
  for (const page of [listed, stranger]) {
    page?.server.closeAllConnections();
    page?.server.close();
  }
});

/** Opens a page with these parameters, and returns the result that it posts. */
async function from(page: PageServer | undefined, parameters: Readonly<Record<string, string>>): Promise<unknown> {
  if (page === undefined) throw new Error("no page is served");
  const query = new URLSearchParams({ server: gradus.http, token, deadlineMs: String(DEADLINE_MS), ...parameters });
  const posted = page.posted();
  const profile = await browser.newContext();
  await (await profile.newPage()).goto(`${page.origin}/?${query.toString()}`);
  return posted.finally(() => profile.close());
}

test("a page resets, steps, streams and drives a run, and reads failures", async () => {
  const result = await from(listed, {});
  expect(result).toEqual({
    environments: environments.length,
    reward: 1,
    results: Array.from({ length: 40 }, () => "scored"),
    statuses: Array.from({ length: 24 }, () => "recorded"),
    samplesRecorded: "24",
    missing: { code: "NOT_FOUND", message: expect.stringContaining("none") as unknown },
    due: { code: "UNAVAILABLE", retryDelayMs: 1000, message: expect.stringContaining("feedback") as unknown },
  });
});

test("a page whose origin is not listed, or whose token is wrong, is refused", async () => {
  expect(await from(stranger, { first: "1", deadlineMs: "1000" })).toMatchObject({ code: "UNAVAILABLE" });
  expect(await from(listed, { first: "1", token: "another-token-of-16" })).toMatchObject({ code: "UNAUTHENTICATED" });
});
