/** Each view of the page on a real server, with a run that the command line made: what is seen, and what is done. */
import axe from "axe-core";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient, type GradusClient } from "../../clients/ts/src/index.ts";
import { controlsOf } from "../support/controls.ts";
import { eventually } from "../support/patience.ts";
import { type ServerProcess, startServer, temporaryFolder } from "../support/server-process.ts";
import { openBrowser, type OpenedPage, openView } from "./opened.ts";

const folder = temporaryFolder();
const gradus = join(import.meta.dirname, "../../cli/gradus");

/** Wrong answers, and right ones, of which a model wrote more than it should. */
const hostile = [
  '<script>window.hostile = "ran"</script><answer>[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0]</answer>',
  '<img src="x" onerror="window.hostile = 1"><a href="javascript:window.hostile = 1">here</a>',
  `\u0000\u001b[31m\u202egnihton\u202c ${"long ".repeat(200_000)}`.slice(0, 250_000),
  "<think>none</think><answer>{{constructor.constructor('window.hostile = 1')()}}</answer>",
];

let server: ServerProcess;
let client: GradusClient;
let browser: Browser;

async function driveByCommandLine(): Promise<void> {
  const file = join(folder.path, "run.yaml");
  const arm = (id: string, environment: string, level: string) =>
    `  - {id: ${id}, spec: {environment: ${environment}, level: ${level}}}`;
  const arms = [arm("t0", "countdown", "T0"), arm("tsp", "np/tsp", "easy"), arm("clique", "np/clique", "easy")];
  writeFileSync(
    file,
    ["arms:", ...arms, "policy: {frontier: {}}", "num_generations: 4", "prompts_per_update: 8", "length: 96"].join(
      "\n",
    ),
  );
  const args = ["--server", server.address, "--data-dir", folder.path, "--run-id", "by-hand", "--no-open"];
  await promisify(execFile)(gradus, ["run", "start", file, ...args, "--chart", join(folder.path, "chart.svg")]);
}

/** A run that waits: one group of hostile completions, the others open. */
async function driveHostile(runId = "hostile"): Promise<void> {
  const run = client.run(runId);
  await run.create({
    arms: [
      { id: "tsp", environment: "np/tsp", level: "easy" },
      { id: "t0", environment: "countdown", level: "T0" },
    ],
    policy: { kind: "staged", stages: [{ weights: { tsp: 1 } }, { weights: { t0: 1 } }] },
    numGenerations: 4,
    promptsPerUpdate: 4,
  });
  const { tasks } = await run.nextBatch();
  const [first] = tasks;
  if (first === undefined) throw new Error("the run has no task");
  await client.batchStep([{ task: first, completions: hostile }]);
}

beforeAll(async () => {
  server = await startServer(folder.path, "--keep-samples", "8");
  client = createClient(server.address);
  [browser] = await Promise.all([openBrowser(), driveByCommandLine(), driveHostile()]);
});
afterAll(async () => {
  await browser?.close();
  client?.close();
  await server?.kill("SIGKILL");
  folder[Symbol.dispose]();
});

/** What a screen reader would stumble over: serious findings alone. */
async function findings({ page }: OpenedPage): Promise<readonly string[]> {
  await page.evaluate(`if (window.axe === undefined) { ${axe.source} }`).catch(() => undefined);
  const { violations } = await page.evaluate(async () => {
    const { run } = (globalThis as unknown as { readonly axe: typeof axe }).axe;
    return run({ resultTypes: ["violations"] });
  });
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .map(({ html }) => html)
          .join(" ")
          .slice(0, 300)}`,
    );
}

describe("three questions, each in three clicks from the start", () => {
  test("what would a right answer look like", async () => {
    await using opened = await openView(browser, server.httpAddress);
    const { page } = opened;
    await page.locator(".card img").nth(5).waitFor();
    await opened.picture("tasks");
    await page.getByRole("link", { name: "np/tsp" }).click();
    await page.getByRole("button", { name: "Reveal the best" }).click();
    await page.getByRole("region", { name: "A best answer" }).getByRole("img").waitFor();
    await opened.picture("a-right-answer");
    expect(opened.complaints).toEqual([]);
  });

  test("which arm is drawn most now, and why", async () => {
    await using opened = await openView(browser, server.httpAddress);
    const { page } = opened;
    await page.getByRole("link", { name: "Runs" }).click();
    await page.getByRole("link", { name: "by-hand", exact: true }).click();
    const why = page.getByRole("region", { name: "Drawn most now" });
    await why.waitFor();
    expect(await why.innerText()).toMatch(
      /Drawn most now: \w+ \(\d+%\)[^]*frontier policy draws where success is near/,
    );
    await page.getByRole("region", { name: "Mean reward" }).locator("svg").waitFor();
    await opened.picture("run");
    expect(await findings(opened)).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });

  test("why did this sample get -2.5", async () => {
    await using opened = await openView(browser, server.httpAddress);
    const { page } = opened;
    await page.getByRole("link", { name: "Runs" }).click();
    await page.getByRole("link", { name: "Samples of by-hand" }).click();
    // What is looked for is typed.
    await page.getByLabel("reward from").fill("-2.5");
    await page.getByLabel("to", { exact: true }).fill("-2.5");
    await page.getByLabel("to", { exact: true }).blur();
    await eventually(() => expect(page.url()).toContain("max=-2.5"));
    // Until the answer is there the rows are those of before, of which a later one may have -2.5 as well.
    const first = page.getByRole("region", { name: "Samples, a table" }).getByRole("row").nth(1);
    await first.getByRole("cell", { name: "-2.5" }).waitFor();
    await opened.picture("samples");
    await page.getByRole("region", { name: "Samples, a table" }).getByRole("link").first().click();
    const sample = page.locator(".meant");
    await sample.waitFor();
    expect(await sample.innerText()).toMatch(/-2\.5[^]*malformed[^]*What is wrong: /);
    await opened.picture("why");
    expect(await findings(opened)).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });
});

test("an answer is scored at once, its place marked, and its link names environment, level and seed", async () => {
  await using opened = await openView(browser, `${server.httpAddress}/#/tasks/countdown?level=T0&seed=7`);
  const { page } = opened;
  await page.getByLabel("Your answer").fill("1 + 1");
  await page.getByRole("button", { name: "Score it" }).click();
  const score = page.getByRole("status", { name: "Its score" });
  await score.waitFor();
  expect(await score.locator("mark").innerText()).toBe("1 + 1");
  expect(await score.innerText()).toMatch(/What is wrong/);
  await page.getByRole("button", { name: "The next seed" }).click();
  await eventually(() => expect(page.url()).toContain("seed=8"));
  await page.getByText("answer tag", { exact: true }).click();
  await eventually(() => expect(page.url()).toContain("format=answer_tag"));
  await page.getByText("Python", { exact: true }).click();
  await page.getByText('client.reset("countdown", level="T0", answer_format="answer_tag", seed=8)').waitFor();
  expect(await findings(opened)).toEqual([]);
  expect(opened.complaints).toEqual([]);
});

test("what a model wrote is text, whatever it wrote", async () => {
  await using opened = await openView(browser, `${server.httpAddress}/#/runs/hostile/samples`);
  const { page } = opened;
  const rows = page.getByRole("region", { name: "Samples, a table" }).getByRole("row");
  // Newer ones are shown when they are looked for.
  await eventually(async () => {
    await page.getByRole("button", { name: "Look again" }).click();
    expect(await rows.count()).toBe(hostile.length + 1);
  });
  await page.getByRole("region", { name: "Samples, a table" }).getByRole("link").first().click();
  const shown = page.locator("pre.completion");
  await eventually(async () => expect(await shown.count()).toBe(hostile.length));
  const [script, image, control] = await shown.allInnerTexts();
  expect(script).toContain('<script>window.hostile = "ran"</script>');
  expect(image).toContain("javascript:window.hostile");
  expect(control).toContain("␀␛[31m⟨U+202E⟩gnihton");
  expect(await page.evaluate(() => "hostile" in globalThis)).toBe(false);
  expect(await page.locator("pre script, pre img, pre a").count()).toBe(0);
  expect(opened.complaints).toEqual([]);
});

test("each action says what it does before it is done, and leaves the record that a call leaves", async () => {
  await using opened = await openView(browser, `${server.httpAddress}/#/runs/hostile`);
  const { page } = opened;
  const run = client.run("hostile");
  const act = async (button: string, title: string, fill: () => Promise<void>, verb: string) => {
    await page.getByRole("button", { name: button, exact: true }).click();
    const dialog = page.getByRole("dialog", { name: title });
    await fill();
    await dialog.getByText("What it does:").waitFor();
    expect(await dialog.locator(".effect").first().innerText()).toMatch(/From task 4 on|missing/);
    await dialog.getByRole("button", { name: verb }).click();
    await dialog.getByText("Done.").waitFor();
    await dialog.getByRole("button", { name: "Close", exact: true }).click();
  };
  const nothing = async () => undefined;
  await act("Weights", "Set weights", () => page.getByRole("spinbutton", { name: "t0" }).fill("2"), "Set them");
  await act("Pause", "Pause the run", nothing, "Pause");
  await act("Resume", "Resume the run", nothing, "Resume");
  await act("Advance", "Advance the policy", nothing, "Advance");
  await act(
    "Policy",
    "Change the policy",
    () => page.getByRole("textbox", { name: "The policy" }).fill('{"mixture": {}}'),
    "Put it in place",
  );
  await act("Shape", "Change the shape", () => page.getByLabel("Completions of each prompt").fill("8"), "Change it");
  await opened.go("#/runs/hostile/groups");
  await page.getByRole("button", { name: "Choose all" }).click();
  await opened.picture("groups");
  await act("Close the chosen", "Close 3 groups", nothing, "Close them");
  const byPage = await controlsOf(run);
  expect(byPage.map(({ kind }) => kind)).toEqual([
    "weights",
    "pause",
    "resume",
    "advance",
    "policy",
    "shape",
    "close_groups",
  ]);
  // What the server writes down does not tell who asked for it: the same of another run, by call.
  await driveHostile("called");
  const called = client.run("called");
  await called.setWeights({ t0: 2 });
  await called.pause();
  await called.resume();
  await called.advance();
  await called.updatePolicy({ kind: "mixture" });
  await called.updateShape({ numGenerations: 8 });
  const open = await called.groups({ which: "open" });
  await called.closeGroups(open.map(({ groupId }) => groupId));
  expect(byPage).toEqual(await controlsOf(called));
  // Whoever means to delete a run types its name.
  await opened.go("#/runs/called");
  await page.getByRole("heading", { name: "called" }).waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByLabel("Type called to delete it").fill("called");
  await page.getByRole("button", { name: "Delete it" }).click();
  await eventually(async () => expect((await client.listRuns()).map(({ runId }) => runId)).not.toContain("called"));
  // The page leaves what is no more, and would leave the next view as well.
  await eventually(() => expect(page.url()).toMatch(/#\/runs$/));
  await opened.go("#/runs/hostile/changes");
  await page.getByRole("rowheader", { name: "close groups" }).waitFor();
  expect(await findings(opened)).toEqual([]);
  expect(opened.complaints).toEqual([]);
});

test("a plan is checked as it is typed, played, and started", async () => {
  await using opened = await openView(browser, `${server.httpAddress}/#/plan?updates=20`);
  const { page } = opened;
  const file = page.getByRole("textbox", { name: "The run file" });
  const text = await file.inputValue();
  await file.fill(text.replace("np/tsp", "np/tps"));
  await page.getByText(/did you mean .*np\/tsp/).waitFor();
  await file.fill(text);
  await page.getByText("it can be started").waitFor();
  await page.getByRole("button", { name: "Play it" }).click();
  await page.getByRole("region", { name: "What it comes to, a table" }).waitFor();
  await opened.picture("plan");
  expect(await findings(opened)).toEqual([]);
  await page.getByLabel("Id of the run").fill("planned");
  await page.getByRole("button", { name: "Start the run" }).click();
  await page.getByRole("heading", { name: "planned" }).waitFor();
  expect((await client.run("planned").get()).config?.arms.length).toBe(4);
  expect(opened.complaints).toEqual([]);
});

test("two evaluations stand side by side, and task by task", async () => {
  for (const [id, answer] of [
    ["left", "1 + 1"],
    ["right", "nothing"],
  ] as const) {
    const evaluation = client.evaluation(id);
    await evaluation.create({ suite: "countdown", model: `model ${id}` });
    const pending = [];
    for await (const { task } of evaluation.pending()) {
      if (task !== undefined && pending.length < 3)
        pending.push({ task, sampleIndex: 0, completion: `<answer>${answer}</answer>` });
    }
    await evaluation.submit(pending);
  }
  await using opened = await openView(browser, `${server.httpAddress}/#/evaluations?show=left,right`, {
    width: 380,
    dark: true,
  });
  const { page } = opened;
  await page.getByRole("columnheader", { name: "model left" }).waitFor();
  expect(await findings(opened)).toEqual([]);
  await page.setViewportSize({ width: 1280, height: 860 });
  await opened.picture("evaluations");
  await page.getByRole("link", { name: "Task by task" }).click();
  await page.getByRole("region", { name: "Tasks, a table" }).getByRole("link").first().click();
  await page.locator("pre.completion").waitFor();
  expect(opened.complaints).toEqual([]);
});

test("the page says since when the server is away, and comes back with it", async () => {
  await using opened = await openView(browser, `${server.httpAddress}/#/server`);
  const { page } = opened;
  await page.getByText("this server has no judge").waitFor();
  await opened.picture("server");
  expect(await findings(opened)).toEqual([]);
  await opened.go("#/runs/hostile");
  await page.getByRole("region", { name: "Mean reward" }).locator("svg").waitFor();
  const [host, port] = new URL(server.httpAddress).host.split(":");
  await server.kill("SIGKILL");
  await page.getByText(/Not live since \d\d:\d\d:\d\d/).waitFor();
  await page.getByRole("heading", { name: "hostile" }).waitFor();
  server = await startServer(folder.path, "--keep-samples", "8", "--host", host ?? "", "--http-port", port ?? "");
  await page.getByText(/Not live since/).waitFor({ state: "detached" });
  client.close();
  client = createClient(server.address);
  await client.run("hostile").pause();
  await page.getByText("paused", { exact: true }).waitFor();
});
