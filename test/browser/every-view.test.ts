/**
 * Every view of the page: on a narrow dark screen and on a wide light one a screen reader stumbles over nothing, and nothing
 * is wider than the screen; by the keyboard alone one comes to it, and out of what one opened.
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openWholeServer as openServer, type TestServer } from "../support/in-process.ts";
import { eventually } from "../support/patience.ts";
import { SENT_BYTES } from "./chromium.ts";
import { driveByCommandLine, driveHostile, evaluate, keeping, untilKept } from "./data.ts";
import { openBrowser, type OpenedPage, openView } from "./opened.ts";

let server: TestServer;
let browser: Browser;
/** The address of each view behind the server's. */
const views: string[] = [];
beforeAll(async () => {
  [server, browser] = await Promise.all([openServer(keeping), openBrowser()]);
  const { client, address, dataDir } = server;
  await Promise.all([driveByCommandLine(address, dataDir), driveHostile(client), evaluate(client)]);
  await client.run("hostile").rateRows("tsp", new Map([[2, 0.25]]));
  await client.run("hostile").pause();
  await untilKept(client, "hostile", 4);
  const [group] = await client.run("hostile").groups({ which: 0n });
  const { value: sample } = await client.evaluation("left").samples({ brief: true }).next();
  views.push(
    "tasks",
    "tasks/np/tsp?level=easy&seed=3&give=completion&call=Python",
    "runs",
    "runs?compare=by-hand,hostile",
    "runs/by-hand",
    "runs/by-hand/arms",
    "runs/hostile/rows?which=seen",
    "runs/hostile/groups?chosen=1-2",
    "runs/by-hand/problems",
    "runs/hostile/problems?arm=tsp",
    "runs/by-hand/samples?outcome=malformed",
    `runs/hostile/samples?group=${group?.groupId}&sample=2`,
    "runs/hostile/changes",
    "runs/by-hand/configuration",
    "evaluations?show=left,right",
    "evaluations/left",
    "evaluations/left/samples",
    `evaluations/left/samples?of=${sample?.part}&instance=${sample?.task?.instanceHash}`,
    "evaluations/left/against/right",
    `evaluations/left/against/right?of=${sample?.part}&instance=${sample?.task?.instanceHash}`,
    "evaluations/left/again",
    "evaluations/left/again?scheme=vcc",
    "plan",
    "server",
    "nowhere",
  );
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

test.each([{ width: 380, dark: true }, { width: 1600 }])("on a screen as $width, dark: $dark", async (look) => {
  await using opened = await openView(browser, "about:blank", { ...look, firstSight: true });
  const { page } = opened;
  for (const view of views) {
    // The page is loaded for each of them: it would be asked to show another view else, and the old one may still be there.
    await page.goto("about:blank");
    await page.goto(`${server.http}/#/${view}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await opened.whole();
    expect(await page.locator(".failure").allInnerTexts(), view).toEqual([]);
    expect(await opened.findings(), view).toEqual([]);
    expect(await page.evaluate<number>("document.documentElement.scrollWidth"), view).toBeLessThanOrEqual(look.width);
    expect(opened.complaints, view).toEqual([]);
  }
});

test.each([
  { view: "tasks", line: /^np\/tsp$/ },
  { view: "runs", line: /^by-hand: done, 384 samples, 12 update batches drawn, 12 closed$/ },
  { view: "runs/by-hand", line: /^tsp: \d+% solved lately$/ },
])("$view shows its main figures while its code is loaded", async ({ view, line }) => {
  await using opened = await openView(browser, "about:blank", { firstSight: true });
  const { page } = opened;
  const shown = page.locator(".first-sight li").filter({ hasText: line });
  await page.route(/\/assets\/index-.*\.js$/, async (route) => {
    await shown.waitFor();
    await route.continue();
  });
  await page.goto(`${server.http}/#/${view}`);
  await opened.whole();
  await page.getByRole("heading", { level: 1 }).waitFor();
  expect(await page.locator(".first-sight").count()).toBe(0);
  expect(opened.complaints).toEqual([]);
});

test("no view's first load takes more than 200 KB", async () => {
  for (const view of views) {
    await using opened = await openView(browser, `${server.http}/#/${view}`, { firstSight: true });
    await opened.page.getByRole("heading", { level: 1 }).waitFor();
    await opened.whole();
    const sent = await opened.page.evaluate<number>(SENT_BYTES);
    expect(sent, view).toBeGreaterThan(50_000);
    expect(sent, view).toBeLessThanOrEqual(200_000);
  }
});

test("the page says that it is loaded before its scripts are there", async () => {
  await using opened = await openView(browser, "about:blank");
  const { page } = opened;
  const asked = Promise.withResolvers<void>();
  await page.route("**/*.js", async (route) => {
    await asked.promise;
    await route.continue();
  });
  await page.goto(`${server.http}/#/runs`, { waitUntil: "commit" });
  await page.getByText("Loading the page's code").waitFor();
  asked.resolve();
  await page.getByRole("heading", { level: 1 }).waitFor();
  expect(await page.getByText("Loading the page's code").count()).toBe(0);
  expect(opened.complaints).toEqual([]);
});

test.each([
  ["runs", "runs"],
  ["arms", "runs/by-hand/arms"],
  ["rows", "runs/hostile/rows"],
  ["changes", "runs/hostile/changes"],
  ["evaluation", "evaluations/left"],
  ["task-by-task", "evaluations/left/against/right"],
])("the kept picture of %s", async (name, view) => {
  await using opened = await openView(browser, `${server.http}/#/${view}`);
  await opened.page.getByRole("heading", { level: 1 }).waitFor();
  await opened.picture(name);
});

test("the kept picture of a run on a narrow, dark screen", async () => {
  await using opened = await openView(browser, `${server.http}/#/runs/by-hand`, { width: 380, dark: true });
  await opened.page.getByRole("region", { name: "Drawn most now" }).waitFor();
  await opened.picture("narrow-and-dark");
});

test("an address may hold any text, and what is gone", async () => {
  await using opened = await openView(browser, `${server.http}/#/runs/hostile/rows?which=constructor&sort=__proto__`);
  const { page } = opened;
  await page.getByRole("region", { name: "How many rows are expected to pass how often" }).waitFor();
  for (const [view, shown] of [
    ["runs/by-hand/arms?sort=constructor", "3 arms"],
    ["runs/by-hand/samples?outcome=constructor", "samples"],
    ["runs?compare=by-hand,hostile&measure=toString", "by-hand"],
    ["tasks?split=valueOf", "np/tsp"],
    ["evaluations?show=left,gone", "Side by side"],
  ] as const) {
    await opened.go(`#/${view}`);
    await page.getByText(shown).first().waitFor();
    await opened.whole();
    expect(await page.locator(".failure").allInnerTexts(), view).toEqual([]);
  }
  expect(opened.complaints).toEqual([]);
});

/** Returns the name or the text of the focused element. */
const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(`(() => {
    const { tagName, textContent } = document.activeElement;
    const label = document.activeElement.getAttribute("aria-label");
    return tagName.toLowerCase() + ": " + (label ?? textContent.trim());
  })()`);

/** Presses Tab until the focused element has this name. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let times = 0; times < 60; times++) {
    await page.keyboard.press("Tab");
    if ((await focused(page)) === name) return;
  }
  throw new Error(`Tab does not come to ${name}; it is at ${await focused(page)}`);
}

test("by the keyboard one goes from view to view, and the heading of each has the focus", async () => {
  await using opened = await openView(browser, `${server.http}/#/tasks`);
  const { page } = opened;
  await page.getByRole("heading", { name: "np/tsp" }).waitFor();
  await page.keyboard.press("Tab");
  expect(await focused(page)).toBe("a: Skip to the content");
  await tabTo(page, "a: Runs");
  await page.keyboard.press("Enter");
  await eventually(async () => expect(await focused(page)).toBe("h1: Runs"));
  await page.getByRole("link", { name: "hostile", exact: true }).waitFor();
  await tabTo(page, "a: hostile");
  await page.keyboard.press("Enter");
  await eventually(async () => expect(await focused(page)).toBe("h1: hostile"));
  await page.getByRole("link", { name: "Groups" }).waitFor();
  await tabTo(page, "a: Groups");
  await page.keyboard.press("Enter");
  await eventually(() => expect(page.url()).toContain("/groups"));
  await eventually(async () => expect(await focused(page)).toBe("h1: hostile"));
  await page.evaluate("document.activeElement.blur()");
  await page.locator(".skip").focus();
  await page.keyboard.press("Enter");
  expect(await page.evaluate<string>("document.activeElement.tagName")).toBe("MAIN");
  expect(opened.complaints).toEqual([]);
});

/** Opens each dialog of a view by the keyboard, and leaves it by Escape and by its button. */
async function openAndLeave(opened: OpenedPage, name: string): Promise<void> {
  const { page } = opened;
  const button = page.getByRole("button", { name, exact: true });
  for (const leave of ["Escape", "Leave it"]) {
    const dialog = page.getByRole("dialog");
    await button.press("Enter");
    await dialog.waitFor();
    expect(
      await page.evaluate<boolean>(`document.querySelector("dialog[open]").contains(document.activeElement)`),
    ).toBe(true);
    if (leave === "Escape") {
      expect(await opened.findings(), name).toEqual([]);
    }
    if (leave === "Escape") await page.keyboard.press(leave);
    else await dialog.getByRole("button", { name: leave }).press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect(await focused(page)).toBe(`button: ${name}`);
  }
}

test("what is opened by the keyboard has the focus, and leaves it where it was", async () => {
  await using opened = await openView(browser, `${server.http}/#/runs/hostile`);
  await opened.page.getByRole("heading", { name: "hostile" }).waitFor();
  for (const name of ["Resume", "Advance", "Weights", "Policy", "Shape", "Notes", "Delete"])
    await openAndLeave(opened, name);
  const others = { rows: "Rate rows", "groups?chosen=1": "Close the chosen", samples: "Delete the kept completions" };
  for (const [view, name] of Object.entries(others)) {
    await opened.go(`#/runs/hostile/${view}`);
    // Arriving at a view focuses its heading; a click before that would lose the focus to the heading.
    await eventually(async () => expect(await focused(opened.page)).toBe("h1: hostile"));
    await openAndLeave(opened, name);
  }
  expect(opened.complaints).toEqual([]);
});

test("a dialog that was just left is opened again at once", async () => {
  await using opened = await openView(browser, `${server.http}/#/runs/hostile`);
  const { page } = opened;
  const [weights, dialog] = [page.getByRole("button", { name: "Weights", exact: true }), page.getByRole("dialog")];
  for (const leave of ["Escape", "Leave it"]) {
    await weights.press("Enter");
    await dialog.waitFor();
    // Both keys arrive before the browser reports that the dialog is closed, as when the page is busy.
    await page.evaluate(`(async () => {
      const dialog = document.querySelector("dialog[open]");
      if (${leave === "Escape"}) dialog.dispatchEvent(new Event("cancel", { cancelable: true }));
      else [...dialog.querySelectorAll("button")].find(({ innerText }) => innerText === "Leave it").click();
      await undefined;
      await undefined;
      document.activeElement.click();
    })()`);
    await page.evaluate("new Promise((resolve) => setTimeout(resolve, 50))");
    expect(await dialog.isVisible(), leave).toBe(true);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  }
  expect(await focused(page)).toBe("button: Weights");
  expect(opened.complaints).toEqual([]);
});
