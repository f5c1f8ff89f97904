/** Tests of GetViolations on real servers: counts, errors, deletion, and servers that share a store. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { GradusClient, RunChoice } from "../../../clients/ts/src/index.ts";
import { type GetViolationsResponse, NoRewardReason, Verdict } from "../../../clients/ts/src/public.ts";
import { openServer, type TestServer } from "../../support/in-process.ts";

const choice: RunChoice = {
  arms: [
    { id: "tours", environment: "np/tsp", level: "easy" },
    { id: "sums", environment: "math/arithmetic" },
    { id: "unused", environment: "countdown", level: "T0", weight: 0 },
  ],
  evaluationArms: [{ id: "held-out", environment: "math/arithmetic", tasks: 1 }],
  policy: { kind: "mixture" },
  numGenerations: 4,
  promptsPerUpdate: 4,
};

/** Answers: two violations of one template, an unreadable answer, and one that the server takes for too long. */
const COMPLETIONS = [
  "<think></think><answer>[0, 1, 1]</answer>",
  "<think></think><answer>[0, 2, 2]</answer>",
  "I do not know",
  "x".repeat(5000),
];

let server: TestServer;
beforeAll(async () => {
  server = await openServer({ keepSamples: "1", maxCompletionBytes: "4096" });
});
afterAll(() => server[Symbol.asyncDispose]());

/** Answers the next update batches of a run. */
async function train(client: GradusClient, runId: string, batches: number): Promise<void> {
  for (let batch = 0; batch < batches; batch++) {
    const { tasks } = await client.run(runId).nextBatch();
    await client.batchStep(tasks.map((task) => ({ task, completions: COMPLETIONS })));
  }
}

async function numberFound(samples: AsyncIterable<unknown>): Promise<bigint> {
  return BigInt((await Array.fromAsync(samples)).length);
}

const numbersOf = ({ total, arms }: GetViolationsResponse) => ({
  samples: total?.sums?.samples,
  arms: arms.map(({ armId, sums }) => [armId, sums?.samples]),
});

test("the violations of a run are counted by template, with what else is wrong", async () => {
  const run = server.client.run("wrong");
  await run.create(choice);
  await train(server.client, "wrong", 3);
  const { tasks } = await run.nextEvaluation({ armId: "held-out", round: 1 });
  await server.client.batchStep(tasks.map((task) => ({ task, completions: COMPLETIONS })));

  const found = await run.violations();
  const { total, arms, counted, stretchTasks } = found;
  expect(counted).toBe(true);
  expect(stretchTasks).toBe(1n);
  // Samples of the evaluation arm are not counted.
  expect(total?.sums).toMatchObject({ samples: 48n, scored: 36n, solved: 0n, truncated: 0n });
  expect(total?.missingRewards).toEqual([expect.objectContaining({ reason: NoRewardReason.TOO_LARGE, count: 12n })]);
  expect(total?.rewards.reduce((sum, { sums }) => sum + (sums?.scored ?? 0n), 0n)).toBe(36n);
  expect(arms.map(({ armId }) => armId).sort()).toEqual(["sums", "tours"]);
  const tours = arms.find(({ armId }) => armId === "tours");
  expect(tours?.violations[0]).toMatchObject({
    template: "city … is visited twice",
    verdict: Verdict.INFEASIBLE,
    count: (tours?.sums?.scored ?? 0n) - (tours?.violations[1]?.count ?? 0n),
    search: "is visited twice",
    stretches: [],
  });
  expect(tours?.stretches).toEqual([]);

  const { arms: whole, ...full } = await run.violations("tours");
  expect(full.total).toEqual(total);
  expect(whole).toHaveLength(1);
  const [first] = whole[0]?.violations ?? [];
  expect(first?.stretches.reduce((sum, count) => sum + count, 0n)).toBe(first?.count);
  expect(first?.stretches).toHaveLength(whole[0]?.stretches.length ?? 0);
  // The words find the samples that were counted.
  expect(await numberFound(run.samples({ armId: "tours", violation: first?.search ?? "" }))).toBe(first?.count);

  const unused = await run.violations("unused");
  expect(numbersOf(unused).arms).toEqual([["unused", 0n]]);
  await run.deleteSamples();
  expect(numbersOf(await run.violations())).toEqual({ samples: 0n, arms: [] });
});

test("each template finds the samples that it counts, also if another one has its words", async () => {
  const run = server.client.run("templates");
  await run.create({ ...choice, arms: [{ id: "sums", environment: "math/arithmetic" }], evaluationArms: [] });
  for (let batch = 0; batch < 2; batch++) {
    const { tasks } = await run.nextBatch();
    // The violation of the first is a part of the second's, which also names a remedy.
    const cut = { sampleIndex: 0, text: "no thinking", finishReason: "length" } as const;
    const completions = [cut, "no thinking", "<think>", "<think></think><answer>one</answer>"];
    await server.client.batchStep(tasks.map((task) => ({ task, completions })));
  }
  const { violations } = (await run.violations()).total!;
  let isAmbiguous = false;
  for (const { template, verdict, count, search } of violations) {
    const verdicts = [Verdict[verdict].toLowerCase() as "malformed" | "infeasible" | "graded"];
    expect(await numberFound(run.samples({ verdicts, violationTemplate: template })), template).toBe(count);
    isAmbiguous ||= (await numberFound(run.samples({ verdicts, violation: search }))) > count;
  }
  expect(isAmbiguous).toBe(true);
  const [{ template = "" } = {}] = violations;
  expect(await numberFound(run.samples({ violationTemplate: template, noReward: true }))).toBe(0n);
  expect(await numberFound(run.samples({ violationTemplate: template.slice(1) }))).toBe(0n);
  await expect(numberFound(run.samples({ violationTemplate: "x".repeat(257) }))).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringMatching(/filter\.violation_template.*256/) as string,
  });
});

test("a completion that is sent twice is counted once, and counts outlive an import", async () => {
  const run = server.client.run("twice");
  await run.create(choice);
  const { tasks } = await run.nextBatch();
  const { state } = await run.export();
  const groups = tasks.map((task) => ({ task, completions: COMPLETIONS }));
  await server.client.batchStep(groups);
  await server.client.batchStep(groups);
  expect(numbersOf(await run.violations()).samples).toBe(16n);
  await run.import(state);
  expect(numbersOf(await run.violations()).samples).toBe(16n);
});

test("a run that is deleted and made again begins without counts", async () => {
  const run = server.client.run("again");
  await run.create(choice);
  await train(server.client, "again", 1);
  expect(numbersOf(await run.violations()).samples).toBe(16n);
  await run.delete();
  await run.create(choice);
  expect(numbersOf(await run.violations()).samples).toBe(0n);
});

test("a run or an arm that there is not is named, with what was meant", async () => {
  await expect(server.client.run("nonesuch").violations()).rejects.toMatchObject({ code: "NOT_FOUND" });
  await server.client.run("known").create(choice);
  await expect(server.client.run("known").violations("tuors")).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringMatching(/arm_id.*'tuors' is not an arm of the run.*did you mean 'tours'/) as string,
  });
  await expect(server.client.run("known").violations("x".repeat(65))).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringContaining("arm_id") as string,
  });
});

test("a server that keeps no samples counts none, and says so", async () => {
  await using other = await openServer();
  await other.client.run("none").create(choice);
  await train(other.client, "none", 1);
  const found = await other.client.run("none").violations();
  expect([found.counted, numbersOf(found)]).toEqual([false, { samples: 0n, arms: [] }]);
});

test("servers of one store return the counts of both, also after one is stopped", async () => {
  await using one = await openServer({ keepSamples: "1", maxCompletionBytes: "4096" });
  {
    await using other = await openServer({ keepSamples: "1", maxCompletionBytes: "4096", dataDir: one.dataDir });
    await one.client.run("shared").create(choice);
    for (let turn = 0; turn < 3; turn++) {
      await train(one.client, "shared", 1);
      const { tasks } = await other.client.run("shared").nextBatch();
      await other.client.batchStep(tasks.map((task) => ({ task, completions: COMPLETIONS })));
    }
    await other.client.run("shared").violations();
    expect(numbersOf(await one.client.run("shared").violations()).samples).toBe(96n);
  }
  expect(numbersOf(await one.client.run("shared").violations()).samples).toBe(96n);
});
