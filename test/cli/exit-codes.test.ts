/** Tests every command's exit code, as scripts see it: 0 done, 1 failed, 2 wrong use, 3 not there, 4 no server. */
import type { Command } from "commander";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GradusError } from "../../clients/ts/src/errors.ts";
import { problemOf } from "../../cli/problem.ts";
import { createProgram } from "../../cli/program.ts";
import { openServer, type TestServer } from "../support/in-process.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus, gradusAlone } from "./gradus.ts";

const folder = temporaryFolder();
const here = { cwd: folder.path, env: { GRADUS_LOG_LEVEL: "silent" } };
let server: TestServer;

const RUN_FILE = `
arms:
  - { id: a, spec: { environment: countdown, level: T0 } }
policy: { bandit: {} }
num_generations: 2
prompts_per_update: 2
length: 2
`;

beforeAll(async () => {
  server = await openServer();
  writeFileSync(join(folder.path, "run.yaml"), RUN_FILE);
  writeFileSync(join(folder.path, "small.run"), "no state");
  writeFileSync(join(folder.path, "rates.csv"), "row,pass_rate\n0,0.5\n");
  writeFileSync(join(folder.path, "stored.jsonl"), '{"task_id": "AAAA", "completion": "a"}\n');
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

interface Leaf {
  readonly path: readonly string[];
  readonly command: Command;
}

function leavesOf(command: Command, path: readonly string[] = []): readonly Leaf[] {
  if (command.commands.length === 0) return [{ path, command }];
  return command.commands.flatMap((each) => leavesOf(each, [...path, each.name()]));
}

const leaves = leavesOf(await createProgram());
const takes = ({ command }: Leaf, flag: string): boolean => command.options.some(({ long }) => long === flag);

/** Returns the arguments and options that a command requires, so that it reaches the part under test. */
function needed({ path, command }: Leaf, file: string): readonly string[] {
  const values: Readonly<Record<string, string>> = {
    environment: "countdown",
    "task-id": "AAAA",
    address: "localhost:1",
    run: "none",
    group: "g",
    "arm=weight": "a=1",
    file,
    files: file,
    shell: "bash",
    key: "00000000",
  };
  const given = command.registeredArguments.map((argument) => values[argument.name()] ?? "x");
  const more: Readonly<Record<string, readonly string[]>> = {
    step: ["--completion", "a"],
    eval: ["--suite", "countdown", "--endpoint", "http://127.0.0.1:1/v1", "--model", "m"],
    export: ["--evaluation-id", "none", "--out", "x.jsonl"],
    "run create": ["--run-id", "r"],
    "run import": ["--run-id", "r"],
    "run export": ["--out", "x.run"],
    "run update-shape": ["--length", "4"],
    "pools sample": ["--out", "x.jsonl"],
    "pools distract": ["--out", "x.jsonl", "--teacher-url", "http://127.0.0.1:1/v1", "--teacher-model", "m"],
    calibrate: ["--report", file],
    forgetting: ["--base", file, "--after", `a=${file}`, "--after", `b=${file}`],
  };
  return [...path, ...given, ...(more[path.join(" ")] ?? [])];
}

const files: Readonly<Record<string, string>> = {
  import: "small.run",
  "rate-rows": "rates.csv",
  rescore: "stored.jsonl",
};
const fileOf = ({ path }: Leaf): string => files[path.at(-1) ?? ""] ?? "run.yaml";

const named = (some: readonly Leaf[]): readonly (readonly [string, Leaf])[] =>
  some.map((leaf) => [leaf.path.join(" "), leaf]);

test.each(named(leaves))("gradus %s: --help is 0 and names the codes, an unknown option is 2", async (_name, leaf) => {
  const help = await gradus(here, ...leaf.path, "--help");
  expect([help.code, help.err]).toEqual([0, ""]);
  expect(help.out).toContain("Exit codes: 0 done, 1 failed, 2 wrong use, 3 something named does not exist");
  const wrong = await gradus(here, ...needed(leaf, "run.yaml"), "--no-such-option");
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("--no-such-option")]);
});

const ofFiles = leaves
  .filter(
    ({ path, command }) =>
      command.registeredArguments.some((argument) => /^files?$/.test(argument.name())) ||
      /^(calibrate|forgetting)$/.test(path.join(" ")),
  )
  // These commands create the file.
  .filter(({ path }) => !["backup", "env new"].includes(path.join(" ")));
test.each(named(ofFiles))("gradus %s: a file that is not there is 3", async (_name, leaf) => {
  const update = leaf.path.at(-1) === "update-shape" ? ["run", "update-shape", "none", "nowhere"] : undefined;
  const { code, err } = await gradus(here, ...(update ?? needed(leaf, "nowhere")));
  expect([code, err]).toEqual([3, expect.stringContaining("nowhere")]);
});

const ofServers = leaves.filter((leaf) => takes(leaf, "--server") && leaf.path[0] !== "doctor");
test.each(named(ofServers))("gradus %s: no server is 4", async (_name, leaf) => {
  const file = fileOf(leaf);
  const { code, err } = await gradus(here, ...needed(leaf, file), "--server", "localhost:1");
  expect([code, err]).toEqual([4, "gradus: no server at localhost:1: start one with `gradus serve`\n"]);
});

// A group's id holds its run's, so that one of another run is wrong use, whether the run is there or not.
const ofRuns = leaves.filter(
  ({ path, command }) => command.registeredArguments[0]?.name() === "run" && !path.join(" ").endsWith("-groups"),
);
test.each(named(ofRuns))("gradus %s: a run that is not there is 3", async (_name, leaf) => {
  const { code, err } = await gradus(here, ...needed(leaf, fileOf(leaf)), "--server", server.address);
  expect([code, err]).toEqual([3, expect.stringContaining('"none"')]);
});

describe("a file whose content is wrong is 2", () => {
  const wrong = join(folder.path, "wrong.txt");
  beforeAll(() => writeFileSync(wrong, "not what is wanted\n"));
  const flags = ["--key-file", "--environment-file", "--policies", "--suite-file", "--tokens-file"];
  test.each(flags)("gradus serve %s", async (flag) => {
    const { code, err } = await gradusAlone(here, "serve", "--port", "0", "--http-port", "0", flag, wrong);
    expect([code, err]).toEqual([2, expect.stringContaining(wrong)]);
  });
  test.each(flags.slice(0, 2))("a command without a server %s", async (flag) => {
    const { code, err } = await gradus(here, "reset", "countdown", flag, wrong);
    expect([code, err]).toEqual([2, expect.stringContaining(wrong)]);
  });
  test.each([
    ["list", "--key-file"],
    ["rotate", "--key-file"],
  ])("gradus keys %s", async (name, flag) => {
    const { code, err } = await gradus(here, "keys", name, flag, wrong);
    expect([code, err]).toEqual([2, expect.stringContaining(wrong)]);
  });
  test("a file that cannot be read is 1", async () => {
    const { code, err } = await gradus(here, "reset", "countdown", "--key-file", folder.path);
    expect([code, err]).toEqual([1, expect.stringContaining("EISDIR")]);
  });
});

describe("a process of its own ends with", () => {
  test.each([
    [0, ["envs"]],
    [1, ["step", "AAAA", "--completion", "a"]],
    [2, ["reset", "countdown", "--split", "test"]],
    [3, ["reset", "chess"]],
    [4, ["run", "list", "--server", "localhost:1"]],
  ] as const)("%d: gradus %j", async (expected, args) => {
    expect((await gradusAlone(here, ...args)).code).toBe(expected);
  });
});

test("--quiet leaves out notes and progress, and not what failed", async () => {
  const args = ["export", "--solver", "--environment", "countdown", "--count", "2", "--out", "a.jsonl"];
  expect((await gradus(here, ...args)).err).toContain("2 rows in a.jsonl");
  expect(await gradus(here, ...args, "--quiet")).toEqual({ code: 0, out: "", err: "" });
  const failed = await gradus(here, "export", "-q", "--evaluation-id", "none", "--out", "a.jsonl");
  expect([failed.code, failed.err]).toEqual([3, expect.stringContaining("none")]);
});

test("colours are for terminals, and for those who force them", async () => {
  const colour = /\u001b\[/;
  const wrong = async (env: Readonly<Record<string, string>>) =>
    gradus({ ...here, env: { ...here.env, ...env } }, "reset", "chess");
  expect((await wrong({})).err).not.toMatch(colour);
  expect((await wrong({ FORCE_COLOR: "1" })).err).toMatch(/^\u001b\[31mgradus:\u001b\[39m unknown environment 'chess'/);
  const help = async (env: Readonly<Record<string, string>>) => gradusAlone({ ...here, env }, "serve", "--help");
  expect((await help({ FORCE_COLOR: "1" })).out).toMatch(colour);
  expect((await help({ NO_COLOR: "1" })).out).not.toMatch(colour);
});

test("a server that is lost on the way is named, and so is the file that holds no run's state", async () => {
  for (const words of ["read ECONNRESET", "Connection dropped"])
    expect(problemOf(new GradusError("UNAVAILABLE", words), "host:1")).toMatchObject({
      kind: "unreachable",
      message: `the server at host:1 closed the connection or became unreachable (${words})`,
    });
  expect(problemOf(new GradusError("UNAVAILABLE", "the queue is full"), "host:1")).toMatchObject({
    message: "the queue is full",
  });
  const at = ["--server", server.address];
  const { err } = await gradus(here, "run", "import", join(folder.path, "small.run"), "--run-id", "x", ...at);
  expect(err).toMatch(/^gradus: <file>: /);
});
