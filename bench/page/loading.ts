/** What the page's files weigh as the server sends them, and how soon a browser paints. */
import { readdirSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { type Figure, figure } from "./bars.ts";

const DIST = join(import.meta.dirname, "../../page/dist");
const BYTES_OF_KB = 1000;

/** Bytes of a body, as they come. */
function sentBytes(url: string, encoding: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = get(url, { headers: { "accept-encoding": encoding } }, (response) => {
      let bytes = 0;
      response.on("data", (part: Uint8Array) => (bytes += part.length));
      response.on("end", () =>
        response.statusCode === 200 ? resolve(bytes) : reject(new Error(`${url}: ${response.statusCode}`)),
      );
    });
    request.on("error", reject);
  });
}

/** All files of all views together. */
export async function weights(origin: string): Promise<readonly Figure[]> {
  const files = readdirSync(DIST, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(br|gz|html)$/.test(entry.name))
    .map(({ name }) => `/assets/${name}`);
  const all = async (encoding: string) => {
    const sent = await Promise.all(["/", ...files].map((path) => sentBytes(`${origin}${path}`, encoding)));
    return sent.reduce((sum, bytes) => sum + bytes, 0) / BYTES_OF_KB;
  };
  return [
    figure("all views, by brotli", "KB", [await all("br")], 200),
    figure("all views, by gzip, for browsers that a proxy or plain HTTP keeps from brotli", "KB", [await all("gzip")]),
  ];
}

/** Each time with nothing kept of the time before. */
export async function paints(browser: Browser, origin: string, times: number): Promise<readonly Figure[]> {
  const first: number[] = [];
  const gallery: number[] = [];
  const kilobytes: number[] = [];
  for (let time = 0; time <= times; time++) {
    const context = await browser.newContext();
    const page = await context.newPage();
    const sizes: Promise<number>[] = [];
    page.on("requestfinished", (request) => {
      if (/\/$|\/assets\//.test(new URL(request.url()).pathname))
        sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    });
    await page.goto(origin);
    await page.getByRole("link", { name: "np/tsp" }).waitFor();
    const shown = await page.evaluate<number>("performance.now()");
    const painted = await page.evaluate<number>(
      `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN`,
    );
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    await context.close();
    // The first is not counted: the browser starts its processes.
    if (time === 0) continue;
    first.push(painted);
    gallery.push(shown);
    kilobytes.push(bytes / BYTES_OF_KB);
  }
  return [
    figure("first paint", "ms", first, 1000),
    figure("the gallery is there", "ms", gallery),
    figure("files of the first view, as the browser had them", "KB", kilobytes, 200),
  ];
}
