/** `gradus run`, as its users type it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openServer, type TestServer } from "../support/in-process.ts";
import { completionsOf } from "../support/scripted-policy.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus, start } from "./gradus.ts";
import { smallRun as file, writerTo } from "./run-file.ts";

const folder = temporaryFolder();
let server: TestServer;
beforeAll(async () => {
  server = await openServer({ store: "memory", sandbox: "embedded" });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const write = writerTo(folder.path);

const here = { cwd: folder.path };
const run = (...args: readonly string[]) => gradus({ ...here, env: { GRADUS_SERVER: server.address } }, "run", ...args);

async function ok(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await run(...args);
  expect([code, err]).toEqual([0, ""]);
  return out;
}

test("a run from its file to its end, with every change on the way", async () => {
  const path = write("small.yaml", file);
  expect(await ok("create", path)).toContain("0 of 16 tasks");
  // Every rank may create it.
  expect(await ok("create", path)).toContain("0 of 16 tasks");
  expect(JSON.parse(await ok("get", "small", "--json"))).toMatchObject({ runId: "small", config: { length: "16" } });
  expect(await ok("list")).toMatch(/small +mixture +going on +0 of 16/);
  expect(await ok("set-weights", "small", "a=3", "b=0.5")).toBe("from task 0 on\n");
  expect(await ok("set-weights", "small", "a=3")).toBe('no effect: "a": the arms already have this weight\n');
  expect(JSON.parse(await ok("pause", "small", "--json"))).toEqual({ appliesFromCursor: "0" });
  expect(await ok("list")).toContain("paused");
  expect(await ok("resume", "small")).toBe("from task 0 on\n");
  const bandit = write("bandit.yaml", "policy:\n  bandit: { ema_softmax: { tau: 0.5 } }\n");
  expect(await ok("update-policy", "small", bandit)).toBe("from task 0 on\n");
  expect(await ok("set-weights", "small", "a=7")).toMatch(
    /^no effect: "a": the policy bandit chooses arms by what it has learnt/,
  );
  expect(JSON.parse(await ok("set-weights", "small", "a=6", "--json"))).toMatchObject({
    noEffect: [expect.stringContaining("the policy bandit")],
  });
  expect(await ok("set-weights", "small", "a=0", "b=2")).toMatch(
    /^no effect: "b": the policy bandit .*\nthe rest: from task 0 on\n$/,
  );
  expect(await ok("update-shape", "small", "--length", "16", "--num-generations", "3")).toBe(
    "no effect: length is already 16\nthe rest: from task 0 on\n",
  );
  expect(await ok("update-shape", "small", "--num-generations", "2")).toBe("from task 0 on\n");
  expect(await ok("set-weights", "small", "a=1")).toBe("from task 0 on\n");
  expect(await run("history", "small", "--over", "tokens")).toMatchObject({
    code: 2,
    err: expect.stringContaining("the history of run 'small' has no lengths of completions yet") as string,
  });
  const state = join(folder.path, "small.run");
  expect(await ok("export", "small", "--out", state)).toMatch(/small\.run: run small at task 0, \d+ bytes/);
  expect(await ok("import", state, "--run-id", "copy")).toContain("run copy stands at task 0; no tasks were open");

  const watching = start(["run", "watch", "small"], { ...here, env: { GRADUS_SERVER: server.address } });
  const lines: string[] = [];
  watching.stdout?.on("data", (chunk: Buffer) => lines.push(chunk.toString()));
  const ended = new Promise<number | null>((done) => watching.once("close", done));
  const first = new Promise<void>((done) => watching.stdout?.once("data", () => done()));
  await first;
  for await (const { tasks } of server.client.run("small").batches())
    await server.client.batchStep(tasks.map((task) => completionsOf(task, 2)));
  expect(await ended).toBe(0);
  expect(lines.join("")).toMatch(/16 of 16 tasks.*\nthe run is done\n$/);

  expect(await ok("watch", "small", "--once")).toContain("done");
  const chart = join(folder.path, "small.svg");
  const drawn = await ok("history", "small", "--chart", chart);
  expect(drawn).toMatch(/^a +\S.* \d+ +\d+%$/m);
  expect(readFileSync(chart, "utf8")).toContain(">small</text>");
  expect(await ok("history", "small", "--over", "tokens", "--chart", chart)).toMatch(/ \d+ characters$/m);
  expect(readFileSync(chart, "utf8")).toContain("characters →");
  expect(await ok("history", "small", "--records")).toMatch(/weights .*a=3 b=0\.5/);
  const records = JSON.parse(await ok("history", "small", "--json")) as readonly object[];
  expect(records.filter((record) => "batch" in record)).toHaveLength(4);
  expect(await ok("groups", "small")).toBe("no groups\n");
  expect(await ok("groups", "small", "--batch", "1")).toMatch(/small\/\S+ +4 +1 +[ab] +closed/);
  const more = write("more.yaml", "arms:\n  - { id: c, spec: { environment: countdown, level: T1 } }\n");
  expect(await ok("update-shape", "small", more, "--length", "24")).toBe("from task 16 on\n");
  expect(await ok("get", "small")).toMatch(/^c .* 0 +– +–$/m);
  expect(await ok("get", "small")).toMatch(/^arm .* characters +spent$/m);
  // The list shows the run's present shape, not the one that it was created with.
  expect(await ok("list")).toMatch(/^small +bandit +going on +16 of 24 +\d+ +3$/m);
  expect(await run("update-shape", "small", more)).toMatchObject({
    code: 2,
    err: expect.stringContaining("is the id of an earlier arm: give each arm its own") as string,
  });
  expect(await ok("update-shape", "small", "--remove-arm", "b")).toBe("from task 16 on\n");
  expect(await ok("list")).toMatch(/^small .* 2$/m);
  expect(await ok("get", "small")).toMatch(/^b {3}removed, after \d+ tasks$/m);
  expect(await ok("delete", "small")).toBe("small is deleted\n");
  expect(await run("get", "small")).toMatchObject({ code: 3, err: expect.stringContaining("small") as string });
});

test("a run that cannot be read is marked in the list and named by every command, and the others are listed", async () => {
  using kept = temporaryFolder();
  const config = {
    arms: [{ id: "a", environment: "countdown", level: "T0" }],
    policy: { kind: "mixture" },
    numGenerations: 2,
    promptsPerUpdate: 2,
  } as const;
  {
    await using before = await openServer({ dataDir: kept.path });
    for (const id of ["damaged", "whole"]) await before.client.run(id).create(config);
  }
  const db = new DatabaseSync(join(kept.path, "runs.sqlite"));
  db.exec("UPDATE events SET hash = zeroblob(4) WHERE run = (SELECT key FROM runs WHERE id = 'damaged')");
  db.close();
  await using after = await openServer({ dataDir: kept.path });
  const at = (...args: readonly string[]) => gradus({ ...here, env: { GRADUS_SERVER: after.address } }, "run", ...args);

  const reason = 'run "damaged" cannot be read: event 1 of its journal differs from what was written';
  // A list reads summaries, so it marks the run once something has read its journal.
  await expect(after.client.run("damaged").get()).rejects.toMatchObject({ code: "DATA_LOSS" });
  const { code, out } = await at("list");
  expect(code).toBe(0);
  expect(out).toMatch(/^damaged +cannot be read *\n^whole +mixture +going on/m);
  expect(out).toContain(reason);
  expect(JSON.parse((await at("list", "--json")).out)).toMatchObject([
    { runId: "damaged", unreadable: reason },
    { runId: "whole" },
  ]);
  for (const command of ["get", "groups"]) {
    expect([command, await at(command, "damaged")]).toEqual([
      command,
      { code: 1, out: "", err: `gradus: ${reason}\n` },
    ]);
  }
  await expect(after.client.run("damaged").get()).rejects.toMatchObject({ code: "DATA_LOSS" });
});

describe("what is wrong", () => {
  test.each([
    [
      "a field of the file",
      "nun_generations: 2\n",
      "wrong.yaml:1: nun_generations: is not a known field; did you mean 'num_generations'?",
    ],
    [
      "what the server refuses",
      file.replace("T2", "T9"),
      "wrong.yaml:4: arms[1].spec.level: countdown has no level 'T9'",
    ],
    ["what is missing", "run_id: x\narms: []\n", "wrong.yaml:2: arms: must have at least 1 entry; got 0"],
    [
      "a policy's number",
      file.replace("mixture: {}", "bandit: { ema_softmax: { alpha: 2 } }"),
      "wrong.yaml:6: policy.bandit.ema_softmax.alpha: ",
    ],
    [
      "a temperature at which only the greatest is drawn",
      file.replace("mixture: {}", "bandit: { ema_softmax: { tau: 1e-300 } }"),
      "wrong.yaml:6: policy.bandit.ema_softmax.tau: must be above 0",
    ],
    [
      "one completion for a signal that compares two",
      file.replace("mixture: {}", "bandit: { ema_softmax: {} }").replace("num_generations: 2", "num_generations: 1"),
      "wrong.yaml:7: num_generations: must be at least 2 with the signal",
    ],
    [
      "one completion for dynamic sampling",
      `${file.replace("num_generations: 2", "num_generations: 1")}dynamic_sampling: { oversample_max: 2, alike: ALIKE_OUTCOMES_REWARDS }\n`,
      "wrong.yaml:7: num_generations: must be at least 2 with dynamic_sampling",
    ],
  ])("%s: is said with its line", async (_what, text, message) => {
    const path = write("wrong.yaml", text);
    for (const command of [
      ["create", path, "--run-id", "wrong"],
      ["check", path],
    ]) {
      const { code, err } = await run(...command);
      expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    }
  });

  test("check says all of it, file by file and line by line", async () => {
    const bad = write(
      "bad.yaml",
      `arms:
  - { id: a, spec: { environment: countdownn } }
  - { id: b, spec: { environment: countdown, level: T9} }
  - { id: b, spec: { environment: code, pool: nope } }
policy: { mixture: {} }
num_generations: 100000
prompts_per_update: 0
`,
    );
    const [good, unread] = [write("good.yaml", file), write("unread.yaml", "nun: 1\n")];
    const { code, out, err } = await run("check", bad, good, unread);
    expect([code, out]).toEqual([2, `${good}: can be created\n`]);
    expect(
      err
        .replace(/^gradus: /, "")
        .trimEnd()
        .split("\n"),
    ).toEqual([
      `${bad}:2: arms[0].spec.environment: unknown environment 'countdownn'; did you mean 'countdown'?`,
      expect.stringContaining(`${bad}:3: arms[1].spec.level: countdown has no level 'T9'`),
      expect.stringContaining(`${bad}:4: arms[2].spec.pool: code has no pool 'nope'`),
      `${bad}:4: arms[2].id: "b" is the id of an earlier arm: give each arm its own`,
      `${bad}:6: num_generations: must be from 1 to 1024; got 100000`,
      `${bad}:7: prompts_per_update: must be a whole number in [1, 4096], not 0`,
      expect.stringContaining(`${unread}:1: nun: is not a known field`),
    ]);
  });

  test("check names the lines of pools, too", async () => {
    const path = write("good.yaml", file);
    const bad = write("rows.jsonl", '{"question": 1}\n{"question": "q", "options": ["1", "2"], "answer": "3"}\n');
    const none = await run("check", path, "--pool", `x=qa:${bad}`, "--pool", "y=qa:/no/such.jsonl");
    expect(none.code).not.toBe(0);
    expect(none.err).toContain(`${bad}:1: column question must be`);
    expect(none.err).toContain(`${bad}:2: column answer must be one of the options`);
    expect(none.err).toContain("--pool y=qa:/no/such.jsonl: the file cannot be read");
    write("rows.jsonl", `${readFileSync(bad, "utf8")}{"question": "q", "options": ["1", "2"], "answer": "2"}\n`);
    const some = await run("check", path, "--pool", `x=qa:${bad}`);
    expect([some.code, some.out]).toEqual([0, `${path}: can be created\n`]);
    expect(some.err).toContain(`warning: ${bad}:1: column question must be`);
  });

  test("check says what a server must have", async () => {
    const environments = ["code", "writing", "code"].map(
      (environment, i) => `  - { id: a${i}, spec: { environment: ${environment} } }`,
    );
    const path = write(
      "needs.yaml",
      `arms:\n${environments.join("\n")}\npolicy: { mixture: {} }\nnum_generations: 2\nprompts_per_update: 4\n`,
    );
    const { code, err } = await gradus(here, "run", "check", path);
    expect(code).toBe(0);
    expect(err.trimEnd().split("\n")).toEqual([
      expect.stringContaining(`warning: ${path}:2: arms[0].spec.environment: needs a server with a sandbox`),
      expect.stringContaining(`warning: ${path}:3: arms[1].spec.environment: needs a server with a judge`),
    ]);
  });

  test.each([
    [["set-weights", "none", "a"], 2, "must be arm=weight, e.g. real/T0=0.5; got 'a'"],
    [["set-weights", "none", "a=0", "a=1"], 2, "'a' is given twice"],
    [["get", "none"], 3, "none"],
    [["create", "/no/such.yaml"], 3, "<file> must be a file that can be read"],
    [["import", "/no/such.run", "--run-id", "x"], 3, "<file> must be a file that can be read"],
    [["waatch", "none"], 2, "Did you mean watch?"],
  ])("%j ends with %d", async (args, expected, message) => {
    const { code, err } = await run(...args);
    expect([code, err]).toEqual([expected, expect.stringContaining(message)]);
  });

  test("a policy that has no stages cannot be advanced", async () => {
    await ok("create", write("flat.yaml", file), "--run-id", "flat");
    expect(await run("advance", "flat")).toMatchObject({
      code: 1,
      err: expect.stringContaining("no stages or tiers to advance to") as string,
    });
  });

  test("no server", async () => {
    const { code, err } = await gradus(here, "run", "list", "--server", "127.0.0.1:1");
    expect([code, err]).toEqual([4, "gradus: no server at 127.0.0.1:1: start one with `gradus serve`\n"]);
  });
});
