/** Tests changes while the page is open: imports, replies that are late or fail, a server that is away. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunHandle } from "../../clients/ts/src/index.ts";
import { openWholeServer as openServer, type TestServer } from "../support/in-process.ts";
import { eventually } from "../support/patience.ts";
import { completionsOf } from "../support/scripted-policy.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { openBrowser, openView } from "./opened.ts";

const GENERATIONS = 2;

let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  [server, browser] = await Promise.all([openServer({ keepSamples: "32" }), openBrowser()]);
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

async function created(runId: string, length: number): Promise<RunHandle> {
  const run = server.client.run(runId);
  await run.create({
    arms: [{ id: "t0", environment: "countdown", level: "T0" }],
    policy: { kind: "mixture" },
    numGenerations: GENERATIONS,
    promptsPerUpdate: 2,
    length,
  });
  return run;
}

async function step(run: RunHandle): Promise<void> {
  const { tasks } = await run.nextBatch();
  await server.client.batchStep(tasks.map((task) => completionsOf(task, GENERATIONS)));
}

test("an import is seen by whoever watches: what it undid is shown as undone", async () => {
  const run = await created("imported", 40);
  await step(run);
  const { state } = await run.export();
  await run.pause();
  await using opened = await openView(browser, `${server.http}/#/runs/imported/changes`);
  const { page } = opened;
  await page.getByRole("rowheader", { name: "pause" }).waitFor();
  await run.import(state, { restoreControl: true });
  await page.getByRole("rowheader", { name: "import" }).waitFor();
  await page.getByText("undone by an import").waitFor();
  expect(opened.complaints).toEqual([]);
});

test("a run whose shape is changed is told by the new one", async () => {
  const run = await created("reshaped", 40);
  await step(run);
  await using opened = await openView(browser, `${server.http}/#/runs/reshaped/changes`);
  const { page } = opened;
  await page.getByText("2 of 40 (5%)").waitFor();
  await run.updateShape({ numGenerations: 3, length: 20n });
  await page.getByText("2 of 20 (10%)").waitFor();
  await page.getByText("2 prompts an update, 3 completions each, 20 tasks").waitFor();
  await page.goto(`${server.http}/#/runs/reshaped/configuration`);
  const completions = page.locator("dt", { hasText: "completions of each prompt" });
  expect(await completions.locator("+ dd").textContent()).toBe("3");
  expect(opened.complaints).toEqual([]);
});

test("a history that could not be had is asked for again, though the run has ended", async () => {
  const run = await created("ended", 2);
  await step(run);
  await using opened = await openView(browser, `${server.http}/#/runs`);
  const { page } = opened;
  let asked = 0;
  await page.route("**/GetHistory", (route) =>
    ++asked === 1 ? route.fulfill({ status: 503, body: "" }) : route.continue(),
  );
  await opened.go("#/runs/ended");
  await page.getByRole("region", { name: "Mean reward" }).locator("svg").waitFor();
  expect(opened.complaints).toEqual([]);
});

test("groups are shown also where an answer takes longer than the run takes to change", async () => {
  const run = await created("quick", 0);
  await step(run);
  await run.nextBatch();
  await using opened = await openView(browser, `${server.http}/#/runs/quick`);
  const { page } = opened;
  await page.route("**/GetGroups", async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    await route.continue().catch(() => undefined);
  });
  const leaving = new AbortController();
  const changing = (async () => {
    for (let at = 0; !leaving.signal.aborted; at++) {
      await (at % 2 === 0 ? run.pause() : run.resume());
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  })();
  try {
    await opened.go("#/runs/quick/groups");
    await page.getByRole("region", { name: "Groups, a table" }).waitFor();
  } finally {
    leaving.abort();
    await changing;
  }
});

/** A completion of the maximum length: one call looks through only a few of them. */
const LONG = "x".repeat(1_000_000);
const LONG_ONES = 10;

test("a group is found behind megabytes of newer completions, and its last answer is in sight however long it is", async () => {
  const run = await created("verbose", 0);
  const { tasks } = await run.nextBatch();
  const late = `<think>${"long ".repeat(5_000)}</think><answer>77 + 1</answer>`;
  await server.client.batchStep(tasks.map((task) => ({ task, completions: [late, "<answer>1</answer>"] })));
  for (let at = 0; at < LONG_ONES / 2; at++) {
    const { tasks: newer } = await run.nextBatch();
    await server.client.batchStep(newer.map((task) => ({ task, completions: [LONG, ""] })));
  }
  const group = tasks[0]?.groupId ?? "";
  await using opened = await openView(browser, `${server.http}/#/runs/verbose/samples?group=${group}`);
  const { page } = opened;
  await eventually(async () => expect(await page.locator("pre.completion").count()).toBe(GENERATIONS));
  expect(await page.locator("pre.completion mark").first().innerText()).toBe("77 + 1");
  expect(opened.complaints).toEqual([]);
});

/** A task of the suite, with more before it than one call looks through. */
const LAST = 320;

test("a task of an evaluation is found behind megabytes of completions of others", async () => {
  const evaluation = server.client.evaluation("verbose");
  await evaluation.create({ suite: "countdown", model: "m" });
  const tasks = (await Array.fromAsync(evaluation.pending())).flatMap(({ task }) => (task === undefined ? [] : [task]));
  const completion = "x".repeat(34_000);
  for (let from = 0; from < LAST; from += 64)
    await evaluation.submit(tasks.slice(from, from + 64).map((task) => ({ task, sampleIndex: 0, completion })));
  const last = tasks[LAST];
  if (last === undefined) throw new Error("the suite is too small");
  await evaluation.submit([{ task: last, sampleIndex: 0, completion: "the last of them" }]);
  const hash = last.instanceHash;
  await using opened = await openView(browser, `${server.http}/#/evaluations/verbose/samples?instance=${hash}`);
  await opened.page.locator("pre.completion").getByText("the last of them").waitFor();
  expect(opened.complaints).toEqual([]);
});

test("an answer is not tried while another is, and its score is there without its picture", async () => {
  await using opened = await openView(browser, `${server.http}/#/tasks/countdown?level=T0&seed=7`);
  const { page } = opened;
  const held = Promise.withResolvers<void>();
  let tries = 0;
  await page.route("**/TryAnswer", async (route) => {
    tries++;
    await held.promise;
    await route.continue();
  });
  await page.route("**/DrawTask", (route) => route.fulfill({ status: 429, body: "" }));
  const answer = page.getByLabel("Your answer");
  const mark = page.getByRole("status", { name: "Its score" }).locator("mark");
  await answer.fill("1 + 1");
  await answer.press("Control+Enter");
  await eventually(() => expect(tries).toBe(1));
  await answer.fill("2 + 2");
  await answer.press("Control+Enter");
  held.resolve();
  await mark.getByText("1 + 1").waitFor();
  await answer.press("Control+Enter");
  await mark.getByText("2 + 2").waitFor();
  expect(tries).toBe(2);
});

// The tests below run concurrently, because they mostly wait for the page's own clock.
test.concurrent("a view that is opened while the server is away comes with the server", async () => {
  const away = await openServer();
  const { hostname, port } = new URL(away.http);
  await using opened = await openView(browser, away.http);
  const { page } = opened;
  await page.locator(".card").first().waitFor();
  await away[Symbol.asyncDispose]();
  await page.getByRole("link", { name: "Runs" }).click();
  await page.getByText(/Not live since/).waitFor();
  await using back = await openServer({ host: hostname, httpPort: port });
  await page.getByText("There are no runs yet").waitFor();
  expect(back.http).toBe(away.http);
});

test.concurrent("what is asked for again while the server is away stays as it was", async () => {
  const away = await openServer();
  await using opened = await openView(browser, `${away.http}/#/runs`);
  const { page } = opened;
  const list = page.getByText("There are no runs yet");
  await list.waitFor();
  await away[Symbol.asyncDispose]();
  await page.getByText(/Not live since/).waitFor();
  const failed = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/ListRuns"));
  await page.getByRole("button", { name: "Look again" }).click();
  await failed;
  await page.getByRole("alert").waitFor({ state: "detached" });
  await list.waitFor();
});

test.concurrent("a server that takes a request and never answers is not live", async () => {
  await using opened = await openView(browser, server.http);
  const { page } = opened;
  await page.locator(".card").first().waitFor();
  await page.route("**/readyz", () => undefined);
  await page.getByText(/Not live since/).waitFor();
  await page.unroute("**/readyz");
  await page.getByText(/Not live since/).waitFor({ state: "detached" });
});

test.concurrent("the question for a token stays until it is answered", async () => {
  using folder = temporaryFolder();
  const tokensFile = join(folder.path, "tokens.yaml");
  writeFileSync(tokensFile, "- {name: one, role: viewer, token: token-of-a-viewer}\n", { mode: 0o600 });
  await using closed = await openServer({ tokensFile });
  await using opened = await openView(browser, closed.http);
  const { page } = opened;
  const token = page.getByLabel("Token", { exact: true });
  await token.waitFor();
  for (let times = 0; times < 4; times++) await page.keyboard.press("Escape");
  await page.waitForTimeout(300);
  expect(await token.isVisible()).toBe(true);
  // The page refuses a token that no header can hold, and does not keep it.
  await token.fill("Bearer token-of-a-viewer");
  await page.getByRole("button", { name: "Use it" }).click();
  await page.getByText("without blanks").waitFor();
  await page.reload();
  await token.waitFor();
  await token.fill("token-of-a-viewer");
  await page.getByRole("button", { name: "Use it" }).click();
  await page.getByText("one, viewer").waitFor();
  await token.waitFor({ state: "hidden" });
});

test("a run file is not started before it is checked, not even for a moment", async () => {
  await using opened = await openView(browser, `${server.http}/#/plan`);
  const { page } = opened;
  await page.getByText("it can be started").waitFor();
  await page.getByLabel("Id of the run").fill("too-early");
  // The server never checks the text typed from here on. The observer notes at each change whether the button could be
  // pressed.
  const asked = page.waitForRequest("**/CheckRun");
  await page.route("**/CheckRun", () => undefined);
  await page.evaluate(`{
    globalThis.couldBePressed = [];
    const button = [...document.querySelectorAll("button")].find((each) => each.innerText === "Start the run");
    new MutationObserver(() => couldBePressed.push(!button.disabled)).observe(button, { attributes: true });
  }`);
  await page.getByRole("textbox", { name: "The run file" }).fill("arms: []\n");
  await asked;
  await page.evaluate("new Promise((done) => setTimeout(done, 100))");
  expect(await page.evaluate("couldBePressed")).toEqual([false]);
});

test("a change is not made with what was typed since its effect was told, not even for a moment", async () => {
  await created("untold", 40);
  await using opened = await openView(browser, `${server.http}/#/runs/untold`);
  const { page } = opened;
  await page.getByRole("button", { name: "Policy", exact: true }).click();
  await page.getByText("What it does:").waitFor();
  const can = await page.evaluate(`(async () => {
    const dialog = document.querySelector("dialog");
    const button = [...dialog.querySelectorAll("button")].find((each) => each.innerText === "Put it in place");
    const before = !button.disabled;
    const area = dialog.querySelector("textarea");
    area.value = '{"mixture": {"smoothing": 0.5}}';
    area.dispatchEvent(new Event("input", { bubbles: true }));
    // The typed text is there before anything else happens.
    for (let turns = 0; turns < 10; turns++) await undefined;
    return [before, !button.disabled];
  })()`);
  expect(can).toEqual([true, false]);
});
