/** A completion, however long it is and however narrow the screen: all of it can be read, and copied. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openWholeServer as openServer, type TestServer } from "../support/in-process.ts";
import { eventually } from "../support/patience.ts";
import { driveHostile, hostile, keeping, untilKept } from "./data.ts";
import { openBrowser, type OpenedPage, openView } from "./opened.ts";

let server: TestServer;
let browser: Browser;
let group = "";
beforeAll(async () => {
  [server, browser] = await Promise.all([openServer(keeping), openBrowser()]);
  await driveHostile(server.client);
  await untilKept(server.client, "hostile", hostile.length);
  group = (await server.client.run("hostile").groups({ which: 0n }))[0]?.groupId ?? "";
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

const openGroup = (width?: number): Promise<OpenedPage> =>
  openView(
    browser,
    `${server.http}/#/runs/hostile/samples?group=${group}&sample=2`,
    width === undefined ? {} : { width },
  );

/** The completion of a megabyte. */
const long = (page: Page) => page.getByRole("region", { name: "Sample 2" });

test("a completion of a megabyte is read to its end by steps, and copied whole", async () => {
  await using opened = await openGroup();
  const { page } = opened;
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const text = long(page).locator("pre.completion");
  await text.waitFor();
  const more = long(page).getByRole("button", { name: /^Show [\d,]+ characters? more$/ });
  let length = (await text.innerText()).length;
  for (let steps = 0; (await more.count()) > 0; steps++) {
    expect(steps, "the steps end").toBeLessThan(30);
    await more.click();
    const longer = (await text.innerText()).length;
    expect(longer).toBeGreaterThan(length);
    length = longer;
  }
  expect((await text.innerText()).match(/long/g)).toHaveLength(200_000);
  await long(page).getByRole("button", { name: "Copy the completion" }).click();
  await long(page).getByText("Copied").waitFor();
  expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(hostile[2]);
  expect(opened.complaints).toEqual([]);
});

test("what stands before a late answer is read by steps too", async () => {
  await using opened = await openView(browser, `${server.http}/#/tasks/countdown?level=T0&seed=7&give=completion`);
  const { page } = opened;
  const thought = "word ".repeat(20_000);
  await page.getByRole("textbox", { name: "completion" }).fill(`<think>${thought}</think><answer>1 + 1</answer>`);
  await page.getByRole("button", { name: "Score it" }).click();
  const text = page.locator("pre.completion");
  await text.locator("mark").waitFor();
  const before = page.getByRole("button", { name: /^Show [\d,]+ characters? before$/ });
  expect((await text.innerText()).match(/word/g)?.length).toBeLessThan(20_000);
  while ((await before.count()) > 0) await before.click();
  expect((await text.innerText()).match(/word/g)).toHaveLength(20_000);
});

test.each([320, 400, 454, 800])("on a screen %d pixels wide nothing of a completion is cut", async (width) => {
  await using opened = await openGroup(width);
  const { page } = opened;
  await long(page).locator("pre.completion").waitFor();
  await opened.whole();
  const cut = await page.evaluate<
    readonly string[]
  >(`[...document.querySelectorAll(".side-by-side .panel")].flatMap((panel) => {
    const right = panel.getBoundingClientRect().right;
    return [...panel.querySelectorAll("pre, p, table, td, dl, img, button")]
      .filter((element) => element.getBoundingClientRect().right > right + 0.5)
      .map((element) => element.tagName + ": " + element.textContent.slice(0, 60));
  })`);
  expect(cut).toEqual([]);
  // The sample that the address names lies within the screen.
  await eventually(async () => {
    const box = await long(page).boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width);
  });
});
