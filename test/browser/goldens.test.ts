/** Tests which differences between pictures the comparison accepts, on the kept pictures themselves. */
import { readFileSync } from "node:fs";
import type { Browser } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { differenceOf, keptFile, SHARE_MAX } from "./goldens.ts";
import { openBrowser } from "./opened.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});

const kept = (name: string): Buffer => readFileSync(keptFile(name));

/** A kept picture on a page of its own, changed and taken again. */
async function changed(name: string, change: string): Promise<Buffer> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
  await page.setContent(`<style>body { margin: 0 } img { display: block } ${change}</style>
    <img src="data:image/png;base64,${kept(name).toString("base64")}"><div></div>`);
  await page.evaluate<void>("document.images[0].decode()");
  const taken = await page.screenshot();
  await page.close();
  return taken;
}

test("a picture is like itself, and like itself a little moved or blurred", async () => {
  for (const change of ["", "img { filter: blur(1px) }", "img { margin: 1px 0 0 1px }"])
    expect(await differenceOf(browser, await changed("run", change), kept("run"))).toBeLessThan(SHARE_MAX / 2);
});

test("another view, another ground, and a panel that is not there are others", async () => {
  const cover = "div { position: fixed; background: #fff; left: 220px; top: 250px; width: 1030px; height: 330px }";
  for (const taken of [kept("samples"), await changed("run", "img { filter: invert(1) }"), await changed("run", cover)])
    expect(await differenceOf(browser, taken, kept("run"))).toBeGreaterThan(SHARE_MAX);
});
