/** Opens each view of the page on a real server, with a run made by the command line, and uses it. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient, type GradusClient } from "../../clients/ts/src/index.ts";
import { eventually } from "../support/patience.ts";
import { type ServerProcess, startServer, temporaryFolder } from "../support/server-process.ts";
import { mountEntries, mountExceptions, mountHead, mountRow } from "../../server/outside/mounted/mount-table.ts";
import { driveByCommandLine, driveHostile, evaluate, hostile, keeping } from "./data.ts";
import { openBrowser, openView } from "./opened.ts";

const folder = temporaryFolder();
const flags = ["--keep-samples", keeping.keepSamples, "--max-completion-bytes", keeping.maxCompletionBytes];
let server: ServerProcess;
let client: GradusClient;
let browser: Browser;

beforeAll(async () => {
  server = await startServer(folder.path, ...flags, "--sandbox", "embedded");
  client = createClient(server.address);
  const data = [driveByCommandLine(server.address, folder.path), driveHostile(client), evaluate(client)];
  [browser] = await Promise.all([openBrowser(), ...data]);
});
afterAll(async () => {
  client?.close();
  await server?.kill("SIGKILL");
  folder[Symbol.dispose]();
});

test("the tasks' view lists what can be mounted, with the figures of the catalogue", async () => {
  await using opened = await openView(browser, server.httpAddress);
  const mounts = opened.page.getByRole("region", { name: "More environments to mount" });
  const table = mounts.getByRole("region", { name: "Mounts, a table" });
  await table.waitFor();
  expect(await table.getByRole("columnheader").allInnerTexts()).toEqual([...mountHead]);
  for (const entry of mountEntries) {
    const row = table.getByRole("row", { name: entry.mount });
    expect(await row.locator("th, td").allInnerTexts()).toEqual(mountRow(entry));
  }
  const exceptions = mountExceptions(mountEntries);
  if (exceptions.length > 0) await mounts.getByText("Levels without equal scores").click();
  expect(await mounts.getByRole("listitem").allInnerTexts()).toEqual(exceptions);
  expect(await opened.findings()).toEqual([]);
});

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
      /Drawn most now: \w+ \(\d+%\)[^]*frontier policy prefers arms[^]*expected success[^]*rise[^]*practice/,
    );
    const arms = why.getByRole("region", { name: "Arms drawn most, a table" }).getByRole("row");
    const { arms: states } = (await client.run("by-hand").get()).state ?? { arms: [] };
    const [first] = [...states].sort((one, other) => other.probability - one.probability);
    const rounded = (value = Number.NaN): string => String(Math.round(value * 1000) / 1000);
    expect(await arms.nth(1).getByRole("cell").allInnerTexts()).toEqual([
      first?.armId,
      expect.stringMatching(/^\d+%$/),
      rounded(first?.value),
      rounded(first?.rise),
      rounded(first?.practice),
      "1",
      expect.stringMatching(/^\d+%$/),
    ]);
    await page.getByRole("region", { name: "Mean reward" }).locator("svg").waitFor();
    await opened.picture("run");
    expect(await opened.findings()).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });

  test("why did this sample get -2.5", async () => {
    await using opened = await openView(browser, server.httpAddress);
    const { page } = opened;
    await page.getByRole("link", { name: "Runs" }).click();
    await page.getByRole("link", { name: "Samples of by-hand" }).click();
    // The test types the bounds of the search.
    await page.getByLabel("reward from").fill("-2.5");
    await page.getByLabel("to", { exact: true }).fill("-2.5");
    await page.getByLabel("to", { exact: true }).blur();
    await eventually(() => expect(page.url()).toContain("max=-2.5"));
    // Until the reply arrives the former rows remain, and a later one of them may also have -2.5.
    const first = page.getByRole("region", { name: "Samples, a table" }).getByRole("row").nth(1);
    await first.getByRole("cell", { name: "-2.5" }).waitFor();
    await opened.picture("samples");
    await page.getByRole("region", { name: "Samples, a table" }).getByRole("link").first().click();
    const sample = page.locator(".meant");
    await sample.waitFor();
    expect(await sample.innerText()).toMatch(/-2\.5[^]*malformed[^]*What is wrong: /);
    await opened.picture("why");
    expect(await opened.findings()).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });
});

test("what goes wrong most in a run, and the samples of it", async () => {
  await using opened = await openView(browser, `${server.httpAddress}/#/runs/by-hand`);
  const { page } = opened;
  await page.getByRole("link", { name: "Problems" }).click();
  const problems = page.getByRole("region", { name: "What goes wrong, a table" }).getByRole("row");
  const most = problems.nth(1);
  await most.waitFor();
  const count = await most.getByRole("cell").nth(2).innerText();
  await most.getByRole("link").click();
  const listed = (samples: string): Promise<void> =>
    page.getByText(Number(samples) > 50 ? "50 samples, and more" : `${samples} samples`, { exact: true }).waitFor();
  await listed(count);
  expect(page.url()).toContain("template=");
  const chip = page.getByTitle("Removes this filter");
  await chip.click();
  await chip.waitFor({ state: "detached" });
  expect(page.url()).not.toContain("template=");
  await page.goBack();
  const { total } = await client.run("by-hand").violations();
  await page.getByRole("link", { name: /cut off$/ }).click();
  const { truncated = 0n } = total?.sums ?? {};
  await (truncated === 0n ? page.getByText("None that are kept are like this.").waitFor() : listed(String(truncated)));
  expect(page.url()).toContain("outcome=cut");
  await opened.go("#/runs/by-hand/samples?outcome=no+reward:+too+large");
  await page.getByText("None that are kept are like this.").waitFor();
  expect(await page.getByLabel("outcome").inputValue()).toBe("no reward: too large");
  await page.goBack();
  await page.goBack();
  const over = page.getByRole("region", { name: "Problems over time" });
  await over.locator('[data-mark="line"] path').first().waitFor();
  const arms = page.getByRole("region", { name: "Problems by arm, a table" }).getByRole("row");
  expect(await arms.count()).toBe(1 + 3);
  await arms.nth(1).getByRole("link", { name: "t0", exact: true }).click();
  await eventually(() => expect(page.url()).toContain("arm=t0"));
  await eventually(async () => expect(await arms.count()).toBe(0));
  const { arms: counts } = await client.run("by-hand").violations("t0");
  await page.getByText(`${counts[0]?.sums?.samples} samples: `).waitFor();
  // The last bin has the samples with the greatest reward, which is its upper end.
  const greatest = page.getByRole("region", { name: "Rewards, a table" }).getByRole("row").last();
  const withIt = await greatest.getByRole("cell").nth(2).innerText();
  await greatest.getByRole("link").click();
  await listed(withIt);
  expect(page.url()).toContain("min=");
  expect(opened.complaints).toEqual([]);
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
  expect(await opened.findings()).toEqual([]);
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

test("groups are chosen, and whoever is given the address has the same ones", async () => {
  await using opened = await openView(browser, `${server.httpAddress}/#/runs/hostile/groups`);
  const { page } = opened;
  await page.getByRole("button", { name: "Choose all" }).click();
  await opened.picture("groups");
  await page.getByRole("checkbox").nth(1).uncheck();
  await eventually(() => expect(page.url()).toContain("chosen=1%2C3"));
  await page.reload();
  const boxes = page.getByRole("checkbox");
  await eventually(async () => expect(await boxes.count()).toBe(3));
  expect(await Promise.all([0, 1, 2].map((at) => boxes.nth(at).isChecked()))).toEqual([true, false, true]);
  expect(opened.complaints).toEqual([]);
});

test("samples that could not be had are asked for again, and the way back keeps what was searched for", async () => {
  await using opened = await openView(browser, `${server.httpAddress}/#/runs/by-hand/samples?outcome=not+solved`);
  const { page } = opened;
  const count = page.getByRole("status").filter({ hasText: "sample" });
  await page.getByText(/^\d+ samples, and more$/).waitFor();
  const before = Number.parseInt(await count.innerText(), 10);
  await page.route("**/ListRunSamples", (route) => route.fulfill({ status: 500, body: "" }));
  await page.getByRole("button", { name: "Show more" }).click();
  const failure = page.getByRole("alert");
  await failure.waitFor();
  expect(Number.parseInt(await count.innerText(), 10)).toBe(before);
  expect(await opened.findings()).toEqual([]);
  await page.unroute("**/ListRunSamples");
  await failure.getByRole("button", { name: "Try again" }).click();
  await failure.waitFor({ state: "detached" });
  await eventually(async () => expect(Number.parseInt(await count.innerText(), 10)).toBeGreaterThan(before));
  await page.getByRole("region", { name: "Samples, a table" }).getByRole("link").first().click();
  await page.getByRole("link", { name: "All samples" }).click();
  await eventually(() => expect(page.url()).toMatch(/samples\?outcome=not\+solved$/));
  expect(opened.complaints).toEqual([]);
});

test("whoever means to delete a run types its name, and the page leaves what is no more", async () => {
  await client.run("short").create({
    arms: [{ id: "t0", environment: "countdown", level: "T0" }],
    policy: { kind: "mixture" },
    numGenerations: 2,
    promptsPerUpdate: 2,
  });
  await using opened = await openView(browser, `${server.httpAddress}/#/runs/short`);
  const { page } = opened;
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  const verb = page.getByRole("button", { name: "Delete it" });
  await page.getByLabel("Type short to delete it").fill("shor");
  expect(await verb.isDisabled()).toBe(true);
  await page.getByLabel("Type short to delete it").fill("short");
  await verb.click();
  await eventually(() => expect(page.url()).toMatch(/#\/runs$/));
  expect((await client.listRuns()).map(({ runId }) => runId)).not.toContain("short");
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
  expect(await opened.findings()).toEqual([]);
  await page.getByLabel("Id of the run").fill("planned");
  await page.getByRole("button", { name: "Start the run" }).click();
  await page.getByRole("heading", { name: "planned" }).waitFor();
  expect((await client.run("planned").get()).config?.arms.length).toBe(4);
  expect(opened.complaints).toEqual([]);
});

test("two evaluations stand side by side, and task by task", async () => {
  await using opened = await openView(browser, `${server.httpAddress}/#/evaluations?show=left,right`, {
    width: 380,
    dark: true,
  });
  const { page } = opened;
  await page.getByRole("columnheader", { name: "model left" }).waitFor();
  expect(await opened.findings()).toEqual([]);
  await page.setViewportSize({ width: 1280, height: 860 });
  await opened.picture("evaluations");
  await page.getByRole("link", { name: "Task by task" }).click();
  await page.getByRole("region", { name: "Tasks, a table" }).getByRole("link").first().click();
  for (const id of ["left", "right"])
    await page.getByRole("region", { name: id, exact: true }).locator("pre.completion").first().waitFor();
  expect(opened.complaints).toEqual([]);
});

test("the page says since when the server is away, and comes back with it", async () => {
  await using opened = await openView(browser, `${server.httpAddress}/#/server`);
  const { page } = opened;
  await page.getByText("this server has no judge").waitFor();
  await opened.picture("server");
  expect(await opened.findings()).toEqual([]);
  await opened.go("#/runs/hostile");
  await page.getByRole("region", { name: "Mean reward" }).locator("svg").waitFor();
  const [host, port] = new URL(server.httpAddress).host.split(":");
  await server.kill("SIGKILL");
  await page.getByText(/Not live since \d\d:\d\d:\d\d/).waitFor();
  await page.getByRole("heading", { name: "hostile" }).waitFor();
  server = await startServer(
    folder.path,
    ...flags,
    "--host",
    host ?? "",
    "--http-port",
    port ?? "",
    "--sandbox",
    "embedded",
  );
  await page.getByText(/Not live since/).waitFor({ state: "detached" });
  client.close();
  client = createClient(server.address);
  await client.run("hostile").pause();
  await page.getByText("paused", { exact: true }).waitFor();
});

test("each view of a run says how many signs there are that its reward is exploited", async () => {
  const run = client.run("exploited");
  const arms = [{ id: "tsp", environment: "np/tsp", level: "easy" }];
  await run.create({ arms, policy: { kind: "mixture" }, numGenerations: 4, promptsPerUpdate: 16 });
  const { tasks } = await run.nextBatch();
  await client.batchStep(
    tasks.map((task) => ({ task, completions: Array.from({ length: 4 }, () => "I do not know") })),
  );
  await using opened = await openView(browser, `${server.httpAddress}/#/runs/exploited`);
  const { page } = opened;
  const sign = page.getByRole("link", { name: "1 sign that the policy exploits its reward" });
  await sign.waitFor();
  await opened.go("#/runs/exploited/arms");
  await sign.click();
  await page.getByText("of the last samples have one violation").waitFor();
  expect(page.url()).toContain("#/runs/exploited/problems");
  await opened.go("#/runs/hostile");
  await page.getByRole("link", { name: "Problems" }).waitFor();
  expect(await sign.count()).toBe(0);
  expect(opened.complaints).toEqual([]);
  await run.delete();
});
