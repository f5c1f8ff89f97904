/** Rows of a mounted level, in a run: each of its split once an epoch, in an order of its own, and the same when they are asked for again. */
import { expect, onTestFinished, test } from "vitest";
import type { GradusClient, RunChoice, SplitName, Task } from "../../../../clients/ts/src/index.ts";
import { wrapAnswer } from "../../../../envs/answers/wording.ts";
import { openServer } from "../../../support/in-process.ts";
import { described, startProvider } from "../../../support/mounted/provider.ts";

const ROWS = 60;
const PROMPTS = 8;

/** A provider whose one level has rows: row n asks for the number n. */
async function provider(rows = ROWS) {
  const [environment] = described().environments;
  const levels = environment?.levels.map((level) => ({ ...level, rows: BigInt(rows) })) ?? [];
  const environments = environment === undefined ? [] : [{ ...environment, levels }];
  const started = await startProvider(() => ({ describe: () => ({ environments }) }));
  onTestFinished(() => started.stop());
  return started.address;
}

const runOf = (id: string, split: SplitName = "train"): RunChoice => ({
  arms: [{ id, environment: "far/number", level: "all", split }],
  policy: { kind: "mixture" },
  numGenerations: 1,
  promptsPerUpdate: PROMPTS,
  seed: 3,
});
const numberOf = ({ prompt }: Task): number => Number(/Write (\d+)\./.exec(prompt[0]?.content ?? "")?.[1] ?? -1);
const answer = (task: Task): string => wrapAnswer(String(numberOf(task)), "think_answer");

/** Plays update batches until the walk is in an epoch; all tasks before it, in order. */
async function untilEpoch(client: GradusClient, runId: string, epoch: number): Promise<readonly Task[]> {
  const drawn: Task[] = [];
  for (let cursor = 0n; (drawn.at(-1)?.poolEpoch ?? 0) < epoch;) {
    const { tasks, nextCursor } = await client.run(runId).nextBatch({ cursor, count: PROMPTS });
    drawn.push(...tasks);
    await client.batchStep(tasks.map((task) => ({ task, completions: [{ sampleIndex: 0, text: answer(task) }] })));
    cursor = nextCursor;
  }
  return drawn.filter(({ poolEpoch }) => poolEpoch < epoch);
}

test("each row of the split comes once an epoch, in another order each time, and again as it was", async () => {
  const mount = [`far=${await provider()}`];
  const first = await openServer({ store: "sqlite", workers: "1", mount });
  await first.client.run("walk").create(runOf("a"));
  const drawn = await untilEpoch(first.client, "walk", 2);
  const [one, two] = [0, 1].map((epoch) => drawn.filter(({ poolEpoch }) => poolEpoch === epoch).map(numberOf));
  expect(new Set(one).size).toBe(one?.length);
  expect(two?.toSorted((a, b) => a - b)).toEqual(one?.toSorted((a, b) => a - b));
  expect(two).not.toEqual(one);
  // A tenth each are to evaluate and to compare by.
  expect(one?.length).toBeGreaterThan(ROWS / 2);
  expect(one?.length).toBeLessThan(ROWS);
  const { dataDir } = first;
  await first.server.stop();
  first.client.close();
  await using second = await openServer({ store: "sqlite", workers: "1", mount, dataDir });
  for (const task of [drawn[0], drawn.at(-1)] as [Task, Task]) {
    const again = (await second.client.run("walk").nextBatch({ cursor: task.cursor, count: 1 })).tasks;
    expect(again).toEqual([task]);
    expect(await second.client.step(task, answer(task))).toMatchObject({ kind: "scored", reward: 1 });
  }
});

test("runs of other seeds and arms of other names walk in other orders", async () => {
  await using server = await openServer({ store: "memory", workers: "1", mount: [`far=${await provider()}`] });
  const orders: string[] = [];
  for (const [name, seed] of [
    ["a", 3],
    ["a", 4],
    ["b", 3],
  ] as const) {
    const run = server.client.run(`${name}${seed}`);
    await run.create({ ...runOf(name), seed });
    orders.push((await run.nextBatch({ cursor: 0n, count: PROMPTS })).tasks.map(numberOf).join());
  }
  expect(new Set(orders).size).toBe(3);
});

test("of one row only the run of its split can be, and has it in each epoch", async () => {
  await using server = await openServer({ store: "memory", workers: "1", mount: [`far=${await provider(1)}`] });
  const created = await Promise.allSettled(
    (["train", "eval", "bench"] as const).map(async (split) => {
      const run = server.client.run(split);
      await run.create(runOf("a", split));
      return (await run.nextBatch({ cursor: 0n, count: PROMPTS })).tasks;
    }),
  );
  const refused = created.flatMap((each) => (each.status === "rejected" ? [String(each.reason)] : []));
  expect(refused).toEqual(new Array(2).fill(expect.stringMatching(/no task was found/)));
  const [tasks = []] = created.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  expect(tasks.map(numberOf)).toEqual(new Array(PROMPTS).fill(0));
  expect(tasks.map(({ poolEpoch }) => poolEpoch)).toEqual([...Array(PROMPTS).keys()]);
});
