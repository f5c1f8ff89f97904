/** Tests commands for people: pictures, right answers, kept completions, evaluations and checks. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openServer, type TestServer } from "../support/in-process.ts";
import { eventually } from "../support/patience.ts";
import { completionsOf } from "../support/scripted-policy.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { expectWellFormed } from "../pictures/looks.ts";
import { type Ended, gradus } from "./gradus.ts";

const folder = temporaryFolder();
let server: TestServer;
beforeAll(async () => {
  server = await openServer({ store: "memory", keepSamples: "1" });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** A command that asks the server. */
const asked = (...args: readonly string[]): Promise<Ended> =>
  gradus({ cwd: folder.path }, ...args, "--server", server.address);

async function ok(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await asked(...args);
  expect([code, err]).toEqual([0, ""]);
  return out;
}

const json = async (...args: readonly string[]): Promise<unknown> => JSON.parse(await ok(...args, "--json"));
const words = (text: string): string => expect.stringContaining(text) as string;

describe("draw, by a server", () => {
  test("a task, and an answer with what is wrong with it", async () => {
    expectWellFormed((await ok("draw", "np/tsp", "--seed", "3")).trimEnd());
    const drawing = await json("draw", "np/tsp", "--seed", "3", "--answer", "[0, 1, 2, 1]");
    expect(drawing).toMatchObject({ svg: words("✗ infeasible: city 1 is visited twice") });
  });

  test("an environment that there is not is named, with what was meant", async () => {
    expect(await asked("draw", "np/tps")).toMatchObject({ code: 3, err: words("np/tsp") });
  });
});

describe("solve, by a server", () => {
  test("a right answer, which scores as one", async () => {
    expect(await ok("solve", "np/tsp", "--seed", "3")).toMatch(/^answer +\[/m);
    const solved = (await json("solve", "np/tsp", "--seed", "3")) as { readonly taskId: string; completion: string };
    expect(solved).toMatchObject({ baseline: { proven: true } });
    expect(await json("step", solved.taskId, "--completion", solved.completion)).toMatchObject({
      score: { solved: true },
    });
  });

  test("a benchmark's task is solved for nobody", async () => {
    const { code, err } = await asked("solve", "np/tsp", "--split", "bench");
    expect([code, err]).toEqual([expect.any(Number), words("bench")]);
    expect(code).not.toBe(0);
  });
});

describe("completions that a run keeps", () => {
  beforeAll(async () => {
    const run = server.client.run("keeping");
    await run.create({
      arms: [{ id: "a", environment: "countdown", level: "T0" }],
      policy: { kind: "mixture" },
      numGenerations: 2,
      promptsPerUpdate: 2,
    });
    const { tasks } = await run.nextBatch();
    await server.client.batchStep([
      { task: tasks[0]!, completions: ["\u001b[31mI think <answer>1</answer>", "no answer"] },
      completionsOf(tasks[1]!, 2),
    ]);
  });

  test("are shown, filtered, and command no terminal", async () => {
    await eventually(async () => expect(await ok("run", "samples", "keeping")).toContain("no answer"));
    const found = await ok("run", "samples", "keeping", "--text", "I think", "--arm", "a");
    expect(found).toMatch(/^#\d+ · a · task 0 · sample 0 · reward -?[\d.]+ · /);
    expect(found).not.toContain("\u001b");
    const lines = (await ok("run", "samples", "keeping", "--limit", "3", "--json")).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toHaveLength(3);
    const ofVerdicts = async (...names: readonly string[]) => {
      const flags = names.flatMap((name) => ["--verdict", name]);
      return (await ok("run", "samples", "keeping", ...flags, "--json")).trimEnd().split("\n");
    };
    const malformed = await ofVerdicts("malformed");
    expect(malformed.every((line) => line.includes("VERDICT_MALFORMED"))).toBe(true);
    expect(await ofVerdicts("malformed", "infeasible", "feasible")).toHaveLength(4);
    expect(await ok("run", "samples", "keeping", "--text", "nonesuch")).toContain("no completions");
  });

  test("of a run that there is not, or of a verdict that there is not, there are none", async () => {
    expect(await asked("run", "samples", "nonesuch")).toMatchObject({ code: 3, err: words("nonesuch") });
    expect(await asked("run", "samples", "keeping", "--verdict", "splendid")).toMatchObject({
      code: 2,
      err: words("malformed"),
    });
    expect(await asked("run", "delete-samples", "nonesuch")).toMatchObject({ code: 3, err: words("nonesuch") });
  });

  test("are counted by what is wrong with them", async () => {
    const shown = await ok("run", "problems", "keeping");
    expect(shown).toMatch(/^keeping\n4 samples, \d+% solved, 0% truncated, 0% without a reward, mean reward /);
    expect(shown).toMatch(/^problems\nsamples +share +kind +problem$/m);
    expect(shown).toMatch(/^1 +25% +█████ +malformed +the thinking is never closed/m);
    const [, verdict = "", template = ""] =
      /^gradus run samples keeping --verdict (\w+) --violation-template '(.*)'$/m.exec(shown)!;
    const found = await ok(
      "run",
      "samples",
      "keeping",
      "--verdict",
      verdict,
      "--violation-template",
      template,
      "--json",
    );
    const count = Number(/^problems\n.*\n(\d+) /m.exec(shown)?.[1]);
    expect(found.trimEnd().split("\n")).toHaveLength(count);
    expect(shown).toMatch(/^rewards\nreward +samples +share +mean length$/m);
    expect(shown).toMatch(/^arms\narm +samples +solved .*\na +4 /m);
    expect(await ok("run", "problems", "keeping", "--arm", "a")).toMatch(
      /^a\n4 samples[^]*over time, by 1 tasks\ntask/,
    );
    expect(await json("run", "problems", "keeping")).toMatchObject({
      counted: true,
      total: { sums: { samples: "4" } },
      arms: [{ armId: "a" }],
    });
    expect(await asked("run", "problems", "keeping", "--arm", "b")).toMatchObject({ code: 2, err: words("arm_id") });
    expect(await asked("run", "problems", "nonesuch")).toMatchObject({ code: 3, err: words("nonesuch") });
  });

  test("are filtered by whether they were cut off, and by the reason for a missing reward", async () => {
    const run = server.client.run("unrewarded");
    const arms = [{ id: "a", environment: "countdown", level: "T0" }];
    await run.create({ arms, policy: { kind: "mixture" }, numGenerations: 3, promptsPerUpdate: 1 });
    const { tasks } = await run.nextBatch();
    const cut = { sampleIndex: 0, text: "<think>so", finishReason: "length" } as const;
    const completions = [cut, "no answer", "x".repeat(300_000)];
    await server.client.batchStep([{ task: tasks[0]!, completions }]);
    const found = async (...flags: readonly string[]): Promise<readonly unknown[]> => {
      const lines = (await ok("run", "samples", "unrewarded", "--json", ...flags))
        .split("\n")
        .filter((line) => line !== "");
      return lines.map((line) => (JSON.parse(line) as { readonly sampleIndex?: number }).sampleIndex ?? 0);
    };
    await eventually(async () => expect(await found()).toHaveLength(3));
    expect(await found("--truncated")).toEqual([0]);
    expect(await found("--no-truncated")).toEqual([1]);
    expect(await found("--missing-reward")).toEqual([2]);
    expect(await found("--missing-reward", "too_large")).toEqual([2]);
    expect(await found("--missing-reward", "timeout")).toEqual([]);
    expect(await asked("run", "samples", "unrewarded", "--missing-reward", "cold")).toMatchObject({
      code: 2,
      err: words("too_large"),
    });
  });

  test("are deleted, and the run goes on", async () => {
    expect(await json("run", "delete-samples", "keeping")).toEqual({ deleted: "keeping" });
    expect(await ok("run", "samples", "keeping")).toContain("no completions");
    expect(await ok("run", "problems", "keeping")).toBe("no samples of keeping are counted yet\n");
    expect(await ok("run", "delete-samples", "keeping")).toBe("the completions of keeping are deleted\n");
    expect((await server.client.run("keeping").get()).state?.samplesRecorded).toBe(4n);
  });
});

describe("evaluations of a server", () => {
  beforeAll(async () => {
    for (const id of ["one", "two"])
      await server.client.evaluation(id).create({ suite: "countdown", model: `of ${id}` });
  });

  test("are listed, and deleted", async () => {
    expect(await ok("eval", "list")).toMatch(/^one +countdown \d+ +of one +0 of \d+$/m);
    expect(await json("eval", "list", "--suite", "countdown")).toMatchObject([
      { evaluationId: "one" },
      { evaluationId: "two" },
    ]);
    expect(await ok("eval", "list", "--suite", "forge-bench")).toBe("no evaluations\n");
    expect(await ok("eval", "delete", "one")).toBe("one is deleted\n");
    expect(await json("eval", "delete", "two")).toEqual({ deleted: "two" });
    expect(await ok("eval", "list")).toBe("no evaluations\n");
  });

  test("one that there is not is not deleted", async () => {
    expect(await asked("eval", "delete", "nonesuch")).toMatchObject({ code: 3, err: words("nonesuch") });
  });
});

describe("run check, by a server", () => {
  const file = (name: string, arms: string): string => {
    const path = join(folder.path, name);
    writeFileSync(path, `arms: ${arms}\npolicy: {mixture: {}}\nnum_generations: 2\nprompts_per_update: 4\n`);
    return path;
  };

  test("says what a family comes to, and makes no run", async () => {
    const path = file("family.yaml", "np/t*");
    expect(await ok("run", "check", path)).toMatch(/can be created\n {2}np\/t\*: \d+ arms: np\/tsp\/easy, /);
    expect(await json("run", "check", path)).toMatchObject({
      files: [{ problems: [], arms: expect.arrayContaining(["np/tsp/easy"]) as unknown }],
    });
    expect((await server.client.listRuns()).map(({ runId }) => runId)).not.toContain("family");
  });

  test("says what is wrong, with its line", async () => {
    const path = file("wrong.yaml", "[{id: a, spec: {environment: np/tps}}]");
    expect(await asked("run", "check", path)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/wrong\.yaml:1: arms\[0\]\.spec\.environment: .*np\/tsp/) as string,
    });
  });
});
