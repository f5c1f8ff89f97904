/** Messages that were made before they were asked for: what they are of, and that a trainer cannot tell. */
import { expect, test } from "vitest";
import { createPreparedTasks } from "../../../server/services/run-task.ts";
import { openServer } from "../../support/in-process.ts";

type Kept = Parameters<ReturnType<typeof createPreparedTasks>["keep"]>;

const key = { origin: { kind: "inline", instance: new Uint8Array() }, hash: "00" } as const;
const place = { cursor: 3, arm: 0, ordinal: 3, repeat: false, incarnation: "i", epoch: 0 };
const task: Kept[1] = { ...place, key, batch: 1, probability: 0.5, numGenerations: 2 };
const config = {} as Kept[2];
const message = { prompt: [{ content: "?" }] } as Kept[3];

test("each is given once, and only for what it was made of", () => {
  const others: readonly (readonly [string, Kept[1], Kept[2]])[] = [
    ["other", task, config],
    ["run", { ...task, key: { ...key } }, config],
    ["run", { ...task, epoch: 1 }, config],
    ["run", { ...task, probability: 0.25 }, config],
    ["run", { ...task, incarnation: "j" }, config],
    ["run", task, { ...config }],
  ];
  for (const other of others) {
    const prepared = createPreparedTasks();
    prepared.keep("run", task, config, message);
    expect(prepared.has(...other)).toBe(false);
    expect(prepared.take(...other)).toBeUndefined();
  }
  const written: unknown[] = [];
  const prepared = createPreparedTasks((each) => written.push(each));
  prepared.keep("run", task, config, message);
  expect(written).toEqual([message]);
  expect(prepared.has("run", task, config)).toBe(true);
  expect(prepared.take("run", task, config)).toBe(message);
  expect(prepared.take("run", task, config)).toBeUndefined();
});

test("a batch that is asked for again is the same, whether its messages were there or not", async () => {
  await using server = await openServer();
  const run = server.client.run("again");
  await run.create({
    arms: [
      { id: "t0", environment: "countdown", level: "T0" },
      { id: "tsp", environment: "np/tsp", level: "easy" },
    ],
    policy: { kind: "bandit" },
    ...{ numGenerations: 1, promptsPerUpdate: 8, feedbackSource: "reported" },
    promptTemplate: { system: "Think.", user: "Q: {prompt}" },
  });
  let cursor = 0n;
  for (let batch = 0; batch < 6; batch++) {
    const given = await run.nextBatch({ cursor });
    await run.reportAdvantages(given.tasks.map(({ groupId }, i) => ({ groupId, advantages: [i] })));
    expect(await run.nextBatch({ cursor })).toEqual(given);
    cursor = given.nextCursor;
  }
});
