/**
 * Answers ten questions of a researcher on the page (starting, changing and undoing are one), each with at most two clicks from the view of a run. A run and two
 * evaluations are made by the command line, which also gives the right figures. Filling in a field is no click.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gradusAlone } from "../cli/gradus.ts";
import { middlingAnswer, startChatServer } from "../support/chat-server.ts";
import { eventually } from "../support/patience.ts";
import { type ServerProcess, startServer, temporaryFolder } from "../support/server-process.ts";
import { openBrowser, openView } from "./opened.ts";

const CLICKS_MAX = 2;
const RUN = "asked";
const [A, B] = ["model-a", "model-b"];

const folder = temporaryFolder();
let server: ServerProcess;
let browser: Browser;

async function gradus(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await gradusAlone({ cwd: folder.path }, ...args, "--server", server.address);
  expect(code, `${args.join(" ")}: ${err}`).toBe(0);
  return out;
}

async function json<T>(...args: readonly string[]): Promise<T> {
  return JSON.parse(await gradus(...args, "--json")) as T;
}

const runFile = (length: number): string =>
  [
    "arms:",
    ...["T0", "T1", "T3"].map((level) => `  - {id: ${level}, spec: {environment: countdown, level: ${level}}}`),
    "policy: {frontier: {}}",
    ...["num_generations: 4", "prompts_per_update: 8", `length: ${length}`],
  ].join("\n");

beforeAll(async () => {
  writeFileSync(join(folder.path, "run.yaml"), runFile(96));
  const suite = {
    id: "small",
    version: 1,
    parts: [{ environment: "countdown", level: "T0", split: "eval", tasks: 40 }],
  };
  writeFileSync(join(folder.path, "small.json"), JSON.stringify(suite));
  browser = await openBrowser();
  server = await startServer(folder.path, "--keep-samples", "8", "--suite-file", join(folder.path, "small.json"));
  const ofServer = ["--data-dir", folder.path, "--no-open", "--json"];
  await gradus("run", "start", "run.yaml", "--run-id", RUN, "--updates", "10", ...ofServer);
  for (const [model, id] of [A, B].entries()) {
    await using chat = await startChatServer((request) => ({
      kind: "answer",
      content: middlingAnswer(request, model),
    }));
    const named = ["--model", `org/${id}`, "--evaluation-id", id];
    await gradus("eval", "--suite", "small", "--endpoint", chat.url, ...named, "--json");
  }
});
afterAll(async () => {
  await server?.kill("SIGKILL");
  folder[Symbol.dispose]();
});

interface Asked {
  readonly page: Page;
  /** Clicks, and counts the click. */
  readonly click: (target: Locator) => Promise<void>;
}

interface Question {
  readonly name: string;
  /** Finds the answer on the page, and compares it with that of the command line. */
  readonly answer: (asked: Asked) => Promise<void>;
}

const rail = (page: Page, name: string): Locator =>
  page.getByRole("navigation", { name: "Views" }).getByRole("link", { name });
const tab = (page: Page, name: string): Locator =>
  page.getByRole("navigation", { name: "Of this run" }).getByRole("link", { name });
const rowOf = (page: Page, table: string, head: string): Locator =>
  page
    .getByRole("region", { name: `${table}, a table` })
    .getByRole("row")
    .filter({ has: page.getByRole("rowheader", { name: head, exact: true }) });
const cells = (row: Locator): Promise<readonly string[]> => row.getByRole("cell").allInnerTexts();

interface Run {
  readonly config: { readonly length: string };
  readonly state: {
    readonly arms: readonly {
      readonly armId: string;
      readonly probability: number;
      readonly weight: number;
      readonly practice: number;
    }[];
  };
}

interface Sample {
  readonly cursor: string;
  readonly sampleIndex: number;
  readonly outcome: { readonly score: { readonly reward: number; readonly violation: string } };
}

interface Batch {
  readonly counts: readonly number[];
  readonly rewardSums: readonly number[];
  readonly rewardCounts: readonly number[];
  readonly solvedCounts: readonly number[];
}

interface Problems {
  readonly total: {
    readonly sums: { readonly samples: string };
    readonly violations: readonly { readonly template: string; readonly count: string }[];
  };
}

interface Compared {
  readonly counts: Readonly<Record<"first" | "second" | "both" | "neither", number>>;
  readonly tasks: readonly { readonly instance: string; readonly solvers: string }[];
}

interface Rescored {
  readonly arms: readonly (Readonly<Record<"completions" | "changed" | "reward_before" | "reward", number>> & {
    readonly arm: string;
  })[];
}

interface Status {
  readonly problem: string;
  readonly errors: readonly { readonly method: string; readonly code: string; readonly count: string }[];
}

/** Returns the update batches in the run's history, as the command line prints it. */
async function batches(): Promise<readonly Batch[]> {
  const records = await json<readonly { readonly batch?: Batch }[]>("run", "history", RUN);
  return records.flatMap(({ batch }) => batch ?? []);
}

/** Opens the table behind a chart. Returns the last value of each of its columns, by the column's name. */
async function lastValues(page: Page, click: Asked["click"], chart: string): Promise<ReadonlyMap<string, string>> {
  const panel = page.getByRole("region", { name: chart, exact: true });
  await click(panel.getByText("Values", { exact: true }));
  const rows = panel.getByRole("row");
  const names = await rows.first().getByRole("columnheader").allInnerTexts();
  const values = await Promise.all((await rows.all()).slice(1).map(cells));
  return new Map(names.map((name, at) => [name, values.findLast((row) => row[at] !== "–")?.[at] ?? "–"]));
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const rounded = (value: number): string => String(Math.round(value * 1000) / 1000);

const questions: readonly Question[] = [
  {
    name: "why did this sample get its reward",
    async answer({ page, click }) {
      const lines = (await gradus("run", "samples", RUN, "--no-solved", "--limit", "1", "--json")).trim();
      const { cursor, sampleIndex, outcome } = JSON.parse(lines) as Sample;
      const { reward, violation } = outcome.score;
      expect(violation).not.toBe("");
      await click(tab(page, "Samples"));
      await click(page.getByRole("link", { name: `${cursor}.${sampleIndex}`, exact: true }));
      const sample = page.locator(".meant");
      await sample.getByText(violation).first().waitFor();
      expect(await sample.locator(".reward").innerText()).toContain(rounded(reward));
    },
  },
  {
    name: "which arm is drawn most, and why",
    async answer({ page }) {
      const { state } = await json<Run>("run", "get", RUN);
      const most = state.arms.toSorted((a, b) => b.probability - a.probability)[0]!;
      const why = page.getByRole("region", { name: "Drawn most now" });
      await why.waitFor();
      expect(await why.innerText()).toContain(`${most.armId} (${Math.round(100 * most.probability)}%)`);
      expect(await why.innerText()).toContain("The frontier policy prefers arms");
      const row = why.getByRole("row").filter({ has: page.getByRole("link", { name: most.armId, exact: true }) });
      const [, , , , practice, weight] = await cells(row);
      expect([practice, weight]).toEqual([rounded(most.practice), rounded(most.weight)]);
    },
  },
  {
    name: "is the run learning",
    async answer({ page, click }) {
      const { rewardSums, rewardCounts } = (await batches()).at(-1)!;
      const shown = await lastValues(page, click, "Mean reward");
      expect(Number(shown.get("all samples"))).toBeCloseTo(sum(rewardSums) / sum(rewardCounts), 2);
    },
  },
  {
    name: "is each arm learning",
    async answer({ page, click }) {
      const drawn = await batches();
      const shown = await lastValues(page, click, "Solved share of each arm");
      for (const [arm, name] of ["T0", "T1", "T3"].entries()) {
        // The last batches of the arm that have at least 64 samples, or all of them.
        const window = { scored: 0, solved: 0 };
        for (const { rewardCounts, solvedCounts } of drawn.toReversed()) {
          if (window.scored >= 64) break;
          window.scored += rewardCounts[arm] ?? 0;
          window.solved += solvedCounts[arm] ?? 0;
        }
        expect([name, shown.get(name)]).toEqual([name, `${Math.round((100 * window.solved) / window.scored)}%`]);
      }
    },
  },
  {
    name: "what would be right",
    async answer({ page, click }) {
      await click(tab(page, "Samples"));
      const first = page.getByRole("region", { name: /Completions|Samples/ }).getByRole("link", { name: /^\d+\.\d+$/ });
      const [cursor] = (await first.first().innerText()).split(".");
      await click(first.first());
      const found = (await gradus("run", "samples", RUN, "--json")).trim().split("\n");
      const samples = found.map((line) => JSON.parse(line) as Sample & { readonly taskId: string });
      const { taskId } = samples.find((each) => each.cursor === cursor)!;
      const { answer } = await json<{ readonly answer: string }>("solve", "--task-id", taskId);
      const best = page.getByRole("region", { name: "A best answer" });
      await best.waitFor();
      expect(await best.locator("pre").innerText()).toBe(answer);
    },
  },
  {
    name: "what goes wrong most",
    async answer({ page, click }) {
      const { total } = await json<Problems>("run", "problems", RUN);
      const [most] = total.violations as [Problems["total"]["violations"][number]];
      await click(tab(page, "Problems"));
      const rows = page.getByRole("region", { name: "What goes wrong, a table" }).getByRole("row");
      const percent = `${Math.round((100 * Number(most.count)) / Number(total.sums.samples))}%`;
      await eventually(async () =>
        expect((await cells(rows.nth(1))).slice(0, 3)).toEqual([most.template, percent, most.count]),
      );
    },
  },
  {
    name: "which tasks does B solve that A does not",
    async answer({ page, click }) {
      const { counts, tasks } = await json<Compared>("eval", "compare", A, B);
      expect(counts.second).toBeGreaterThan(0);
      await click(rail(page, "Evaluations"));
      await click(page.getByRole("link", { name: `gains over ${A}` }));
      await page.getByRole("region", { name: "Tasks, a table" }).waitFor();
      const facts = await page.locator(".facts > div").allInnerTexts();
      expect(facts.map((each) => each.split("\n"))).toEqual([
        ["solved by the first alone", String(counts.first)],
        ["solved by the second alone", String(counts.second)],
        ["solved by both", String(counts.both)],
        ["solved by neither", String(counts.neither)],
      ]);
      const shown = await page.getByRole("region", { name: "Tasks, a table" }).getByRole("rowheader").allInnerTexts();
      const gained = tasks.filter(({ solvers }) => solvers === "second").map(({ instance }) => instance.slice(0, 8));
      expect(shown.toSorted()).toEqual(gained.toSorted());
    },
  },
  {
    name: "is the server healthy",
    async answer({ page, click }) {
      const missing = await gradusAlone({ cwd: folder.path }, "run", "get", "none", "--server", server.address);
      expect(missing.code).toBe(3);
      const { problem, errors } = await json<Status>("status");
      expect(problem).toBe("");
      const found = errors.find(({ method, code }) => method.endsWith("/GetRun") && code === "NOT_FOUND")!;
      await click(rail(page, "Server"));
      const health = page.getByRole("region", { name: "How it is" });
      await health.getByText("✓ ready").waitFor();
      expect(await health.innerText()).toMatch(/\d+% busy[^]*[\d.]+ of \d+ cores[^]*\d+ MiB of [\d,]+ MiB/);
      const row = rowOf(page, "Errors", "not found").filter({ hasText: "GetRun" });
      expect(await cells(row)).toEqual(["GetRun", found.count, found.count]);
      const latency = await cells(rowOf(page, "Calls", "GetRun"));
      expect(latency[0]).toMatch(/^\d+$/);
      expect(Number(latency[2])).toBeGreaterThan(0);
      expect(Number(latency[3])).toBeGreaterThanOrEqual(Number(latency[2]));
    },
  },
  {
    name: "start a run",
    async answer({ page, click }) {
      await click(rail(page, "Plan"));
      await page.getByRole("textbox", { name: "The run file" }).fill(runFile(64));
      await page.getByText("it can be started").waitFor();
      await page.getByLabel("Id of the run").fill("begun");
      await click(page.getByRole("button", { name: "Start the run" }));
      await page.getByRole("heading", { name: "begun" }).waitFor();
      expect((await json<Run>("run", "get", "begun")).config.length).toBe("64");
    },
  },
  {
    name: "change a run",
    async answer({ page, click }) {
      await click(page.getByRole("button", { name: "Weights", exact: true }));
      await page.getByRole("spinbutton", { name: "T1", exact: true }).fill("2");
      await click(page.getByRole("button", { name: "Set them" }));
      await page.getByText("Done.").waitFor();
      const { state } = await json<Run>("run", "get", RUN);
      expect(state.arms.map(({ armId, weight }) => [armId, weight])).toEqual([
        ["T0", 1],
        ["T1", 2],
        ["T3", 1],
      ]);
    },
  },
  {
    name: "undo a change",
    async answer({ page, click }) {
      await click(page.getByRole("button", { name: "Undo", exact: true }));
      await click(page.getByRole("button", { name: "Undo it" }));
      await page.getByText("Done.").waitFor();
      const { state } = await json<Run>("run", "get", RUN);
      expect(state.arms.map(({ weight }) => weight)).toEqual([1, 1, 1]);
    },
  },
  {
    name: "what did another reward scheme give",
    async answer({ page, click }) {
      const scheme = ["--scheme", "graded", "--scheme-param", "format_score=0.5"];
      const { arms } = await json<Rescored>("rescore", "--evaluation-id", B, ...scheme);
      const [arm] = arms as [Rescored["arms"][number]];
      expect(arm.changed).toBeGreaterThan(0);
      await click(rail(page, "Evaluations"));
      const rows = page.getByRole("region", { name: "Evaluations, a table" }).getByRole("row");
      const row = rows.filter({ has: page.getByRole("link", { name: B, exact: true }) });
      await click(row.getByRole("link", { name: "score again" }));
      await page.getByLabel("Reward scheme").selectOption("graded");
      await page.getByLabel("format score").fill("0.5");
      await page.getByLabel("format score").press("Enter");
      await eventually(() => expect(page.url()).toContain("with.format_score=0.5"));
      const { completions, changed, reward_before: before, reward } = arm;
      const wanted = [String(completions), String(changed), "0", rounded(before), rounded(reward)];
      const now = rowOf(page, "Scores before and now", arm.arm);
      await eventually(async () => expect((await cells(now)).slice(0, 5)).toEqual(wanted));
    },
  },
];

test.each(questions)("$name", async ({ answer }) => {
  await using opened = await openView(browser, `${server.httpAddress}/#/runs/${RUN}`);
  const { page } = opened;
  await page.getByRole("heading", { name: RUN }).waitFor();
  await opened.whole();
  let clicks = 0;
  const click = async (target: Locator): Promise<void> => {
    clicks++;
    await target.click();
  };
  await answer({ page, click });
  expect(clicks).toBeLessThanOrEqual(CLICKS_MAX);
  await opened.whole();
  await eventually(async () => expect(await opened.findings()).toEqual([]));
  expect(opened.complaints).toEqual([]);
});
