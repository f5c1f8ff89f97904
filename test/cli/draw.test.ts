/** Pictures from the command line. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { wrapAnswer } from "../../envs/answers/wording.ts";
import { openServer } from "../support/in-process.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { expectWellFormed } from "../pictures/looks.ts";
import { gradus, launcher } from "./gradus.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const here = { cwd: folder.path };
const run = promisify(execFile);

async function drawn(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await gradus(here, "draw", ...args);
  expect([code, err]).toEqual([0, ""]);
  return out;
}

describe("draw", () => {
  test("an instance, to standard output or a file", async () => {
    const svg = await drawn("np/clique", "--seed", "3");
    expectWellFormed(svg.trimEnd());
    expect(await drawn("np/clique", "--seed", "3", "--out", "clique.svg")).toBe("");
    expect(readFileSync(join(folder.path, "clique.svg"), "utf8")).toBe(svg);
  });

  test("the solver's answer, and the same answer in a completion", async () => {
    const task = ["np/knapsack", "--level", "medium", "--seed", "5"];
    const svg = await drawn(...task, "--solve");
    expect(svg).toContain("✓ feasible and optimal");
    const { out: completion } = await gradus(here, "solve", ...task, "--as-completion");
    writeFileSync(join(folder.path, "completion.txt"), completion);
    expect(await drawn(...task, "--file", "completion.txt")).toBe(svg);
    expect(await drawn(...task, "--completion", completion)).toBe(svg);
  });

  test("an answer that is wrong, with the reason", async () => {
    const { out } = await gradus(here, "reset", "np/tsp", "--json");
    const { taskId } = JSON.parse(out) as { readonly taskId: string };
    expect(await drawn("--task-id", taskId, "--answer", "[0, 1, 2, 1]")).toContain(
      "✗ infeasible: city 1 is visited twice",
    );
    expect(await drawn("--task-id", taskId, "--answer", "<script>")).toContain("✗ malformed: ");
    expect(await drawn("--task-id", taskId, "--completion", "[0, 1]")).toContain("✗ malformed: ");
  });
});

test("what only the outside can judge is asked: a program is drawn beside its tests, with the one that fails", async () => {
  const task = ["code", "--level", "easy", "--seed", "3"];
  expect(await drawn(...task)).toContain("tests");
  const svg = await drawn(...task, "--answer", "import sys\nsys.exit(0)");
  expectWellFormed(svg.trimEnd());
  expect(svg).toContain("✗ test 1 of ");
  expect(await drawn(...task, "--answer", "``````")).toContain("✗ malformed: the program is empty");
});

describe("an environment without pictures is refused with those that have some", () => {
  const words = /^gradus: (\S+) draws no pictures; these do: code, countdown, .*np\/tsp.*, writing\n$/;

  test.each([[[]], [["--answer", "A"]], [["--json"]]])("one of ours: %j", async (more) => {
    const { code, out, err } = await gradus(here, "draw", "qa", ...more);
    expect([code, out, words.exec(err)?.[1]]).toEqual([2, "", "qa"]);
  });

  test("one in Python", async () => {
    const python = ["--python", join(import.meta.dirname, "../../.venv/bin/python")];
    expect((await gradus(here, "env", "new", "my_env.py", ...python)).code).toBe(0);
    const { code, out, err } = await gradus(here, "draw", "mine/my-env", "--python", "my_env.py", ...python);
    expect([code, out, words.exec(err)?.[1]]).toEqual([2, "", "mine/my-env"]);
  });

  test("one in Python whose reference answer is wanted", async () => {
    const python = ["--python", join(import.meta.dirname, "../../.venv/bin/python")];
    expect((await gradus(here, "env", "new", "solved.py", ...python)).code).toBe(0);
    const of = ["mine/solved", "--python", "solved.py", ...python];
    const { code, out } = await gradus(here, "solve", ...of, "--level", "short", "--json");
    const { answer, completion } = JSON.parse(out) as { readonly answer: string; readonly completion: string };
    expect([code, completion]).toEqual([0, wrapAnswer(answer, "think_answer")]);
    expect(answer).toMatch(/^[a-z]{4}$/);
    expect([...answer].sort().join("")).toBe(answer);
    const drawn = await gradus(here, "draw", ...of, "--solve");
    expect([drawn.code, words.exec(drawn.err)?.[1]]).toEqual([2, "mine/solved"]);
  });

  test("by a server", async () => {
    await using server = await openServer({ dataDir: folder.path });
    const { code, out, err } = await gradus(here, "draw", "qa", "--server", server.address);
    expect([code, out, err]).toEqual([1, "", "gradus: qa draws no pictures\n"]);
  });
});

/** Runs a command on a terminal, and returns its output with the terminal's line ends. */
async function onTerminal(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<string> {
  const program = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
  const options = { cwd: folder.path, env: { PATH: process.env["PATH"], TERM: "xterm", ...env } };
  const { stdout } = await run("python3", ["-c", program, launcher, ...args], options);
  return stdout;
}

describe("on a terminal", () => {
  // Stands in for a desktop's opener, and writes the address that it should show to a file. A machine may have no
  // xdg-open, which would start the browser.
  const opener = join(folder.path, "xdg-open");
  const shown = join(folder.path, "shown");
  const path = `${folder.path}:${process.env["PATH"] ?? ""}`;
  const desktop = { DISPLAY: ":7", BROWSER: opener, HOME: folder.path, PATH: path };
  beforeAll(() => writeFileSync(opener, `#!/bin/sh\nprintf %s "$1" > '${shown}'\n`, { mode: 0o755 }));
  beforeEach(() => rmSync(shown, { force: true }));

  test("the picture goes to a file, whose path is all that is printed", async () => {
    const task = ["np/clique", "--seed", "3"];
    const path = (await onTerminal({}, "draw", ...task)).trim();
    expect(path).toMatch(/^out\/np-clique-[\da-f]{8}\.svg$/);
    expect(readFileSync(join(folder.path, path), "utf8")).toBe(await drawn(...task));
    expect((await onTerminal({}, "draw", ...task)).trim()).toBe(path);
    expect((await onTerminal({}, "draw", "np/clique", "--seed", "4")).trim()).not.toBe(path);
    expect((await onTerminal({}, "draw", ...task, "--out", "mine.svg")).trim()).toBe("mine.svg");
    expect(existsSync(shown)).toBe(false);
  });

  test("with a display it is shown, unless told otherwise", async () => {
    await onTerminal(desktop, "draw", "np/tsp", "--out", "tsp.svg");
    // The command does not wait for the browser.
    await vi.waitFor(() => expect(readFileSync(shown, "utf8")).toContain("tsp.svg"), { timeout: 20_000 });
    rmSync(shown);
    await onTerminal(desktop, "draw", "np/tsp", "--out", "tsp.svg", "--no-open");
    await onTerminal({ ...desktop, SSH_CONNECTION: "1 2 3 4" }, "draw", "np/tsp", "--out", "tsp.svg");
    expect(existsSync(shown)).toBe(false);
  });

  test("what cannot be shown is written all the same", async () => {
    const lost = { ...desktop, BROWSER: "no-such-browser", PATH: "/nowhere" };
    const { code, out, err } = await gradus({ ...here, env: lost }, "draw", "np/tsp", "--out", "lost.svg", "--open");
    expect([code, out]).toEqual([1, "lost.svg\n"]);
    expect(err).toMatch(/^gradus: no program on this machine can show lost\.svg \(.+\): open it by hand\n$/);
    expect(existsSync(join(folder.path, "lost.svg"))).toBe(true);
  });
});

test("machines get JSON, with the picture in it or the file that holds it", async () => {
  const svg = await drawn("np/tsp");
  const inside = JSON.parse(await drawn("np/tsp", "--json")) as Record<string, unknown>;
  expect(inside).toEqual({
    taskId: expect.any(String) as string,
    environment: "np/tsp",
    version: 3,
    svg: svg.trimEnd(),
  });
  const beside = JSON.parse(await drawn("np/tsp", "--json", "--out", "beside.svg")) as Record<string, unknown>;
  expect(beside).toEqual({ taskId: inside["taskId"], environment: "np/tsp", version: 3, file: "beside.svg" });
  expect(readFileSync(join(folder.path, "beside.svg"), "utf8")).toBe(svg);
});

describe("wrong command lines", () => {
  test.each([
    [["draw"], 2, "give either an environment or --task-id"],
    [["draw", "np/tsp", "--task-id", "x"], 2, "give either an environment or --task-id"],
    [["draw", "np/tps"], 3, "did you mean 'np/tsp'?"],
    [["draw", "np/tsp", "--solve", "--answer", "[0]"], 2, "cannot be used with option"],
    [["draw", "np/tsp", "--completion", "a", "--answer", "[0]"], 2, "cannot be used with option"],
    [["draw", "np/tsp", "--file", "nowhere.txt"], 3, "--file must be a file that can be read"],
    [["draw", "--task-id", "AAAA"], 1, "task_id: it is too short"],
    [["draw", "np/tsp", "--open"], 2, "--open needs --out, because the picture goes to standard output"],
    [["draw", "np/tsp", "--open", "--json"], 2, "cannot be used with option"],
    [["draw", "np/tsp", "--out", "no/such/folder.svg"], 1, "--out must be a file that can be written"],
  ])("gradus %j", async (args, exit, words) => {
    const { code, out, err } = await gradus(here, ...args);
    expect(err).toContain(words);
    expect([code, out]).toEqual([exit, ""]);
    expect(existsSync(join(folder.path, "no"))).toBe(false);
  });
});
