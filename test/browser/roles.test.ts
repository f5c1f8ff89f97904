/** Tests the views by role: none fails for a viewer, and the page tells a wrong token from a missing one. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, type GradusClient } from "../../clients/ts/src/index.ts";
import { openWholeServer as openServer, type TestServer } from "../support/in-process.ts";
import { createLongRun, goOn } from "../support/long-run.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { evaluate } from "./data.ts";
import { openBrowser, openView } from "./opened.ts";

const folder = temporaryFolder();
let server: TestServer;
let operator: GradusClient;
let browser: Browser;
beforeAll(async () => {
  const file = join(folder.path, "tokens.yaml");
  const roles = ["viewer", "trainer", "operator"];
  const tokens = roles.map((role) => `- {name: one-${role}, role: ${role}, token: token-of-a-${role}}`);
  writeFileSync(file, `${tokens.join("\n")}\n`, { mode: 0o600 });
  [server, browser] = await Promise.all([openServer({ tokensFile: file, keepSamples: "8" }), openBrowser()]);
  operator = createClient(server.address, { token: "token-of-a-operator" });
  await goOn(operator, await createLongRun(operator, "seen", 2), 3);
  await evaluate(operator);
  const { value: sample } = await operator.evaluation("left").samples({ brief: true }).next();
  views.push(`evaluations/left/against/right?of=${sample?.part}&instance=${sample?.task?.instanceHash}`);
});
afterAll(async () => {
  operator?.close();
  await server?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const views = [
  "tasks",
  "tasks/np/tsp",
  "runs",
  "runs/seen",
  "runs/seen/arms",
  "runs/seen/groups",
  "runs/seen/samples",
  "runs/seen/changes",
  "runs/seen/configuration",
  "evaluations",
  "evaluations/left",
  "evaluations/left/samples",
  "evaluations/left/against/right",
  "evaluations/left/again?scheme=vcc",
  "plan",
  "server",
];

test.each(["viewer", "trainer", "operator"])(
  "a token of the role %s is refused nothing that it is shown",
  async (role) => {
    await using opened = await openView(browser, server.http);
    const { page } = opened;
    await page.getByLabel("Token", { exact: true }).fill(`token-of-a-${role}`);
    await page.getByRole("button", { name: "Use it" }).click();
    await page.getByText(`one-${role}, ${role}`).waitFor();
    const refused: string[] = [];
    page.on("response", (response) => {
      // An environment without pictures answers DrawTask with FAILED_PRECONDITION, and the page shows the prompt.
      const hasNoPicture = response.status() === 400 && response.url().endsWith("/DrawTask");
      if (response.status() >= 400 && !hasNoPicture) refused.push(`${response.status()} ${response.url()}`);
    });
    for (const view of views) {
      await opened.go(`#/${view}`);
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      await opened.whole();
      expect(await page.locator(".failure").allInnerTexts(), view).toEqual([]);
      // No view is blank: it has more than a heading.
      expect((await page.locator("main").innerText()).length, view).toBeGreaterThan(80);
      expect(await opened.findings(), view).toEqual([]);
    }
    expect(refused).toEqual([]);
    expect(opened.complaints).toEqual([]);
  },
);

test("a viewer's home has no empty pictures, and says what a viewer may look at", async () => {
  await using opened = await openView(browser, server.http);
  const { page } = opened;
  await page.getByLabel("Token", { exact: true }).fill("token-of-a-viewer");
  await page.getByRole("button", { name: "Use it" }).click();
  await page.getByText("Tasks, and their pictures, are for tokens with the role trainer").waitFor();
  expect(await page.locator(".thumbnail").count()).toBe(0);
  await page.getByRole("link", { name: "np/tsp" }).click();
  await page.getByRole("region", { name: "Levels" }).getByText("easy", { exact: true }).waitFor();
});

test("a wrong token is not taken for none, and is not sent again", async () => {
  await using opened = await openView(browser, server.http);
  const { page } = opened;
  await page.getByRole("heading", { name: "This server asks for a token" }).waitFor();
  await page.getByLabel("Token", { exact: true }).fill("token-of-a-stranger");
  await page.getByRole("button", { name: "Use it" }).click();
  await page.getByRole("heading", { name: "The server refused the token" }).waitFor();
  await page.getByRole("dialog").getByText("no token like the one that was sent").waitFor();
  expect(await opened.findings()).toEqual([]);
  await page.reload();
  await page.getByRole("heading", { name: "This server asks for a token" }).waitFor();
  await page.getByLabel("Token", { exact: true }).fill("token-of-a-viewer");
  await page.getByRole("button", { name: "Use it" }).click();
  await page.getByText("one-viewer, viewer").waitFor();
});

test("a paused run says who paused it, and since when", async () => {
  await operator.run("seen").pause();
  await using opened = await openView(browser, `${server.http}/#/runs/seen`);
  const { page } = opened;
  await page.getByLabel("Token", { exact: true }).fill("token-of-a-viewer");
  await page.getByRole("button", { name: "Use it" }).click();
  const words = page.getByText(/by one-operator since \d\d:\d\d:\d\d/);
  await words.waitFor();
  await opened.go("#/runs");
  await page.getByRole("heading", { name: "Runs" }).waitFor();
  await words.waitFor();
  await operator.run("seen").resume();
  await words.waitFor({ state: "detached" });
});
