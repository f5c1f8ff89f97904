/** Driving a run from where it is. */
import { expect, test } from "vitest";
import { drive } from "../../cli/runs/drive.ts";
import { complete, completionsOf } from "../support/scripted-policy.ts";
import { runConfigOf } from "../../clients/ts/src/choices.ts";
import { openServer } from "../support/in-process.ts";

test("groups that another left open are answered first, for the draws behind them wait for them", async () => {
  await using server = await openServer({ store: "memory" });
  const run = server.client.run("left");
  const config = runConfigOf({
    arms: [{ id: "a", environment: "countdown", level: "T0" }],
    policy: { kind: "mixture" },
    promptsPerUpdate: 4,
    numGenerations: 2,
    length: 12,
    feedbackLag: 0,
  });
  await run.create(config);
  const { tasks } = await run.nextBatch({ cursor: 0n, count: 4 });
  const [first] = tasks;
  if (first === undefined) throw new Error("no task");
  await server.client.batchStep([completionsOf(first, 2)]);
  const driven = await drive({
    client: server.client,
    run,
    config,
    tasksMax: undefined,
    complete: (some) => some.map((task) => [0, 1].map((sample) => complete(task, sample))),
    onGroups: () => undefined,
    signal: new AbortController().signal,
  });
  expect(driven).toBe(8);
  expect((await run.get()).state).toMatchObject({ done: true, samplesRecorded: 24n });
});
