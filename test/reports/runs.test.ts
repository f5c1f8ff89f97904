/** Replays public reports of losses by other trainers and their data. README.md lists them. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Split, type Task } from "../../proto/gen/gradus/v1/task_pb.js";
import { handleOf, runOf, type TestRun } from "../e2e/services/run-of.ts";
import { openWire, type Wire } from "../e2e/services/wire.ts";

let wire: Wire;
beforeAll(async () => {
  wire = await openWire();
});
afterAll(() => wire[Symbol.asyncDispose]());

/** Returns the prompt of a task, which does not depend on its run and incarnation. */
const promptOf = ({ prompt }: Task): string => prompt.map(({ content }) => content).join("\n");

/** Draws and answers batches of two tasks, from a cursor up to another. */
async function trained(run: TestRun, from: number, to: number): Promise<readonly string[]> {
  const prompts: string[] = [];
  for (let cursor = from; cursor < to; cursor += 2) {
    const tasks = await run.next(cursor, 2);
    prompts.push(...tasks.map(promptOf));
    await run.answer(tasks);
  }
  return prompts;
}

async function stateOf(runId: string): Promise<Uint8Array> {
  return (await wire.curriculum.exportRun({ runId })).state;
}

/** A run of another id that stands where the export was made. */
async function resumed(state: Uint8Array, runId: string): Promise<{ run: TestRun; outstanding: readonly Task[] }> {
  const { outstanding } = await wire.curriculum.importRun({ state, runId });
  return { run: handleOf(wire, runId), outstanding };
}

describe("a checkpoint", () => {
  test("deepspeedai/DeepSpeed#8405: keeps the generator that draws: the batches after it are those of the undisturbed run", async () => {
    const run = await runOf(wire, "undisturbed");
    await trained(run, 0, 8);
    const state = await stateOf("undisturbed");
    const expected = await trained(run, 8, 20);
    const { run: after } = await resumed(state, "resumed");
    expect(await trained(after, 8, 20)).toEqual(expected);
    expect(new Set(expected).size).toBe(expected.length);
  });

  test.each(["NVIDIA-NeMo/RL#3599", "huggingface/trl#5911"])(
    "%s: gives tasks that were in flight again, and skips none",
    async (report) => {
      const name = report.replaceAll(/\W/g, "-");
      const run = await runOf(wire, name);
      await trained(run, 0, 4);
      const tasks = await run.next(4, 2);
      await run.answer(tasks.slice(0, 1));
      const { run: after, outstanding } = await resumed(await stateOf(name), `${name}-2`);
      expect(outstanding.map(promptOf)).toEqual(tasks.slice(1).map(promptOf));
      await after.answer(outstanding);
      await run.answer(tasks.slice(1));
      expect(await trained(after, 6, 12)).toEqual(await trained(run, 6, 12));
    },
  );

  test("allenai/open-instruct#1523: nothing that was trained on comes again after it", async () => {
    const run = await runOf(wire, "once");
    const before = await trained(run, 0, 12);
    const { run: after, outstanding } = await resumed(await stateOf("once"), "once-2");
    expect(outstanding).toEqual([]);
    const again = await trained(after, 12, 24);
    expect(again.filter((prompt) => before.includes(prompt))).toEqual([]);
  });
});

describe("splits", () => {
  const SEEDS = Array.from({ length: 200 }, (_, seed) => BigInt(seed));
  const promptsOf = async (environment: string, level: string, split: Split): Promise<ReadonlySet<string>> => {
    const spec = { environment, difficulty: { case: "level", value: level }, split } as const;
    const { results } = await wire.environments.batchReset({ spec, seeds: SEEDS });
    return new Set(results.map(({ result }) => (result.case === "task" ? promptOf(result.value) : `${result.case}`)));
  };

  test.each([
    ["mll-lab-nu/RAGEN#101", "countdown", "T0", 50],
    ["openai/procgen#100", "np/clique", "easy", 50],
    ["openai/procgen#100", "np/subset-sum", "easy", 50],
  ])("%s: the same seeds of %s %s are no tasks of another split", async (_, environment, level, least) => {
    const [train, held] = [
      await promptsOf(environment, level, Split.TRAIN),
      await promptsOf(environment, level, Split.EVAL),
    ];
    expect(Math.min(train.size, held.size)).toBeGreaterThanOrEqual(least);
    expect([...held].filter((prompt) => train.has(prompt))).toEqual([]);
  });

  test("open-edge-platform/anomalib#403: seed 0 is a seed like any other", async () => {
    const ask = async (seed: bigint) => {
      const { task } = await wire.environments.reset({ spec: { environment: "np/tsp" }, seed });
      return promptOf(task!);
    };
    const [zero, again, one] = [await ask(0n), await ask(0n), await ask(1n)];
    expect(again).toBe(zero);
    expect(one).not.toBe(zero);
  });
});
