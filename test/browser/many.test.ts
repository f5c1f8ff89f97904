/** Tests the page on long and wide runs, on empty ones, and with a viewer's token. */
import { fromBinary } from "@bufbuild/protobuf";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, GetHistoryResponseSchema, type GradusClient } from "../../clients/ts/src/index.ts";
import { openWholeServer as openServer, type TestServer } from "../support/in-process.ts";
import { createLongRun, goOn } from "../support/long-run.ts";
import { eventually } from "../support/patience.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { openBrowser, type OpenedPage, openView } from "./opened.ts";

/** Steps that a history is merged into, as in page/src/runs/history.ts. */
const STEPS = 200;
/** Update batches of the long run: twice as many as the page may read one by one. `bench/page` draws 5,000. */
const BATCHES = 4 * STEPS;
const ARMS = 1_000;
/** Update batches of many arms take several times as long. */
const BATCHES_OF_MANY_ARMS = 256;

const folder = temporaryFolder();
let server: TestServer;
let operator: GradusClient;
let browser: Browser;
beforeAll(async () => {
  const file = join(folder.path, "tokens.yaml");
  const tokens = ["viewer", "trainer", "operator"].map(
    (role) => `- {name: one-${role}, role: ${role}, token: token-of-a-${role}}`,
  );
  writeFileSync(file, `${tokens.join("\n")}\n`, { mode: 0o600 });
  [server, browser] = await Promise.all([openServer({ tokensFile: file }), openBrowser()]);
  operator = createClient(server.address, { token: "token-of-a-operator" });
});
afterAll(async () => {
  operator?.close();
  await server?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function giveToken(page: Page, token: string): Promise<void> {
  await page.getByLabel("Token", { exact: true }).fill(token);
  await page.getByRole("button", { name: "Use it" }).click();
}

test("a token is asked for once, kept for the tab, and what it may not do is not shown", async () => {
  await using opened = await openView(browser, server.http);
  const { page } = opened;
  await page.getByLabel("Token", { exact: true }).waitFor();
  expect(await opened.findings()).toEqual([]);
  await giveToken(page, "token-of-a-viewer");
  await page.getByText("one-viewer, viewer").waitFor();
  await page.getByRole("heading", { name: "np/tsp" }).waitFor();
  expect(await page.getByRole("link", { name: "Plan" }).count()).toBe(0);
  await page.reload();
  await page.getByText("one-viewer, viewer").waitFor();
  await page.getByRole("button", { name: "Forget the token" }).click();
  await giveToken(page, "token-of-a-operator");
  await page.getByText("one-operator, operator").waitFor();
  await page.getByRole("link", { name: "Plan" }).waitFor();
  expect(await page.evaluate(() => localStorage.length)).toBe(0);
  expect(opened.complaints).toEqual([]);
});

/** The page at a view of a run, with a token that may look. */
async function openRun(view: string): Promise<OpenedPage> {
  const opened = await openView(browser, `${server.http}/#/runs/${view}`);
  await giveToken(opened.page, "token-of-a-viewer");
  return opened;
}

test("many update batches are drawn in as many steps as can be told apart, and followed", async () => {
  const run = await createLongRun(operator, "long", 8);
  await goOn(operator, run, BATCHES);
  await using opened = await openRun("long");
  const { page } = opened;
  const histories: number[] = [];
  page.on("response", (response) => {
    if (response.url().endsWith("/GetHistory"))
      void response.body().then((body) => histories.push(fromBinary(GetHistoryResponseSchema, body).records.length));
  });
  await page.getByRole("region", { name: "Mean reward" }).locator("svg").waitFor();
  await page.getByText(`${BATCHES.toLocaleString("en")} drawn`).waitFor();
  expect(await page.getByRole("list", { name: "Arms" }).getByRole("listitem").count()).toBe(8);
  // Another view of the same history requests nothing again, and then only the new records.
  await opened.go("#/runs/long/changes");
  await page.getByText("Nothing was changed since the run was created.").waitFor();
  await goOn(operator, run, 1);
  await page.getByText(`${(BATCHES + 1).toLocaleString("en")} drawn`).waitFor();
  await eventually(() => expect(histories.length).toBeGreaterThan(0));
  for (const records of histories.slice(1)) expect(records).toBeLessThan(5);
  expect(Math.max(...histories)).toBeLessThan(2 * STEPS);
  expect(opened.complaints).toEqual([]);
});

test("of a thousand arms what is looked for is found, and only what is seen is laid out", async () => {
  const run = await createLongRun(operator, "wide", ARMS);
  await goOn(operator, run, BATCHES_OF_MANY_ARMS);
  await using opened = await openRun("wide");
  const { page } = opened;
  await page.getByRole("region", { name: "Mean reward" }).locator("svg").waitFor();
  await page.getByText(/Drawn most now: kind-\d+\/arm-\d+ \(/).waitFor();
  const legend = page.getByRole("list", { name: "Arms" }).getByRole("listitem");
  // All arms are of one environment.
  expect(await legend.count()).toBe(1);
  await page.getByLabel("Arms to show").fill("arm-99");
  await page.getByRole("button", { name: "kind-10/arm-990" }).waitFor();
  expect(await legend.count()).toBe(11);
  await opened.go("#/runs/wide/arms");
  const rows = page.getByRole("region", { name: "Arms, a table" }).getByRole("row");
  await rows.nth(5).waitFor();
  expect(await rows.count()).toBeLessThan(80);
  await page.getByLabel("Search arms").fill("arm-512");
  await page.getByRole("rowheader", { name: "kind-12/arm-512" }).waitFor();
  expect(opened.complaints).toEqual([]);
});
