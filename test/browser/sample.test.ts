/**
 * A sample on the page: the list with its answers and its orders, the steps from one sample to the next, the right
 * answer, and copies that say the same as the server. Also the undoing of a change, and what differs between two runs.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openWholeServer as openServer, type TestServer } from "../support/in-process.ts";
import { eventually } from "../support/patience.ts";
import { complete } from "../support/scripted-policy.ts";
import { evaluate, keeping, untilKept } from "./data.ts";
import { openBrowser, type OpenedPage, openView } from "./opened.ts";

let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  [server, browser] = await Promise.all([openServer(keeping), openBrowser()]);
  const { client } = server;
  const run = client.run("stepped");
  await run.create({
    arms: [
      { id: "t0", environment: "countdown", level: "T0" },
      { id: "tsp", environment: "np/tsp", level: "easy" },
    ],
    policy: { kind: "mixture" },
    numGenerations: 2,
    promptsPerUpdate: 2,
    feedbackLag: 0,
  });
  await client.run("other").create({
    arms: [{ id: "t0", environment: "countdown", level: "T1" }],
    policy: { kind: "mixture" },
    numGenerations: 4,
    promptsPerUpdate: 2,
  });
  for (let batch = 0; batch < 3; batch++) {
    const { tasks } = await run.nextBatch();
    await client.batchStep(
      tasks.map((task) => ({
        task,
        completions: [task.armId === "t0" ? complete(task, 0) : "no", `<answer>it's "${batch}"!\nmore</answer>`],
      })),
    );
  }
  await untilKept(client, "stepped", 12);
  await evaluate(client);
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

const open = (view: string): Promise<OpenedPage> => openView(browser, `${server.http}/#/${view}`);
const table = (page: Page) => page.getByRole("region", { name: "Samples, a table" });
/** Returns the texts of a column of the samples. */
const column = (page: Page, at: number) => table(page).locator(`tbody tr > :nth-child(${at})`).allInnerTexts();
const copied = (page: Page) => page.evaluate<string>("navigator.clipboard.readText()");

test("the list shows the first line of each answer, and is sorted by its columns", async () => {
  await using opened = await open("runs/stepped/samples");
  const { page } = opened;
  await page.getByText("12 samples").waitFor();
  expect((await column(page, 5)).filter((answer) => answer === `it's "2"!`)).toHaveLength(2);
  const rewards = async () => (await column(page, 3)).map(Number);
  const head = table(page).getByRole("columnheader", { name: "reward" });
  for (const [direction, sign] of [
    ["ascending", 1],
    ["descending", -1],
  ] as const) {
    await head.getByRole("button").click();
    expect(await head.getAttribute("aria-sort")).toBe(direction);
    await eventually(async () => {
      const shown = await rewards();
      expect(shown).toEqual(shown.toSorted((one, other) => sign * (one - other)));
    });
  }
  await page.reload();
  await eventually(async () => expect((await rewards())[0]).toBe(Math.max(...(await rewards()))));
  await head.getByRole("button").click();
  await eventually(() => expect(page.url()).not.toContain("sort"));
  expect(await opened.findings()).toEqual([]);
  expect(opened.complaints).toEqual([]);
});

test("samples of one update batch are those of its groups", async () => {
  await using opened = await open("runs/stepped/groups?batch=1");
  const { page } = opened;
  await page.getByRole("link", { name: "Samples of this update batch" }).click();
  await page.getByText(/^4 samples$/).waitFor();
  expect((await column(page, 1)).map((name) => name.replace(/\..*/, "")).sort()).toEqual(["2", "2", "3", "3"]);
  await page.getByLabel("update batch").fill("7");
  await page.getByLabel("update batch").press("Enter");
  await page.getByText("None that are kept are like this.").waitFor();
});

test("keys and buttons step through the list that led to a sample, in its order", async () => {
  await using opened = await open("runs/stepped/samples?arm=t0&sort=sample");
  const { page } = opened;
  await table(page).getByRole("link").nth(1).waitFor();
  const names = await column(page, 1);
  const count = names.length;
  await table(page).getByRole("link").first().click();
  const at = page.getByRole("group", { name: "Samples before and after" }).getByRole("status");
  await page.getByText(`1 of ${count}`).waitFor();
  const [previous, next] = [page.getByRole("button", { name: "Previous" }), page.getByRole("button", { name: "Next" })];
  expect(await previous.isDisabled()).toBe(true);
  for (let place = 2; place <= count; place++) {
    if (place % 2 === 0) await page.keyboard.press("ArrowRight");
    else await next.click();
    await eventually(async () => expect(await at.innerText()).toBe(`${place} of ${count}`));
    const index = names[place - 1]?.replace(/.*\./, "");
    await eventually(async () => expect(await page.locator(".meant h2").innerText()).toBe(`Sample ${index}`));
  }
  expect(await next.isDisabled()).toBe(true);
  await page.keyboard.press("ArrowRight");
  expect(await at.innerText()).toBe(`${count} of ${count}`);
  // In a text, arrow keys move through the text.
  await page.locator("pre").first().focus();
  await page.keyboard.press("ArrowLeft");
  expect(await at.innerText()).toBe(`${count} of ${count}`);
  await page.evaluate("document.activeElement.blur()");
  await page.keyboard.press("ArrowLeft");
  await eventually(async () => expect(await at.innerText()).toBe(`${count - 1} of ${count}`));
  // Without the list, the samples beside each other are stepped through.
  await page.reload();
  await eventually(async () => expect(await at.innerText()).toMatch(/^[12] of 2$/));
  await page.getByRole("link", { name: "All samples" }).click();
  await eventually(() => expect(page.url()).toMatch(/samples\?arm=t0&sort=sample$/));
  expect(opened.complaints).toEqual([]);
});

test("a sample shows its prompt and a right answer, and copies are the server's own", async () => {
  const kept = await Array.fromAsync(server.client.run("stepped").samples({ armId: "t0" }));
  const sample = kept.find(({ sampleIndex }) => sampleIndex === 1);
  await using opened = await open(`runs/stepped/samples?group=${sample?.groupId}&sample=1`);
  const { page } = opened;
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const right = page.getByRole("region", { name: "What would be right" });
  await right.getByRole("region", { name: "A best answer" }).waitFor();
  const answer = await right.locator("pre").innerText();
  expect(await page.locator(".asked details").getAttribute("open")).not.toBeNull();
  expect(await opened.findings()).toEqual([]);
  const scored = await server.client.tryAnswer({ taskId: sample?.taskId ?? "" }, { answer });
  expect(scored.outcome).toMatchObject({ solved: true });
  const wrong = page.getByRole("region", { name: "Sample 1" });
  await wrong.getByRole("button", { name: "Copy as JSON" }).click();
  await wrong.getByText("Copied").waitFor();
  const json = JSON.parse(await copied(page)) as Readonly<Record<string, unknown>>;
  expect(json).toMatchObject({ groupId: sample?.groupId, sampleIndex: 1, answer: sample?.answer });
  expect(json["completion"]).toBe(sample?.completion);
  await wrong.getByRole("button", { name: "Copy as a call" }).click();
  await eventually(async () => expect(await copied(page)).toMatch(/^curl /));
  const call = await copied(page);
  expect(call).toMatch(/^[ -~\n]+$/);
  const { stdout } = await promisify(execFile)("bash", ["-c", call]);
  expect(JSON.parse(stdout)).toMatchObject({
    completion: json["completion"],
    outcome: { score: { violation: (json["outcome"] as { score: { violation: string } }).score.violation } },
  });
  expect(opened.complaints).toEqual([]);
});

test("samples of an evaluation are shown, stepped through and copied in the same way", async () => {
  await using opened = await open("evaluations/left/samples?sort=-reward");
  const { page } = opened;
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await table(page).getByRole("link").nth(1).waitFor();
  const names = await column(page, 1);
  expect((await column(page, 5)).some((answer) => answer !== "")).toBe(true);
  await table(page).getByRole("link").first().click();
  const shown = (name = "") => page.getByText(`task ${name.replace(/\..*/, "")}`).waitFor();
  await shown(names[0]);
  await page.keyboard.press("ArrowRight");
  await shown(names[1]);
  await page.getByRole("button", { name: "Copy as JSON" }).click();
  await page.getByText("Copied").waitFor();
  expect(JSON.parse(await copied(page))).toHaveProperty("task.instanceHash");
  expect(opened.complaints).toEqual([]);
});

test("the last change is undone by a change to the values before it, and undone again", async () => {
  const run = server.client.run("stepped");
  const weights = async () => (await run.get()).state?.arms.map(({ weight }) => weight);
  await run.setWeights({ tsp: 0.25 });
  await using opened = await open("runs/stepped/changes");
  const { page } = opened;
  const undo = async (words: string) => {
    await page.getByTitle(words, { exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Undo the last change" });
    await dialog.getByText(/What it does: From task \d+ on/).waitFor();
    expect(await opened.findings()).toEqual([]);
    await dialog.getByRole("button", { name: "Undo it" }).click();
    await dialog.getByText("Done.").waitFor();
    await dialog.getByRole("button", { name: "Close", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
  };
  await undo("Set weights back to tsp = 1");
  expect(await weights()).toEqual([1, 1]);
  await undo("Set weights back to tsp = 0.25");
  expect(await weights()).toEqual([1, 0.25]);
  await run.pause();
  await undo("Resume the run");
  expect((await run.get()).state?.paused).toBe(false);
  const history = await run.history({ withoutArms: true });
  const kinds = history.flatMap(({ kind }) => (kind.case === "control" ? [kind.value.kind] : []));
  expect(kinds).toEqual(["weights", "weights", "weights", "pause", "resume"]);
  expect(opened.complaints).toEqual([]);
});

test("runs are sorted, and what differs between the configurations of two is listed", async () => {
  await using opened = await open("runs?compare=stepped,other");
  const { page } = opened;
  const differences = page.getByRole("region", { name: "Differences, a table" });
  const row = (field: string) =>
    differences.getByRole("row").filter({ has: page.getByRole("rowheader", { name: field, exact: true }) });
  await row("numGenerations").waitFor();
  // The columns have the order of the list of runs.
  expect(await row("numGenerations").locator("td").allInnerTexts()).toEqual(["4", "2"]);
  expect(await row("arms.t0.spec.level").locator("td").allInnerTexts()).toEqual(['"T1"', '"T0"']);
  expect(await row("arms.tsp.id").locator("td").allInnerTexts()).toEqual(["not set", '"tsp"']);
  expect(await row("promptsPerUpdate").count()).toBe(0);
  const runs = page.getByRole("region", { name: "Runs, a table" });
  const ids = () => runs.getByRole("rowheader").locator(".pick a").allInnerTexts();
  expect(await ids()).toEqual(["other", "stepped"]);
  await runs.getByRole("columnheader", { name: "tasks" }).getByRole("button").click();
  await runs.getByRole("columnheader", { name: "tasks" }).getByRole("button").click();
  await eventually(async () => expect(await ids()).toEqual(["stepped", "other"]));
  expect(await opened.findings()).toEqual([]);
  expect(opened.complaints).toEqual([]);
});

test("the note and the tags of a run are shown, and the list of runs is filtered by a tag", async () => {
  const run = server.client.run("other");
  await run.annotate({ note: "<b>A run</b> that\nwaits.", addTags: ["waits", "math/easy"] });
  await using opened = await open("runs");
  const { page } = opened;
  const runs = page.getByRole("region", { name: "Runs, a table" });
  await runs.getByText("#math/easy").waitFor();
  await page.getByRole("combobox", { name: "Tag" }).selectOption("waits");
  await eventually(async () => expect(await runs.getByRole("rowheader").count()).toBe(1));
  expect(page.url()).toContain("tag=waits");
  expect(await opened.findings()).toEqual([]);
  await runs.getByRole("link", { name: "other", exact: true }).click();
  await page.getByText("<b>A run</b> that").waitFor();
  await page.getByText("#waits").waitFor();
  expect(await opened.findings()).toEqual([]);
  await run.annotate({ note: "", removeTags: ["waits"] });
  await page.getByText("#waits").waitFor({ state: "detached" });
  expect(await page.getByText("<b>A run</b> that").count()).toBe(0);
  expect(opened.complaints).toEqual([]);
});
