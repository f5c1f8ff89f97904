/** The settings of a trainer: a run keeps them, refuses values outside of their ranges, and makes no use of them. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openServer, type TestServer } from "../../support/in-process.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openServer({ store: "memory" });
});
afterAll(() => server[Symbol.asyncDispose]());

const file = (trainer: string): string => `arms: [{ id: a, spec: { environment: countdown, level: T0 } }]
policy: { mixture: {} }
num_generations: 2
prompts_per_update: 2
trainer:
  ${trainer.split("; ").join("\n  ")}
`;

const bare = {
  arms: [{ id: "a", environment: "countdown", level: "T0" }],
  policy: { kind: "mixture" },
  numGenerations: 2,
  promptsPerUpdate: 2,
} as const;

test("a run file's trainer block comes back from CheckRun and from GetRun", async () => {
  const { client } = server;
  const { config, problems } = await client.checkRun({
    file: file("learning_rate: 4e-7; model: some/model; top_k: 0"),
  });
  expect(problems).toEqual([]);
  expect(config?.trainer).toMatchObject({ learningRate: 4e-7, model: "some/model", topK: 0 });
  expect(config?.trainer?.clip).toBeUndefined();
  await client.run("kept").create(config ?? bare);
  expect((await client.run("kept").get()).config?.trainer).toEqual(config?.trainer);
});

test.each([
  ["learning_rat: 1", "trainer.learning_rat", /is not a known field; did you mean 'learning_rate'/],
  ["learning_rate: 2", "trainer.learning_rate", /must be from 1e-12 to 1/],
  ["learning_rate: 0", "trainer.learning_rate", /must be from/],
  ["learning_rate: fast", "trainer.learning_rate", /wants a number/],
  ["top_p: 1.5", "trainer.top_p", /must be from 0.000001 to 1/],
  ["evaluation_top_p: 0", "trainer.evaluation_top_p", /must be from/],
  ["top_k: -1", "trainer.top_k", /must be from 0 to/],
  ["temperature: -0.1", "trainer.temperature", /must be from 0 to 100/],
  ["judge_temperature: 101", "trainer.judge_temperature", /must be from 0 to 100/],
  ["clip: -1", "trainer.clip", /must be from 0 to 100/],
  ["entropy_coefficient: 101", "trainer.entropy_coefficient", /must be from 0 to 100/],
  ["contrast_beta: -1", "trainer.contrast_beta", /must be from 0 to 100/],
  ["completion_length_max: 0", "trainer.completion_length_max", /must be from 1 to 16777216/],
  ["batch_size: 0", "trainer.batch_size", /must be from 1 to/],
  ["epochs: 1.5", "trainer.epochs", /wants a whole number/],
  ["importance_level: word", "trainer.importance_level", /must be token or sequence/],
  [`model: ${"m".repeat(257)}`, "trainer.model", /must have at most 256 bytes/],
])("%s is refused, with its line", async (trainer, field, message) => {
  const { problems } = await server.client.checkRun({ file: file(trainer) });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatchObject({ field, line: 6 });
  expect(problems[0]?.message).toMatch(message);
});

test("a run that exists refuses other settings, and takes none for no opinion", async () => {
  const run = server.client.run("again");
  await run.create({ ...bare, trainer: { learningRate: 1e-6 } });
  await run.create({ ...bare, trainer: { learningRate: 1e-6 } });
  await run.create(bare);
  await expect(run.create({ ...bare, trainer: { learningRate: 2e-6 } })).rejects.toThrow(/trainer\.learning_rate/);
  const without = server.client.run("without");
  await without.create(bare);
  await expect(without.create({ ...bare, trainer: { topP: 1 } })).rejects.toThrow(/trainer\.top_p/);
});

test("what is drawn does not depend on them", async () => {
  const [one, other] = [server.client.run("drawn-1"), server.client.run("drawn-2")];
  await one.create({ ...bare, seed: 5 });
  await other.create({ ...bare, seed: 5, trainer: { temperature: 0.5 } });
  const hashes = async (run: typeof one) => (await run.nextBatch()).tasks.map(({ instanceHash }) => instanceHash);
  expect(await hashes(one)).toEqual(await hashes(other));
});
