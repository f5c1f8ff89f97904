/** Tests the page's charts: counts every visible mark, for runs of each size and for two runs. */
import { text } from "node:stream/consumers";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openWholeServer as openServer, type TestServer } from "../support/in-process.ts";
import { createLongRun, goOn } from "../support/long-run.ts";
import { eventually } from "../support/patience.ts";
import { openBrowser, openView } from "./opened.ts";

/** Arms of one environment, more than there are colours. */
const MANY = 12;
const BATCHES = 12;

let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  [server, browser] = await Promise.all([openServer(), openBrowser()]);
  const { client } = server;
  await createLongRun(client, "empty", 2);
  await goOn(client, await createLongRun(client, "one-batch", 2), 1);
  await (await createLongRun(client, "unanswered", 2)).nextBatch();
  await goOn(client, await createLongRun(client, "one-arm", 1), BATCHES);
  await goOn(client, await createLongRun(client, "many-arms", MANY), BATCHES);
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

/** Marks that a reader sees. */
interface Marks {
  readonly lines: number;
  readonly dots: number;
  readonly areas: number;
  /** Different looks of the lines: colour and dash. */
  readonly looks: number;
}

/** Returns the marks of the charts of a view by panel, or the panel's text if it has no chart. */
async function marksOf(page: Page): Promise<Readonly<Record<string, Marks | string>>> {
  return page.evaluate<Record<string, Marks | string>>(`(() => {
    const isDrawn = (element) => {
      const { stroke, fill } = getComputedStyle(element);
      const { width, height } = element.getBoundingClientRect();
      return (stroke !== "none" || fill !== "none") && width + height > 1;
    };
    const of = (chart, mark, element) =>
      [...chart.querySelectorAll('[data-mark="' + mark + '"] ' + element)].filter(isDrawn);
    return Object.fromEntries([...document.querySelectorAll(".panel")].map((panel) => {
      const charts = [...panel.querySelectorAll(".chart-place svg")];
      if (charts.length === 0) return [panel.ariaLabel, panel.querySelector(".empty")?.innerText ?? ""];
      const lines = charts.flatMap((chart) => of(chart, "line", "path"));
      const looks = lines.map((line) => getComputedStyle(line).stroke + " " + getComputedStyle(line).strokeDasharray);
      return [panel.ariaLabel, {
        lines: lines.length,
        dots: charts.flatMap((chart) => of(chart, "dot", "circle")).length,
        areas: charts.flatMap((chart) => of(chart, "area", "path")).length,
        looks: new Set(looks).size,
      }];
    }));
  })()`);
}

/** Whether all charts of the view are drawn, also those out of sight. */
const ALL_DRAWN = `[...document.querySelectorAll(".chart-place")].every((place) => place.querySelector("svg") !== null)`;

async function chartsAt(view: string): Promise<Readonly<Record<string, Marks | string>>> {
  await using opened = await openView(browser, `${server.http}/#/${view}`);
  await opened.page.getByRole("heading", { level: 1 }).waitFor();
  await opened.page.locator(".chart-place svg, .empty").first().waitFor();
  await opened.whole();
  await eventually(async () => expect(await opened.page.evaluate(ALL_DRAWN)).toBe(true));
  const marks = await marksOf(opened.page);
  expect(opened.complaints).toEqual([]);
  return marks;
}

const none = expect.any(String) as unknown;

test("a run without an update batch has no empty axes", async () => {
  expect(await chartsAt("runs/empty")).toEqual({});
});

test("one update batch is drawn: its shares until its end, its figures as dots", async () => {
  const charts = await chartsAt("runs/one-batch");
  expect(charts).toMatchObject({
    "Solved share of each arm": { lines: 0 },
    "Probability of each arm": { lines: 0, dots: 2 },
    "Mean reward": { lines: 0 },
    "Waiting: seconds for an update batch": "The time between two update batches is known from the second one on.",
  });
  const shares = charts["Share of the tasks, by arm"] as Marks;
  expect(shares.areas).toBeGreaterThan(0);
  expect((charts["Mean reward"] as Marks).dots).toBeGreaterThan(0);
  expect((charts["Solved, and useful groups"] as Marks).dots).toBeGreaterThan(0);
});

test("an update batch without a reward says that there is none", async () => {
  const charts = await chartsAt("runs/unanswered");
  expect(charts["Solved share of each arm"]).toBe("No sample is scored yet.");
  expect(charts["Mean reward"]).toBe("No sample has a reward yet.");
  expect(charts["Solved, and useful groups"]).toBe("No sample is scored yet.");
  expect((charts["Share of the tasks, by arm"] as Marks).areas).toBeGreaterThan(0);
});

test("one arm has one line in each chart, and its share is the whole", async () => {
  expect(await chartsAt("runs/one-arm")).toMatchObject({
    "Solved share of each arm": { lines: 1 },
    "Share of the tasks, by arm": { areas: 1 },
    "Probability of each arm": { lines: 1 },
    "Solved, and useful groups": { lines: 2 },
    "Mean reward": { lines: 1 },
    "Waiting: seconds for an update batch": { lines: 1 },
  });
});

test("many arms of one environment have a line each, and no two look alike", async () => {
  const charts = await chartsAt("runs/many-arms");
  expect(charts["Probability of each arm"]).toMatchObject({ lines: MANY, looks: MANY });
  expect((charts["Share of the tasks, by arm"] as Marks).areas).toBeGreaterThan(1);
  // The mean of all samples and the mean over the arms, beside those of the arms.
  expect((charts["Mean reward"] as Marks).lines).toBeGreaterThan(2);
});

test.each([
  ["two runs", "one-arm,many-arms", { lines: 2, dots: 0, looks: 2 }],
  ["a run and one update batch", "many-arms,one-batch", { lines: 1, dots: 1 }],
  ["one update batch", "one-batch", { lines: 0, dots: 1 }],
  ["a run without an update batch", "empty", none],
])("%s laid over each other", async (_, runs, expected) => {
  for (const measure of ["solved", "reward", "useful"]) {
    const charts = await chartsAt(`runs?compare=${runs}&measure=${measure}`);
    expect(charts["Laid over each other"], measure).toEqual(
      expected === none ? none : expect.objectContaining(expected as object),
    );
  }
});

test("the last update batch of a run has its share up to the end of the axis", async () => {
  await using opened = await openView(browser, `${server.http}/#/runs/many-arms`);
  const shares = opened.page.getByRole("region", { name: "Share of the tasks, by arm" });
  await shares.locator("svg").first().waitFor();
  const [area, axis] = await Promise.all(
    ['[data-mark="area"]', '[data-mark="y-grid"]'].map((mark) => shares.locator(mark).boundingBox()),
  );
  expect(Math.abs((area?.x ?? 0) + (area?.width ?? 0) - (axis?.x ?? 0) - (axis?.width ?? 0))).toBeLessThan(2);
});

test("labels of changes do not overlap", async () => {
  const run = await createLongRun(server.client, "changed", 2);
  for (let change = 0; change < 8; change++) {
    await goOn(server.client, run, 1);
    await run.setWeights({ "kind-0/arm-0": 1 + change });
    if (change % 3 === 0) {
      await run.pause();
      await run.resume();
    }
  }
  await goOn(server.client, run, 40);
  for (const width of [380, 1280]) {
    await using opened = await openView(browser, `${server.http}/#/runs/changed`, { width });
    const region = opened.page.getByRole("region", { name: "Probability of each arm" });
    await region.locator("svg").first().waitFor();
    const labels = region.locator('[data-mark="text"] text');
    const boxes = await Promise.all((await labels.all()).map((label) => label.boundingBox()));
    expect(boxes.length).toBeGreaterThan(0);
    const sorted = boxes.map((box) => box ?? { x: 0, width: 0 }).sort((a, b) => a.x - b.x);
    for (const [at, box] of sorted.entries())
      if (at > 0) expect(box.x).toBeGreaterThanOrEqual((sorted[at - 1]?.x ?? 0) + (sorted[at - 1]?.width ?? 0));
    const frame = await region.boundingBox();
    for (const box of sorted) expect(box.x + box.width).toBeLessThanOrEqual((frame?.x ?? 0) + (frame?.width ?? 0));
  }
});

/** Returns the solved share of an arm's samples in each update batch that has some, as percentages with 12 digits. */
async function solvedOf(runId: string, arm: number): Promise<readonly string[]> {
  const records = await server.client.run(runId).history();
  return records.flatMap(({ kind }) => {
    if (kind.case !== "batch" || !kind.value.rewardCounts[arm]) return [];
    return [((kind.value.solvedCounts[arm] ?? 0) / kind.value.rewardCounts[arm]).toPrecision(12)];
  });
}

test("each arm's solved share is over a window that the page states and the reader chooses", async () => {
  await using opened = await openView(browser, `${server.http}/#/runs/many-arms`);
  const { page } = opened;
  const panel = page.getByRole("region", { name: "Solved share of each arm", exact: true });
  await panel
    .getByText(/over the arm's last 64 rollouts, rounded up to whole steps of 1 update batch \(4 rollouts of the run\)/)
    .waitFor();
  await panel.getByText("none", { exact: true }).click();
  await panel.getByText(/Each point is one step: 1 update batch/).waitFor();
  expect(page.url()).toContain("smoothing=0");
  await panel.getByText("Values", { exact: true }).click();
  const saving = page.waitForEvent("download");
  await panel.getByRole("button", { name: "Save as CSV" }).click();
  const download = await saving;
  expect(download.suggestedFilename()).toBe("many-arms-solved-share-of-each-arm.csv");
  const [names = "", ...rows] = (await text(await download.createReadStream())).trim().split("\r\n");
  expect(names.split(",").slice(0, 3)).toEqual(["rollouts", "kind-0/arm-0", "kind-1/arm-1"]);
  for (const arm of [0, 1, MANY - 1]) {
    const column = rows.map((row) => row.split(",")[1 + arm] ?? "").filter((value) => value !== "");
    expect(column.map((value) => Number(value).toPrecision(12))).toEqual(await solvedOf("many-arms", arm));
  }
  expect(opened.complaints).toEqual([]);
});

test("each chart tells its values at the pointer and by the keyboard, and has a table of them", async () => {
  await using opened = await openView(browser, `${server.http}/#/runs/many-arms`);
  const { page } = opened;
  await page.getByRole("region", { name: "Mean reward" }).locator("svg").waitFor();
  await opened.whole();
  const names = await page.evaluate<readonly string[]>(
    `[...document.querySelectorAll(".charts > .panel")].map(({ ariaLabel }) => ariaLabel)`,
  );
  expect(names.length).toBeGreaterThan(5);
  for (const name of names) {
    const panel = page.getByRole("region", { name, exact: true });
    const reading = panel.locator(".reading");
    await panel.scrollIntoViewIfNeeded();
    await panel.locator(".chart-place svg").waitFor();
    await panel.locator(".chart-place").hover();
    expect(await reading.innerText(), name).toMatch(/^[\d,]+ rollouts\n.*\d/);
    await page.mouse.move(0, 0);
    await reading.waitFor({ state: "detached" });
    const slider = panel.getByRole("slider");
    await slider.focus();
    const last = await reading.innerText();
    await slider.press("Home");
    await eventually(async () => expect(await reading.innerText(), name).not.toBe(last));
    const [at = ""] = (await reading.innerText()).split("\n");
    expect(await slider.getAttribute("aria-valuetext"), name).toContain(`${at}: `);
    await slider.blur();
    await panel.getByText("Values", { exact: true }).click();
    const rows = panel.getByRole("row");
    expect(await rows.nth(1).getByRole("cell").first().innerText(), name).toBe(at.replace(" rollouts", ""));
    expect(await rows.count(), name).toBe(2 + Number(await slider.getAttribute("max")));
  }
  expect(await opened.findings()).toEqual([]);
  expect(opened.complaints).toEqual([]);
});

test("a chart is saved as an SVG file that needs nothing of the page", async () => {
  await using opened = await openView(browser, `${server.http}/#/runs/many-arms`);
  const { page } = opened;
  const panel = page.getByRole("region", { name: "Probability of each arm" });
  await panel.locator(".chart-place svg").waitFor();
  await panel.getByText("Values", { exact: true }).click();
  const saving = page.waitForEvent("download");
  await panel.getByRole("button", { name: "Save as SVG" }).click();
  const download = await saving;
  expect(download.suggestedFilename()).toBe("many-arms-probability-of-each-arm.svg");
  const svg = await text(await download.createReadStream());
  expect(svg).not.toMatch(/var\(|currentColor|class="readable"/);
  expect(await panel.locator(".chart-place svg").count()).toBe(1);
  // Another page, without the styles, draws all lines, each in a colour, and the names of the arms.
  await using alone = await openView(browser, "about:blank");
  await alone.page.setContent(svg);
  const strokes = await alone.page.evaluate<readonly string[]>(
    `[...document.querySelectorAll('[data-mark="line"] path')].map((path) => getComputedStyle(path).stroke)`,
  );
  expect(strokes).toHaveLength(MANY);
  for (const stroke of strokes) expect(stroke).toMatch(/^rgb/);
  const texts = await alone.page.locator("text").allTextContents();
  for (let arm = 0; arm < MANY; arm++) expect(texts).toContain(`kind-${arm}/arm-${arm}`);
});
