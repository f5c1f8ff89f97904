import { tmpdir } from "node:os";
/** Tasks and scores without a server. */
import { create } from "@bufbuild/protobuf";
import type { sendUnaryData, ServerUnaryCall } from "@grpc/grpc-js";
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BatchResetRequest, BatchResetResponseSchema } from "../../clients/ts/src/index.ts";
import { scriptedServer } from "../clients/ts/support/scripted-server.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus, launcher, start } from "./gradus.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const here = { cwd: folder.path };

async function json(...args: readonly string[]): Promise<unknown> {
  const { code, out, err } = await gradus(here, ...args, "--json");
  expect([code, err]).toEqual([0, ""]);
  return JSON.parse(out);
}

describe("envs", () => {
  test("lists environments, and leaves nothing behind", async () => {
    const { code, out } = await gradus(here, "envs");
    expect(code).toBe(0);
    expect(out).toMatch(/^id +version +goal +levels +pictures +description\n/);
    expect(out).toMatch(/^countdown +2 +satisfy +T0 T1 T2 T3 OOD +yes +/m);
    expect(out).toMatch(/^qa +2 +satisfy +\S.*\S {2,}Answer/m);
    expect(existsSync(join(folder.path, "gradus"))).toBe(false);
  });

  test("describes one", async () => {
    const { out } = await gradus(here, "envs", "np/tsp");
    expect(out).toMatch(/^goal +minimize$/m);
    expect(out).toMatch(/^pictures +gradus draw np\/tsp$/m);
    expect(out).toMatch(/^cities_min +3 to 200 +10 +Fewest cities\. Given alone, it raises cities_max as needed\.$/m);
  });

  test("describes what is graded: components with their weights, and no parameters where there are none", async () => {
    const { out } = await gradus(here, "envs", "writing");
    expect(out).toMatch(/^weighted +preference +0 to 1 +1 +Weight: /m);
    expect(out).not.toMatch(/^parameter /m);
  });

  test("says how many calls a task takes, by which tools, and what is not deterministic", async () => {
    const of = async (id: string) => (await gradus(here, "envs", id)).out;
    const math = await of("math/linear");
    expect(math).toMatch(/^calls +none, or up to 16 by --calls$/m);
    expect(math).toMatch(/^tools +calculator, python$/m);
    expect(math).toMatch(/^deterministic +yes, apart from the tools python$/m);
    const mastermind = await of("games/mastermind");
    expect(mastermind).toMatch(/^calls +10, or up to 64 by --calls$/m);
    expect(mastermind).toMatch(/^deterministic +yes$/m);
    const writing = await of("writing");
    expect(writing).toMatch(/^calls +none: each task takes one completion$/m);
    expect(writing).not.toMatch(/^tools /m);
    expect(writing).toMatch(/^deterministic +no: an equal completion may get another score or reply$/m);
  });

  test("as JSON, of one category", async () => {
    const np = (await json("envs", "--category", "np")) as readonly { readonly id: string }[];
    expect(np).toContainEqual(expect.objectContaining({ id: "np/tsp", version: 3 }));
    expect(np.every(({ id }) => id.startsWith("np/"))).toBe(true);
    expect(await json("envs", "countdown")).toMatchObject({ id: "countdown", goal: "GOAL_SATISFY" });
  });

  test("a reader that leaves early is no error", async () => {
    // The command makes only tasks that a reader takes: making them all would take hours.
    for (const [count, ...more] of [["20", "--json"], ["100000"], ["100000", "--json"]] as const) {
      const child = start(["reset", "np/tsp", "--level", "benchmark", "--count", count, ...more], here);
      const { stdout, stderr } = child;
      if (stdout === null || stderr === null) throw new Error("no streams");
      stdout.once("data", () => stdout.destroy());
      const ended = new Promise((done) => child.once("exit", done));
      expect([await ended, await text(stderr)]).toEqual([0, ""]);
    }
  });

  test("what cannot be written is said", async () => {
    const command = [launcher, "reset", "countdown"].join(" ");
    const child = spawn("sh", ["-c", `${command} > /dev/full`], { cwd: folder.path, stdio: "pipe" });
    const ended = new Promise((done) => child.once("exit", done));
    expect([await text(child.stderr), await ended]).toEqual([expect.stringContaining("ENOSPC"), 1]);
  });

  test("many tasks are one list, whole numbers of calls or not", async () => {
    for (const count of ["1", "64", "65"]) {
      const tasks = (await json("reset", "countdown", "--count", count)) as readonly Task[];
      expect(new Set(tasks.map(({ taskId }) => taskId)).size).toBe(Number(count));
      const { out } = await gradus(here, "reset", "countdown", "--count", count);
      expect(out.match(/^task id /gm)).toHaveLength(Number(count));
      expect(out.match(/\n\nenvironment /g) ?? []).toHaveLength(Number(count) - 1);
    }
  });
});

interface Hinted {
  readonly hints: { readonly metadata: Readonly<Record<string, string>> };
}

describe("a list that breaks off in the middle", () => {
  const answer = (seeds: readonly bigint[], failing: bigint) =>
    create(BatchResetResponseSchema, {
      results: seeds.map((seed) => {
        const failure = { case: "failure", value: { code: 8, message: "no such instance was found" } } as const;
        return {
          seed,
          result: seed === failing ? failure : ({ case: "task", value: { taskId: `t${seed}` } } as const),
        };
      }),
    });
  const BatchReset = (call: ServerUnaryCall<BatchResetRequest, object>, done: sendUnaryData<object>): void =>
    done(null, answer(call.request.seeds, 40n));

  test.each([
    [[], 40],
    [["--seed", "40"], 0],
  ] as const)("is a whole list of what came before: %j", async (more, whole) => {
    const server = await scriptedServer({ BatchReset });
    const flags = ["--count", "100", "--json", "--server", server.address, ...more];
    const { code, out, err } = await gradus(here, "reset", "countdown", ...flags);
    server.stop();
    expect([code, err]).toEqual([1, "gradus: seed 40: no such instance was found\n"]);
    if (whole === 0) expect(out).toBe("");
    else expect((JSON.parse(out) as readonly Task[]).map(({ taskId }) => taskId)).toEqual(ids(whole));
  });
  const ids = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `t${i}`);
});

interface Task {
  readonly taskId: string;
  readonly groupId: string;
  readonly prompt: readonly { readonly role: string; readonly content: string }[];
}

describe("reset, solve and step", () => {
  let task: Task;
  beforeAll(async () => {
    task = (await json("reset", "np/tsp", "--seed", "3")) as Task;
  });

  test("equal choices give equal tasks; the keys are made once, for the owner alone", async () => {
    expect(await json("reset", "np/tsp", "--seed", "3")).toEqual(task);
    expect(await json("reset", "np/tsp", "--seed", "4")).not.toEqual(task);
    expect(existsSync(join(folder.path, "gradus/task-keys"))).toBe(true);
  });

  test("a task of one folder is scored in another: the keys are the user's", async () => {
    const elsewhere = { cwd: tmpdir(), env: { XDG_DATA_HOME: folder.path } };
    const scored = await gradus(elsewhere, "step", task.taskId, "--completion", "[0]", "--json");
    expect([scored.code, scored.out]).toEqual([0, expect.stringContaining('"score"')]);
  });

  test("a task of other keys says what became of it, and what to do", async () => {
    const other = { cwd: folder.path, env: { XDG_DATA_HOME: join(folder.path, "another") } };
    const refused = await gradus(other, "step", task.taskId, "--completion", "[0]");
    expect(refused.code).toBe(1);
    const remedy = "give the --data-dir or --key-file of its server, or --server";
    expect(refused.err).toContain(remedy);
    expect((await gradus(other, "solve", "--task-id", task.taskId)).err).toContain(remedy);
  });

  test("keys that are in .data of the current folder are taken first, as they were before", async () => {
    using old = temporaryFolder();
    await gradus({ cwd: old.path, env: { GRADUS_DATA_DIR: ".data" } }, "reset", "np/tsp");
    const [made] = [JSON.parse((await gradus({ cwd: old.path }, "reset", "np/tsp", "--json")).out) as Task];
    expect(existsSync(join(old.path, "gradus"))).toBe(false);
    const scored = await gradus({ cwd: old.path }, "step", made.taskId, "--completion", "[0]");
    expect(scored.code).toBe(0);
  });

  test("people see the prompt and the ids", async () => {
    const { out } = await gradus(here, "reset", "np/tsp", "--seed", "3");
    for (const shown of [task.taskId, task.groupId, task.prompt[0]?.content ?? "?"]) expect(out).toContain(shown);
  });

  test("the solver's completion has the best reward, whichever way it comes in", async () => {
    const solved = (await json("solve", "--task-id", task.taskId)) as { readonly completion: string };
    const { out: completion } = await gradus(here, "solve", "np/tsp", "--seed", "3", "--as-completion");
    expect(completion).toBe(`${solved.completion}\n`);
    writeFileSync(join(folder.path, "completion.txt"), completion);
    const best = { score: { reward: 2, solved: true, verdict: "VERDICT_FEASIBLE", ratio: 1 } };
    expect(await json("step", task.taskId, "--completion", completion)).toMatchObject(best);
    expect(await json("step", task.taskId, "--file", "completion.txt")).toMatchObject(best);
    const piped = await gradus({ ...here, input: completion }, "step", task.taskId);
    expect(piped.out).toMatch(/^reward +2$/m);
    expect(piped.out).toMatch(/^verdict +feasible, solved$/m);
  });

  test("the solver says how it knows its baseline", async () => {
    const { out } = await gradus(here, "solve", "--task-id", task.taskId);
    expect(out).toMatch(/^baseline +\d+ \(proven optimal\)$/m);
    expect(await json("solve", "np/tsp", "--seed", "3")).toMatchObject({ baseline: { proven: true } });
    expect(await json("solve", "countdown")).not.toHaveProperty("baseline");
  });

  test("a malformed answer has a reward too, and says what is wrong", async () => {
    const { code, out } = await gradus(here, "step", task.taskId, "--completion", "17");
    expect(code).toBe(0);
    expect(out).toMatch(/^reward +-2\.5$/m);
    expect(out).toMatch(/^violation +\S/m);
  });

  test("parameters, format and scheme are the caller's choice", async () => {
    const chosen = [
      "--param",
      "cities_min=5",
      "--param",
      "cities_max=5",
      "--answer-format",
      "boxed",
      "--scheme",
      "binary",
    ];
    const small = (await json("reset", "np/tsp", ...chosen, "--split", "eval")) as Task;
    expect(small).toMatchObject({ level: "", split: "SPLIT_EVAL", answerFormat: "ANSWER_FORMAT_BOXED" });
    const outcome = await json("step", small.taskId, "--completion", "\\boxed{[0, 1, 2, 3, 4, 0]}");
    expect(outcome).toMatchObject({ score: { reward: 2, verdict: "VERDICT_FEASIBLE" } });
  });

  test("one end of a range moves the other's default along", async () => {
    const { metadata } = ((await json("reset", "np/tsp", "--param", "cities_min=30")) as Hinted).hints;
    expect(metadata).toEqual({ cities: "30" });
  });

  test("--count gives the tasks of the seeds that follow", async () => {
    const tasks = (await json("reset", "np/tsp", "--seed", "2", "--count", "3")) as readonly Task[];
    expect(tasks).toHaveLength(3);
    expect(tasks[1]).toEqual(task);
  });

  test("rows of a pool of one's own", async () => {
    const rows = Array.from({ length: 60 }, (_, i) => ({ nums: [i + 2, 3, 1], target: i + 6 }));
    writeFileSync(join(folder.path, "rows.jsonl"), rows.map((row) => JSON.stringify(row)).join("\n"));
    const pool = ["--pool", "mine=rows.jsonl"];
    const row = (await json("reset", "countdown", "--source", "real", "--pool-name", "mine", ...pool)) as Task;
    expect(row).toMatchObject({ source: "SOURCE_REAL" });
    const { out: completion } = await gradus(here, "solve", "--task-id", row.taskId, "--as-completion", ...pool);
    expect(await json("step", row.taskId, "--completion", completion, ...pool)).toMatchObject({
      score: { solved: true },
    });
  });

  test("without a judge there is no reward, and the remedy is this process's", async () => {
    const { taskId } = (await json("reset", "writing")) as { readonly taskId: string };
    const completion = "<think>…</think><answer>Twelve letters and a few more for the judge.</answer>";
    const { code, out } = await gradus(here, "step", taskId, "--completion", completion);
    expect(code).toBe(1);
    expect(out).toMatch(/^reason +resource_unavailable$/m);
    expect(out).toMatch(/^resource +judge$/m);
    expect(out).toContain("there is no judge: set GRADUS_JUDGE_URL and GRADUS_JUDGE_MODEL");
  });

  test("a task id of other keys has no reward, and ends with 1", async () => {
    const { code, out } = await gradus(here, "step", task.taskId, "--completion", "17", "--data-dir", "other");
    expect(code).toBe(1);
    expect(out).toMatch(/^reason +invalid_task_id$/m);
    expect(out).toMatch(/^detail +task_id: it was made with a key that this server does not have$/m);
  });
});
