/** Tests of lists: they show changes on the server at once, and a hidden page requests nothing. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openWholeServer as openServer, type TestServer } from "../support/in-process.ts";
import { createLongRun, goOn } from "../support/long-run.ts";
import { evaluate, keeping, untilKept } from "./data.ts";
import { openBrowser, openView } from "./opened.ts";

let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  [server, browser] = await Promise.all([openServer(keeping), openBrowser()]);
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

test("runs, evaluations and a run's samples show up while their lists are open", async () => {
  const { client } = server;
  await using runs = await openView(browser, `${server.http}/#/runs`);
  await using evaluations = await openView(browser, `${server.http}/#/evaluations`);
  await runs.page.getByText("There are no runs yet").waitFor();
  await evaluations.page.getByText("There are none yet").waitFor();
  const run = await createLongRun(client, "live", 2);
  await goOn(client, run, 1);
  await evaluate(client);
  await runs.page.getByRole("link", { name: "live", exact: true }).waitFor();
  await evaluations.page.getByRole("link", { name: "left", exact: true }).waitFor();
  await untilKept(client, "live", 4);
  await using samples = await openView(browser, `${server.http}/#/runs/live/samples`);
  await samples.page.getByText(/^4 samples$/).waitFor();
  await goOn(client, run, 1);
  await samples.page.getByText(/^8 samples$/).waitFor();
  await run.pause();
  await runs.page.getByText("paused", { exact: true }).waitFor();
  for (const { complaints } of [runs, evaluations, samples]) expect(complaints).toEqual([]);
});

test("two evaluations are compared task by task, and filtered by which of them solves a task", async () => {
  await evaluate(server.client);
  await using opened = await openView(browser, `${server.http}/#/evaluations/left/against/right`);
  const { page } = opened;
  const choice = page.getByLabel("Show");
  await choice.waitFor();
  const texts = await choice.locator("option").allInnerTexts();
  const [all = 0, ...parts] = texts.map((text) => Number(/\d+/.exec(text)?.[0]));
  expect(texts.map((text) => text.replace(/ ?\d+ ?/, ""))).toEqual([
    ...["all", "solved by the first alone", "solved by the second alone", "solved by both", "solved by neither"],
  ]);
  expect(parts.reduce((sum, part) => sum + part, 0)).toBe(all);
  await choice.selectOption("second");
  await page.getByText(`${parts[1]} task`).first().waitFor();
  const [row = ""] = await page.getByRole("row").filter({ hasText: "countdown" }).allInnerTexts();
  expect(row).toMatch(/0 of 1[^]*1 of 1/);
  expect(opened.complaints).toEqual([]);
});
