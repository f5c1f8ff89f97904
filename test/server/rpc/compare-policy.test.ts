/** ComparePolicy on a real server: how another policy would have drawn. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ComparedDraw, type PolicyChoice, type RunHandle } from "../../../clients/ts/src/public.ts";
import { MALFORMED, right } from "../../e2e/services/answers.ts";
import { openServer, type TestServer } from "../../support/in-process.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const arms = ["T0", "T1", "T2"].map((level) => ({ id: level, environment: "countdown", level }));

/** Right answers of four, by arm. */
const rightOf: Readonly<Record<string, number>> = { T0: 4, T1: 2, T3: 1 };

/** Draws update batches and answers them. */
async function drive(run: RunHandle, batches: number): Promise<void> {
  for (let batch = 0; batch < batches; batch++) {
    const { tasks } = await run.nextBatch();
    await server.client.batchStep(
      tasks.map((task) => ({
        task,
        completions: Array.from({ length: 4 }, (_, i) => (i < (rightOf[task.armId] ?? 0) ? right(task) : MALFORMED)),
      })),
    );
  }
}

async function made(runId: string, policy: PolicyChoice, feedbackLag = 1): Promise<RunHandle> {
  const run = server.client.run(runId);
  await run.create({ arms, policy, numGenerations: 4, promptsPerUpdate: 6, feedbackLag, seed: 7 });
  return run;
}

const compared = (run: RunHandle, policy: PolicyChoice): Promise<ComparedDraw[]> =>
  Array.fromAsync(server.client.comparePolicy(run.runId, policy));

test.each<[string, PolicyChoice, number]>([
  ["frontier", { kind: "frontier" }, 1],
  ["frontier-late", { kind: "frontier" }, 3],
  ["bandit", { kind: "bandit" }, 1],
  ["competence", { kind: "competence", tiers: [{ T0: 1 }, { T1: 1 }, { T2: 1 }], window: 4 }, 0],
])("the run's own policy gives the probabilities that the run recorded: %s", async (name, policy, lag) => {
  const run = await made(name, policy, lag);
  await drive(run, 4);
  await run.setWeights({ T2: 0.5 });
  await drive(run, 3);
  await run.updateShape({ addArms: [{ id: "T3", environment: "countdown", level: "T3" }] });
  await drive(run, 3);
  const before = (await run.get()).state;
  const draws = await compared(run, policy);
  expect(draws.map(({ updateBatch }) => updateBatch)).toEqual(Array.from({ length: 10 }, (_, i) => BigInt(i)));
  for (const { recorded, probabilities } of draws) expect(probabilities).toEqual(recorded);
  expect(new Set(draws.map(({ recorded }) => recorded.join())).size).toBeGreaterThan(2);
  expect((await run.get()).state).toEqual(before);
});

test("a policy of fixed weights gives these, whatever the run has recorded", async () => {
  const run = await made("fixed", { kind: "frontier" });
  await drive(run, 3);
  const draws = await compared(run, { kind: "mixture" });
  expect(draws.map(({ probabilities }) => probabilities)).toEqual(new Array(3).fill([1 / 3, 1 / 3, 1 / 3]));
});

test("a policy learns from a run that learned nothing from its groups", async () => {
  const run = await made("unlearned", { kind: "mixture" }, 0);
  await drive(run, 8);
  const draws = await compared(run, { kind: "frontier" });
  const [first, last] = [draws[0]!.probabilities, draws.at(-1)!.probabilities];
  expect(first).toEqual([1 / 3, 1 / 3, 1 / 3]);
  // Half of the answers to T1 are right, all or none of those to the others.
  expect(last[1]).toBeGreaterThan(last[0]!);
  expect(last[1]).toBeGreaterThan(last[2]!);
});

test("a policy is refused that does not fit the run, and a run that is not there", async () => {
  const run = await made("refusing", { kind: "mixture" });
  await drive(run, 1);
  const staged = compared(run, { kind: "staged", stages: [{ weights: { T9: 1 }, tasks: 1 }] });
  await expect(staged).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  const reading = compared(run, { kind: "frontier", measure: "improvement" });
  const why = expect.stringContaining('reads "improvement" of each score') as string;
  await expect(reading).rejects.toMatchObject({ code: "INVALID_ARGUMENT", message: why });
  await expect(compared(server.client.run("nobody"), { kind: "mixture" })).rejects.toMatchObject({ code: "NOT_FOUND" });
});
