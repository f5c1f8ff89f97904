/** One task of two evaluations on the page: both completions, their figures, and the steps to other tasks. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AnswerFormatName } from "../../clients/ts/src/choices.ts";
import type { Sample } from "../../clients/ts/src/index.ts";
import { openWholeServer as openServer, type TestServer } from "../support/in-process.ts";
import { eventually } from "../support/patience.ts";
import { complete } from "../support/scripted-policy.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { hostile } from "./data.ts";
import { openBrowser, openView } from "./opened.ts";

const SAMPLES = 2;
const TASKS = 12;

const folder = temporaryFolder();
let server: TestServer;
let browser: Browser;

/** Answers some tasks of a suite with several samples each, and a few tasks with a script. */
async function evaluate(id: string, model: number, tasks: number, answerFormat: AnswerFormatName): Promise<void> {
  const evaluation = server.client.evaluation(id);
  await evaluation.create({ suite: "small", samplesPerTask: SAMPLES, answerFormat });
  const pending = await Array.fromAsync(evaluation.pending({ pageSize: 100 }));
  const asked = pending.slice(0, tasks).flatMap(({ task }) => (task === undefined ? [] : [task]));
  const completions = asked.flatMap((task, at) =>
    Array.from({ length: SAMPLES }, (_, sampleIndex) => {
      const completion = at % 7 === 3 ? `${hostile[0]} ${sampleIndex}` : complete(task, SAMPLES * model + sampleIndex);
      return { task, sampleIndex, completion };
    }),
  );
  await evaluation.submit(completions);
}

beforeAll(async () => {
  const suiteFile = join(folder.path, "small.json");
  const parts = ["T1", "T3"].map((level) => ({ environment: "countdown", level, split: "eval", tasks: TASKS / 2 }));
  writeFileSync(suiteFile, JSON.stringify({ id: "small", version: 1, parts }));
  [server, browser] = await Promise.all([openServer({ suiteFile: [suiteFile] }), openBrowser()]);
  await evaluate("one", 0, TASKS, "answer_tag");
  await evaluate("two", 1, TASKS, "answer_tag");
  await evaluate("boxed", 2, 1, "boxed");
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** Returns the samples of an evaluation by the hash of their instance. */
async function samplesOf(id: string): Promise<ReadonlyMap<string, readonly Sample[]>> {
  const samples = await Array.fromAsync(server.client.evaluation(id).samples());
  return Map.groupBy(samples, ({ task }) => task?.instanceHash ?? "");
}

function scoresOf(samples: readonly Sample[]) {
  return samples.flatMap(({ outcome }) => (outcome?.kind === "scored" ? [outcome] : []));
}

/** Compares a column of the view with the samples that the server has. */
async function expectColumn(page: Page, id: string, samples: readonly Sample[]): Promise<void> {
  expect(samples).toHaveLength(SAMPLES);
  const scores = scoresOf(samples);
  const column = page.getByRole("region", { name: id, exact: true });
  const mean = scores.reduce((sum, { reward }) => sum + reward, 0) / SAMPLES;
  await eventually(async () =>
    expect(await column.locator("> .facts > div").allInnerTexts()).toEqual([
      `mean reward\n${Math.round(1000 * mean) / 1000}`,
      `solved\n${scores.filter(({ solved }) => solved).length} of ${SAMPLES}`,
    ]),
  );
  expect(await column.locator("pre.completion").allInnerTexts()).toEqual(samples.map(({ completion }) => completion));
  const rewards = await column.locator(".reward").allInnerTexts();
  expect(rewards.map((text) => Number(text.replace("−", "-")))).toEqual(
    scores.map(({ reward }) => Math.round(1000 * reward) / 1000),
  );
  const marked = samples.filter(({ answer }) => answer !== undefined).length;
  expect(await column.locator("mark").count()).toBe(marked);
}

const prompts = (page: Page) => page.locator(".asked details");

test("a task of a comparison shows the prompt once and the samples of both, and steps in the table's order", async () => {
  const [one, two] = await Promise.all([samplesOf("one"), samplesOf("two")]);
  const list = `${server.http}/#/evaluations/one/against/two?sort=first`;
  await using opened = await openView(browser, list);
  const { page } = opened;
  const links = page.getByRole("region", { name: "Tasks, a table" }).getByRole("rowheader").getByRole("link");
  await links.nth(TASKS - 1).waitFor();
  const names = await links.allInnerTexts();
  const instances = names.map((name) => [...one.keys()].find((hash) => hash.startsWith(name)) ?? "");
  const at = page.getByRole("group", { name: "Tasks before and after" }).getByRole("status");
  const next = page.getByRole("button", { name: "Next" });
  await links.first().click();
  for (const [place, instance] of instances.entries()) {
    await eventually(async () => expect(await at.innerText()).toBe(`${place + 1} of ${TASKS}`));
    await page.getByText(`task ${instance}`).waitFor();
    await expectColumn(page, "one", one.get(instance) ?? []);
    await expectColumn(page, "two", two.get(instance) ?? []);
    expect(await prompts(page).count()).toBe(1);
    const asked = one.get(instance)?.[0]?.task?.prompt.map(({ content }) => content);
    expect(await prompts(page).locator("pre").allInnerTexts()).toEqual(asked);
    await page.getByRole("region", { name: "A best answer" }).waitFor();
    if (place === TASKS - 1) expect(await next.isDisabled()).toBe(true);
    else if (place % 2 === 0) await page.keyboard.press("ArrowRight");
    else await next.click();
  }
  await page.reload();
  await eventually(async () => expect(await at.innerText()).toBe(`${TASKS} of ${TASKS}`));
  await page.keyboard.press("ArrowLeft");
  await page.getByText(`task ${instances[TASKS - 2]}`).waitFor();
  await opened.whole();
  expect(await opened.findings()).toEqual([]);
  await page.getByRole("link", { name: "All tasks" }).click();
  await eventually(async () => expect(await links.allInnerTexts()).toEqual(names));
  expect(page.url()).toBe(list);
  expect(opened.complaints).toEqual([]);
});

test("the filter of a comparison decides which tasks are stepped through", async () => {
  const [one, two] = await Promise.all([samplesOf("one"), samplesOf("two")]);
  const solves = (samples: readonly Sample[] = []) => scoresOf(samples).some(({ solved }) => solved);
  const gained = [...one].filter(([hash, samples]) => !solves(samples) && solves(two.get(hash))).length;
  expect(gained).toBeGreaterThan(0);
  expect(gained).toBeLessThan(TASKS);
  await using opened = await openView(browser, `${server.http}/#/evaluations/one/against/two?show=second`);
  await opened.page.getByRole("rowheader").getByRole("link").first().click();
  // A column may say the same of its solved samples, so only the place among the tasks is read.
  const place = opened.page.getByRole("group", { name: "Tasks before and after" }).getByRole("status");
  await place.getByText(`1 of ${gained}`, { exact: true }).waitFor();
  await opened.go("#/evaluations/one/against/two?of=none&instance=gone");
  await opened.page.getByText("Neither has a sample of task gone.").waitFor();
  expect(opened.complaints).toEqual([]);
});

test("the columns stack on a narrow screen, and each sample links to its own page", async () => {
  await using opened = await openView(browser, `${server.http}/#/evaluations/one/against/two`, { width: 380 });
  const { page } = opened;
  await page.getByRole("rowheader").getByRole("link").first().click();
  const column = (id: string) => page.getByRole("region", { name: id, exact: true });
  await column("two").locator("pre.completion").nth(1).waitFor();
  const places = async () => Promise.all(["one", "two"].map(async (id) => (await column(id).boundingBox())!));
  const [above, below] = await places();
  expect(below!.y).toBeGreaterThanOrEqual(above!.y + above!.height);
  await page.setViewportSize({ width: 1280, height: 860 });
  const [left, right] = await places();
  expect(right!.x).toBeGreaterThanOrEqual(left!.x + left!.width);
  expect(right!.y).toBe(left!.y);
  const text = await column("two").locator("pre.completion").nth(1).innerText();
  await column("two").getByRole("link", { name: "Its own page" }).nth(1).click();
  await page.getByRole("heading", { name: "two", level: 1 }).waitFor();
  await page.locator(".meant").getByRole("heading", { name: "Sample 1" }).waitFor();
  expect(await page.locator(".meant pre.completion").innerText()).toBe(text);
  expect(opened.complaints).toEqual([]);
});

test("prompts that differ are both shown, and a column says that it has no sample", async () => {
  const hashes = [...(await samplesOf("one")).keys()];
  const [task] = (await samplesOf("boxed")).keys();
  const other = hashes.find((hash) => hash !== task);
  await using opened = await openView(browser, `${server.http}/#/evaluations/one/against/boxed`);
  const { page } = opened;
  await page
    .getByRole("link", { name: task?.slice(0, 8) ?? "" })
    .first()
    .click();
  await prompts(page).nth(1).waitFor();
  expect(await prompts(page).locator("summary").allInnerTexts()).toEqual([
    expect.stringContaining("What one was asked: countdown"),
    expect.stringContaining("What boxed was asked: countdown"),
  ]);
  await opened.whole();
  expect(await opened.findings()).toEqual([]);
  await opened.go(new URL(page.url()).hash.replace(task ?? "", other ?? ""));
  await page.getByRole("region", { name: "boxed", exact: true }).getByText("It has no sample of this task.").waitFor();
  expect(await prompts(page).count()).toBe(1);
  await opened.whole();
  expect(await opened.findings()).toEqual([]);
  expect(opened.complaints).toEqual([]);
});
