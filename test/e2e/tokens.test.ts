/** Tokens of completions over the wire: in arms, in the history, and with the samples that a run keeps. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { lengthAxis, lengthFigure, type PolicyTurn } from "../../clients/ts/src/index.ts";
import { openServer, type TestServer } from "../support/in-process.ts";

let server: TestServer;
beforeAll(async () => void (server = await openServer({ store: "memory", keepSamples: "1" })));
afterAll(() => server[Symbol.asyncDispose]());

const arm = { id: "T0", environment: "countdown", level: "T0" } as const;

async function started(runId: string, arms: readonly object[] = [arm]) {
  const run = server.client.run(runId);
  const policy = { kind: "mixture" } as const;
  await run.create({ arms: arms as readonly (typeof arm)[], policy, numGenerations: 2, promptsPerUpdate: 2 });
  return run;
}

test("tokens and characters are summed by arm and by update batch, and kept with samples", async () => {
  const run = await started("tokens");
  const { tasks } = await run.nextBatch({ cursor: 0n });
  const [first, second] = tasks as [(typeof tasks)[0], (typeof tasks)[0]];
  await server.client.batchStep([
    { task: first, completions: [{ sampleIndex: 0, text: "long", tokens: 12 }, "four"] },
    { task: second, completions: [{ sampleIndex: 0, text: "", tokens: 0 }] },
  ]);
  await server.client.step(second, "three", { sampleIndex: 1, tokens: 30 });
  const lengths = { tokens: 42n, tokenSamples: 3n, characters: 4n, characterSamples: 1n };
  const { state } = await run.get();
  expect(state?.arms[0]?.lengths).toMatchObject(lengths);
  expect(lengthFigure(state?.arms[0]?.lengths)).toEqual({ unit: "tokens", total: 42, mean: 14, share: 0.75 });
  const history = await run.history();
  const batch = history[0]?.kind;
  expect(batch?.case === "batch" && batch.value.lengths).toMatchObject(lengths);
  expect(lengthAxis(history)?.at(1n)).toBe(21);
  const kept: (number | undefined)[] = [];
  for await (const { cursor, sampleIndex, tokens } of run.samples({})) kept[2 * Number(cursor) + sampleIndex] = tokens;
  expect(kept).toEqual([12, undefined, 0, 30]);
});

test("a number of tokens that no completion has is refused, with the field", async () => {
  const run = await started("too-many");
  const [task] = (await run.nextBatch({ cursor: 0n })).tasks;
  if (task === undefined) throw new Error("no task");
  const completions = ["one", { sampleIndex: 1, text: "two", tokens: 2 ** 24 + 1 }];
  await expect(server.client.batchStep([{ task, completions }])).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringContaining(
      "groups[0].completions[1].tokens: must be from 0 to 16777216; got 16777217",
    ) as string,
  });
  expect((await run.get()).state?.samplesRecorded).toBe(0n);
});

const game = { id: "game", environment: "games/mastermind", level: "easy" };

/** Plays a sample with two calls of texts, and returns the run's lengths of its arm. */
async function playedLengths(runId: string, turns: readonly PolicyTurn[], transcript: boolean) {
  const run = await started(runId, [game]);
  const { tasks } = await run.nextBatch({ cursor: 0n });
  for (const task of tasks)
    await server.client.rollout(
      task,
      ({ messages }) => {
        const calls = messages.filter(({ role }) => role === "assistant").length;
        return Promise.resolve(turns[calls] ?? { text: "stop", end: true, finishReason: "length" });
      },
      { samples: [0, 1], transcript },
    );
  return (await run.get()).state?.arms[0]?.lengths;
}

const guess = "<answer>[0, 1, 2]</answer>";

test("an episode counts the tokens of all its completions, if all are known", async () => {
  const last = { text: "out", finishReason: "length" } as const;
  const turns = [
    { text: guess, tokens: 10 },
    { ...last, tokens: 3 },
  ];
  expect(await playedLengths("episodes", turns, true)).toMatchObject({ tokens: 52n, tokenSamples: 4n });
  const unknown = [{ text: guess }, { ...last, tokens: 3 }];
  expect(await playedLengths("unknown", unknown, true)).toMatchObject({
    tokenSamples: 0n,
    characters: BigInt(4 * (guess.length + 3)),
  });
  expect(await playedLengths("alone", unknown, false)).toMatchObject({ characters: 12n, characterSamples: 4n });
});
