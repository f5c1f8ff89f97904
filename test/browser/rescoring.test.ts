/** Scores the completions of an evaluation again on the page. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openServer, type TestServer } from "../support/in-process.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { evaluate } from "./data.ts";
import { openBrowser, openView } from "./opened.ts";

const folder = temporaryFolder();
let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  mkdirSync(join(folder.path, "judge"));
  vi.stubEnv("GRADUS_TEST_JUDGE", join(folder.path, "judge"));
  const suiteFile = join(folder.path, "held.json");
  const parts = [{ environment: "test/held", level: "only", split: "eval", tasks: 4 }];
  writeFileSync(suiteFile, JSON.stringify({ id: "held", version: 1, parts }));
  const module = join(import.meta.dirname, "../support/environments/held-judge.ts");
  [server, browser] = await Promise.all([
    openServer({ environmentFile: [module], suiteFile: [suiteFile] }),
    openBrowser(),
  ]);
  await evaluate(server.client);
  const judged = server.client.evaluation("judged");
  await judged.create({ suite: "held" });
  const pending = await Array.fromAsync(judged.pending());
  await judged.submit(
    pending.flatMap(({ task }) => (task === undefined ? [] : [{ task, completion: "<answer>1000</answer>" }])),
  );
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await server?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

test("a parameter is filled in, and what changed is shown with links to samples; its address shows it again", async () => {
  await using opened = await openView(browser, `${server.http}/#/evaluations/left`);
  const { page } = opened;
  await page.getByRole("link", { name: "Score again" }).click();
  await page.getByText("Choose what differs").waitFor();
  await page.getByLabel("format score").fill("0.5");
  await page.getByLabel("format score").press("Enter");
  const changed = page.getByRole("region", { name: "What changed, a table" });
  await changed.waitFor();
  expect(page.url()).toContain("with.format_score=0.5");
  const [verdict, now, , count, , after] = await changed.getByRole("row").nth(1).getByRole("cell").allInnerTexts();
  expect([verdict, now, after]).toEqual(["infeasible", "infeasible", "0.5"]);
  expect(Number(count)).toBeGreaterThan(0);
  await page.reload();
  await changed.getByRole("link").first().click();
  await page.locator(".meant").getByText("What is wrong").waitFor();
  expect(opened.complaints).toEqual([]);
});

test("settings that the tasks do not have are refused in words, and others can be chosen", async () => {
  await using opened = await openView(browser, `${server.http}/#/evaluations/left/again?scheme=none`);
  const { page } = opened;
  await page.getByRole("alert").getByText("countdown has no reward scheme 'none'").waitFor();
  expect(await opened.findings()).toEqual([]);
  await page.getByLabel("Reward scheme").selectOption("vcc");
  await page.getByRole("region", { name: "Scores before and now, a table" }).waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
});

test("a judge is not asked before the reader says so", async () => {
  await using opened = await openView(browser, `${server.http}/#/evaluations/judged/again?format=answer_tag`);
  const { page } = opened;
  const score = page.getByRole("button", { name: "Score 4 completions again" });
  await score.waitFor();
  expect(await page.getByRole("region", { name: "Scores before and now" }).count()).toBe(0);
  expect(await opened.findings()).toEqual([]);
  await score.click();
  await page.getByRole("region", { name: "Scores before and now, a table" }).waitFor();
  expect(opened.complaints).toEqual([]);
});
