/**
 * Changes three equal runs in three ways: on the command line, on the page and by a call. The runs are equal
 * afterwards. Each command of gradus run that needs no file of its own has its place on the page.
 */
import { Command } from "commander";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Locator } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addRun } from "../../cli/commands/run.ts";
import { gradus } from "../cli/gradus.ts";
import { becomeOf, begun, changesWith, choice, runFile } from "../support/changes.ts";
import { openWholeServer as openServer, type TestServer } from "../support/in-process.ts";
import { eventually } from "../support/patience.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { openBrowser, type OpenedPage, openView } from "./opened.ts";

const folder = temporaryFolder();
let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  [server, browser] = await Promise.all([openServer({ keepSamples: "1" }), openBrowser()]);
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const typing = (command: string, ...args: readonly string[]) =>
  gradus({ cwd: folder.path }, "run", command, ...args, "--server", server.address);

/** The run that is changed on the page. */
const RUN = "pressed";

interface Pressed {
  /** The part of the run's view. */
  readonly at: string;
  /** Selects items in the view before the button is pressed. */
  readonly choose?: (view: OpenedPage["page"], groupId: string) => Promise<void>;
  readonly button: string;
  readonly title: string;
  readonly fill?: (dialog: Locator) => Promise<void>;
  /** Text with which the dialog announces the effect before the change. */
  readonly effect: RegExp;
  readonly verb: string;
}

const chosen: Pressed["choose"] = (view, groupId) =>
  view.getByRole("checkbox", { name: `Choose group ${groupId}` }).check();

/** Each change on the page, by its command. */
const pressed: Readonly<Record<string, Pressed>> = {
  "set-weights": {
    at: "",
    button: "Weights",
    title: "Set weights",
    fill: (dialog) => dialog.getByRole("spinbutton", { name: "a", exact: true }).fill("2"),
    effect: /From task 2 on/,
    verb: "Set them",
  },
  pause: { at: "", button: "Pause", title: "Pause the run", effect: /From task 2 on/, verb: "Pause" },
  resume: { at: "", button: "Resume", title: "Resume the run", effect: /From task 2 on/, verb: "Resume" },
  advance: { at: "", button: "Advance", title: "Advance the policy", effect: /From task 2 on/, verb: "Advance" },
  "update-policy": {
    at: "",
    button: "Policy",
    title: "Change the policy",
    fill: (dialog) => dialog.getByRole("textbox", { name: "The policy" }).fill('{"mixture": {}}'),
    effect: /From task 2 on/,
    verb: "Put it in place",
  },
  "update-shape": {
    at: "",
    button: "Shape",
    title: "Change the shape",
    fill: async (dialog) => {
      await dialog.getByLabel("Completions of each prompt").fill("4");
      await dialog.getByLabel("Length, in tasks").fill("64");
    },
    effect: /From task 2 on/,
    verb: "Change it",
  },
  note: {
    at: "",
    button: "Notes",
    title: "Change the note and the tags",
    fill: (dialog) => dialog.getByLabel("Note", { exact: true }).fill("the first\ntry"),
    effect: /The run has this note and no tags\./,
    verb: "Keep them",
  },
  tag: {
    at: "",
    button: "Notes",
    title: "Change the note and the tags",
    fill: (dialog) => dialog.getByLabel("Tags, with spaces between them").fill("math/easy baseline"),
    effect: /The run has this note and the tags baseline, math\/easy\./,
    verb: "Keep them",
  },
  "rate-rows": {
    at: "/rows",
    button: "Rate rows",
    title: "Rate rows of a",
    fill: async (dialog) => {
      await dialog.getByRole("textbox", { name: /^CSV/ }).fill("row,pass_rate\n3,0.25\n7,1\n");
      await dialog.getByLabel("Samples that each rate is worth").fill("12");
    },
    effect: /From task 2 on\. What is known of 2 rows .* worth 12 samples each/,
    verb: "Rate them",
  },
  "close-groups": {
    at: "/groups",
    choose: chosen,
    button: "Close the chosen",
    title: "Close 1 group",
    fill: (dialog) => dialog.getByLabel("Why, for the history").fill("the trainer died"),
    effect: /1 group closed: 2 samples that are missing/,
    verb: "Close them",
  },
  "reopen-groups": {
    at: "/groups?batch=0",
    choose: chosen,
    button: "Reopen the chosen",
    title: "Reopen 1 group",
    effect: /Missing samples of 1 group are waited for again/,
    verb: "Reopen them",
  },
  "delete-samples": {
    at: "/samples",
    button: "Delete the kept completions",
    title: "Delete the kept completions",
    effect: /All completions that the run keeps go/,
    verb: "Delete them",
  },
};

/** Address of the view that shows a command's result, by command. */
const shown: Readonly<Record<string, string>> = {
  list: "#/runs",
  get: `#/runs/${RUN}`,
  watch: `#/runs/${RUN}/arms`,
  history: `#/runs/${RUN}/changes`,
  groups: `#/runs/${RUN}/groups`,
  rows: `#/runs/${RUN}/rows`,
  problems: `#/runs/${RUN}/problems`,
  samples: `#/runs/${RUN}/samples`,
  check: "#/plan",
};

/** Commands that read or write a file, or play a run without a server. */
const ofFiles = ["start", "export", "import", "compare-policy"];

test("each command of gradus run has its place on the page, or needs a file", () => {
  const program = new Command();
  addRun(program);
  const commands = program.commands.flatMap(({ commands: each }) => each.map((command) => command.name()));
  const placed = [...Object.keys(pressed), ...Object.keys(shown), ...ofFiles, "create", "delete"];
  expect(placed.sort()).toEqual(commands.sort());
  expect(changesWith(folder.path).map(({ command }) => command)).toEqual(Object.keys(pressed));
});

/** Writes the run file on the page, and starts the run. */
async function plan(opened: OpenedPage): Promise<void> {
  const { page } = opened;
  await opened.go("#/plan");
  await page.getByRole("textbox", { name: "The run file" }).fill(runFile);
  await page.getByText("it can be started").waitFor();
  await page.getByLabel("Id of the run").fill(RUN);
  await page.getByRole("button", { name: "Start the run" }).click();
  await page.getByRole("heading", { name: RUN }).waitFor();
}

async function press(opened: OpenedPage, groupId: string, what: Pressed): Promise<void> {
  const { page } = opened;
  await opened.go(`#/runs/${RUN}${what.at}`);
  await what.choose?.(page, groupId);
  await page.getByRole("button", { name: what.button, exact: true }).click();
  const dialog = page.getByRole("dialog", { name: what.title });
  await what.fill?.(dialog);
  await dialog.getByText("What it does:").waitFor();
  expect(await dialog.locator(".effect").first().innerText()).toMatch(what.effect);
  await dialog.getByRole("button", { name: what.verb }).click();
  await dialog.getByText("Done.").waitFor();
  await dialog.getByRole("button", { name: "Close", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
}

test("a run is created, changed and deleted on the command line, on the page and by calls, and each is the same", async () => {
  const path = join(folder.path, "run.yaml");
  writeFileSync(path, runFile);
  await using opened = await openView(browser, server.http);
  const { page } = opened;
  const [typed, run, called] = ["typed", RUN, "called"].map((id) => server.client.run(id));
  if (typed === undefined || run === undefined || called === undefined) throw new Error("there are three");
  expect(await typing("create", path, "--run-id", "typed")).toMatchObject({ code: 0 });
  await plan(opened);
  await called.create(choice);
  const ids = [];
  for (const { runId } of [typed, run, called]) ids.push(await begun(server.client, runId));
  const [ofTyped = "", ofPressed = "", ofCalled = ""] = ids;
  for (const { command, kind, given, byCall } of changesWith(folder.path)) {
    expect(await typing(command, "typed", ...given(ofTyped)), command).toMatchObject({ code: 0 });
    await press(opened, ofPressed, pressed[command] as Pressed);
    await byCall(called, ofCalled);
    const become = await becomeOf(called);
    expect(await becomeOf(typed), `${command} on the command line`).toEqual(become);
    expect(await becomeOf(run), `${command} on the page`).toEqual(become);
    if (kind !== undefined) expect(become.controls.at(-1)?.kind).toBe(kind);
  }
  for (const [command, hash] of Object.entries(shown)) {
    await opened.go(hash);
    await page.getByRole("heading", { level: 1, name: hash.includes(RUN) ? RUN : /Runs|Plan/ }).waitFor();
    await opened.whole();
    expect(await page.locator(".failure").allInnerTexts(), command).toEqual([]);
  }
  await opened.go(`#/runs/${RUN}/rows?which=seen&sort=lowest`);
  const rows = page.getByRole("region", { name: "Rows, a table" }).getByRole("row");
  const rated = rows.filter({ has: page.getByRole("rowheader", { name: "3", exact: true }) });
  expect(await rated.innerText()).toMatch(/2\d%\s+12\s/);
  // Deleting a run requires typing its name; afterwards the page leaves the deleted run.
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByLabel(`Type ${RUN} to delete it`).fill(RUN);
  await page.getByRole("button", { name: "Delete it" }).click();
  await eventually(() => expect(page.url()).toMatch(/#\/runs$/));
  expect(await typing("delete", "typed")).toMatchObject({ code: 0 });
  await called.delete();
  expect(await server.client.listRuns()).toEqual([]);
  expect(opened.complaints).toEqual([]);
});
