/** A run is a pure function of its seed and its feedback, however the trainer is scheduled. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { GradusClient, GroupChoice, RunHandle, Task } from "../../clients/ts/src/index.ts";
import { type Rng, rngFor } from "../../envs/lib/rng.ts";
import { openServer, type TestServer } from "../support/in-process.ts";
import { adscRun, completionsOf, taskLine } from "../support/scripted-policy.ts";

const GENERATIONS = 4;
const BATCHES = 12;

let host: TestServer;
beforeAll(async () => {
  host = await openServer();
});
afterAll(() => host[Symbol.asyncDispose]());

type Feed = (client: GradusClient, tasks: readonly Task[], rng: Rng) => Promise<void>;

async function drain(client: GradusClient, groups: readonly GroupChoice[]): Promise<void> {
  for await (const result of client.streamSteps(groups)) if (result.kind === "failed") throw result.error;
}

const whole = (tasks: readonly Task[]): GroupChoice[] => tasks.map((task) => completionsOf(task, GENERATIONS));

/** One message for each completion. */
function single(tasks: readonly Task[]): GroupChoice[] {
  return whole(tasks).flatMap(({ task, completions }) =>
    completions.map((text, sampleIndex) => ({ task, completions: [{ sampleIndex, text: text as string }] })),
  );
}

const feeds: Readonly<Record<string, Feed>> = {
  "in order, group by group": (client, tasks) => drain(client, whole(tasks)),
  "shuffled, completion by completion": (client, tasks, rng) => drain(client, rng.shuffle(single(tasks))),
  "duplicated and shuffled": (client, tasks, rng) =>
    drain(client, rng.shuffle([...single(tasks), ...whole(tasks), ...single(tasks)])),
  "split over two streams": async (client, tasks, rng) => {
    const parts = rng.shuffle(single(tasks));
    await Promise.all([
      drain(
        client,
        parts.filter((_, i) => i % 2 === 0),
      ),
      drain(
        client,
        parts.filter((_, i) => i % 2 === 1),
      ),
    ]);
  },
  "by unary steps at once": async (client, tasks) => {
    const steps = single(tasks).map(async ({ task, completions: [completion] }) => {
      const { sampleIndex, text } = completion as { sampleIndex: number; text: string };
      await client.step(task, text, { sampleIndex });
    });
    await Promise.all(steps);
  },
  "a batch ahead, and later ones first": async (client, tasks, rng) =>
    drain(
      client,
      single(tasks)
        .reverse()
        .concat(rng.shuffle(single(tasks))),
    ),
};

/** All that a run did: its tasks, and the probabilities and values of each draw, to the bit. */
async function record(run: RunHandle, tasks: readonly Task[]) {
  const history = await run.history();
  const batches = history.flatMap(({ kind }) => (kind.case === "batch" ? [kind.value] : []));
  return {
    tasks: tasks.map(taskLine),
    draws: batches.map(({ probabilities, values, counts }) => ({ probabilities, values, counts })),
  };
}

async function play(name: string, feed: Feed, lag: number) {
  const run = host.client.run(`${lag}-${name.replaceAll(/[^a-z]+/g, "-")}`);
  await run.create(adscRun({ feedbackLag: lag, length: 8 * BATCHES, numGenerations: GENERATIONS }));
  const rng = rngFor("schedule", name);
  const tasks: Task[] = [];
  const feeding: Promise<void>[] = [];
  for await (const batch of run.batches()) {
    tasks.push(...batch.tasks);
    feeding.push(feed(host.client, batch.tasks, rng));
    // Pulls as far ahead as the lag allows, so that feedback of several batches is on its way at once.
    if (feeding.length > lag) await feeding[feeding.length - 1 - lag];
  }
  await Promise.all(feeding);
  return record(run, tasks);
}

describe.each([0, 1, 3])("under a lag of %i batches", (lag) => {
  test("tasks and probabilities are the same however feedback arrives", async () => {
    const [reference, ...others] = Object.entries(feeds);
    if (reference === undefined) throw new Error("no feeds");
    const expected = await play(...reference, lag);
    expect(expected.tasks).toHaveLength(8 * BATCHES);
    expect(new Set(expected.tasks.map((line) => line.split(" ").slice(2).join(" "))).size).toBe(8 * BATCHES);
    const [first, last] = [expected.draws[0], expected.draws.at(-1)];
    // The bandit did learn something, or this would show nothing.
    expect(last?.probabilities).not.toEqual(first?.probabilities);
    for (const [name, feed] of others) expect(await play(name, feed, lag), name).toEqual(expected);
  });
});
