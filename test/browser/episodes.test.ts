/** Episodes on the page: a kept sample is a conversation, and a person plays a task call by call. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EpisodePosition, PolicyTurn } from "../../clients/ts/src/index.ts";
import { messageOf } from "../../clients/ts/src/turns.ts";
import type { Code } from "../../envs/games/mastermind/code.ts";
import { openWholeServer as openServer, type TestServer } from "../support/in-process.ts";
import { EASY_CODES, fitting, guess } from "../support/mastermind.ts";
import { eventually } from "../support/patience.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { keeping, untilKept } from "./data.ts";
import { openBrowser, openView } from "./opened.ts";

const folder = temporaryFolder();
let server: TestServer;
let browser: Browser;
let group = "";
const hostile = '<script>window.hostile = "ran"</script>\u202e';

/** Guesses the first code that fits all replies, and says so in words that a page must not run. */
function next({ messages }: EpisodePosition): PolicyTurn {
  let codes = EASY_CODES;
  for (const { role, content } of messages) if (role === "tool") codes = fitting(codes, codes[0] as Code, content);
  return { text: `${hostile} I guess.`, toolCalls: [guess(codes[0] as Code)] };
}

beforeAll(async () => {
  const part = { environment: "games/mastermind", level: "easy", split: "eval", tasks: 1, tools: ["guess"] };
  const suite = join(folder.path, "suite.json");
  writeFileSync(suite, JSON.stringify({ id: "games", version: 1, parts: [part] }));
  [server, browser] = await Promise.all([openServer({ ...keeping, suiteFile: [suite] }), openBrowser()]);
  const { client } = server;
  const arms = [{ id: "easy", environment: "games/mastermind", level: "easy", tools: ["guess"] }];
  const run = client.run("played");
  await run.create({ arms, policy: { kind: "mixture" }, numGenerations: 2, promptsPerUpdate: 1 });
  const [task] = (await run.nextBatch({ cursor: 0n })).tasks;
  if (task === undefined) throw new Error("no task");
  group = task.groupId;
  await client.rollout(task, async (position) => next(position), { samples: [0, 1] });
  await untilKept(client, "played", 2);
  const evaluation = client.evaluation("evaluated");
  await evaluation.create({ suite: "games" });
  for await (const { task: pending } of evaluation.pending()) {
    const toolCalls = [guess([1, 1, 1])];
    const [first] = await evaluation.submit([{ task: pending!, completion: "First.", toolCalls }]);
    const turn = first?.outcome?.kind === "unscored" ? first.outcome.turn : undefined;
    const transcript = [messageOf({ toolCalls }, "First."), ...(turn?.messages ?? [])];
    await evaluation.submit([{ task: turn!, completion: "Last.", end: true, transcript }]);
  }
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

test("a sample of several calls is a conversation, with calls, results and the reward of each", async () => {
  await using opened = await openView(browser, `${server.http}/#/runs/played/samples?group=${group}&sample=0`);
  const { page } = opened;
  const sample = page.getByRole("region", { name: "Sample 0" });
  const conversation = sample.getByRole("list", { name: "The conversation" });
  const first = conversation.getByRole("listitem").first();
  await first.waitFor();
  expect(await first.innerText()).toContain("⟨U+202E⟩ I guess.");
  expect(await first.getByLabel("A call of a tool").innerText()).toBe('guess {"code":[1,1,1]}');
  const reply = conversation.getByRole("listitem").nth(1);
  expect(await reply.innerText()).toMatch(/tool guess[^]*this call alone: 0[^]*\d of 3 in place/);
  // The last message is the call that ended the episode: one more than there are replies.
  const texts = await conversation.getByRole("listitem").allInnerTexts();
  expect(texts.length % 2).toBe(1);
  expect(await sample.innerText()).toMatch(new RegExp(`ended\\s+by the task, after ${(texts.length + 1) / 2} calls`));
  expect(await page.evaluate(() => "hostile" in globalThis)).toBe(false);
  await opened.picture("conversation");
  expect(await opened.findings()).toEqual([]);
  expect(opened.complaints).toEqual([]);
});

test("so is a sample of an evaluation, with its last completion once", async () => {
  await using opened = await openView(browser, `${server.http}/#/evaluations/evaluated/samples`);
  const { page } = opened;
  await page.getByRole("region", { name: "Samples, a table" }).getByRole("link").first().click();
  const items = page.getByRole("list", { name: "The conversation" }).getByRole("listitem");
  await eventually(async () => expect(await items.count()).toBe(3));
  const texts = await items.allInnerTexts();
  expect(texts[0]).toMatch(/the model[^]*First\.[^]*guess/);
  expect(texts[1]).toMatch(/tool guess/);
  expect(texts[2]).toMatch(/the model[^]*Last\./);
  expect(opened.complaints).toEqual([]);
});

test("a person plays a task by calls of its tool, until its score", async () => {
  await using opened = await openView(browser, `${server.http}/#/tasks/games/mastermind?level=easy&seed=1`);
  const { page } = opened;
  await page.getByLabel("Tools").selectOption("guess");
  await page.getByLabel("Calls").selectOption("2");
  const play = page.getByRole("region", { name: "Play it call by call" });
  await play.getByText("2 calls left").waitFor();
  const field = play.getByLabel("Arguments of the call, as JSON");
  expect(await field.getAttribute("placeholder")).toBe('{"code": …}');
  await field.fill('{"code": [1, 1,');
  await play.getByRole("button", { name: "Make the call" }).click();
  // A call that cannot be read counts, as a model's would.
  await play.getByText("1 call left").waitFor();
  expect(await play.getByRole("listitem").first().innerText()).toMatch(/^you\s+guess/);
  expect(await play.getByRole("listitem").nth(1).innerText()).toContain("is not valid JSON");
  expect(await opened.findings()).toEqual([]);
  await play.getByRole("button", { name: "Begin again" }).click();
  await play.getByText("2 calls left").waitFor();
  await field.fill('{"code": [1, 1, 1]}');
  await field.press("Control+Enter");
  await play.getByText("1 call left").waitFor();
  expect(await field.inputValue()).toBe("");
  await field.fill('{"code": [2, 2, 2]}');
  await play.getByRole("button", { name: "Make the call" }).click();
  const score = play.getByRole("status", { name: "Its score" });
  await score.waitFor();
  expect(await score.innerText()).toMatch(/ended\s+(out of calls|by the task), after 2 calls/);
  expect(await play.getByRole("listitem").count()).toBe(3);
  expect(await play.getByRole("button", { name: "Make the call" }).count()).toBe(0);
  await page.getByText("Python", { exact: true }).click();
  await page.getByText('client.reset("games/mastermind", level="easy", calls=2, tools=["guess"], seed=1)').waitFor();
  expect(await opened.findings()).toEqual([]);
  expect(opened.complaints).toEqual([]);
});

test("a person tries a task of one answer several times, and ends it", async () => {
  await using opened = await openView(browser, `${server.http}/#/tasks/countdown?level=T0&seed=7&calls=3`);
  const { page } = opened;
  const play = page.getByRole("region", { name: "Play it call by call" });
  await play.getByLabel("Your answer").fill("1 + 1");
  await play.getByRole("button", { name: "Make the call" }).click();
  await play.getByText("2 calls left").waitFor();
  expect(await play.getByRole("listitem").nth(1).innerText()).toContain("The answer is wrong");
  await play.getByRole("button", { name: "End it here" }).click();
  const score = play.getByRole("status", { name: "Its score" });
  await score.waitFor();
  expect(await score.innerText()).toMatch(/ended\s+by the trainer, after 1 call/);
  // The last answer is drawn in its task, and the best one on request.
  await play.getByRole("img").first().waitFor();
  await play.getByRole("button", { name: "Reveal the best" }).click();
  await play.getByRole("region", { name: "A best answer" }).getByRole("img").waitFor();
  // Tools come with several calls, and go with them.
  await page.getByLabel("Calls").selectOption("1");
  await page.getByLabel("Tools").selectOption({ index: 1 });
  await eventually(async () => expect(await page.getByLabel("Calls").inputValue()).toBe("8"));
  await page.getByLabel("Calls").selectOption("1");
  await eventually(async () => expect(await page.getByLabel("Tools").inputValue()).toBe(""));
  // One completion is scored as before.
  await page.getByRole("region", { name: "Try an answer" }).waitFor();
  expect(opened.complaints).toEqual([]);
});

test.each([{ width: 380, dark: true }, { width: 1600 }])("nothing is too wide at $width, dark: $dark", async (look) => {
  const views = [
    `runs/played/samples?group=${group}&sample=0`,
    "tasks/games/mastermind?tools=guess&seed=1",
    "tasks/np/tsp?calls=4",
  ];
  for (const view of views) {
    await using opened = await openView(browser, `${server.http}/#/${view}`, look);
    await opened.page.getByRole("heading", { level: 2 }).first().waitFor();
    await opened.whole();
    expect(await opened.findings(), view).toEqual([]);
    const width = await opened.page.evaluate<number>("document.documentElement.scrollWidth");
    expect(width, view).toBeLessThanOrEqual(look.width);
    expect(opened.complaints, view).toEqual([]);
  }
});
