/** Tests of providers on other machines that break rules: no lie and no silence of theirs earns a reward. */
import { expect, onTestFinished, test } from "vitest";
import type { Outcome } from "../../../../clients/ts/src/index.ts";
import { wrapAnswer } from "../../../../envs/answers/wording.ts";
import type { VerifyResponse } from "../../../../proto/gen/gradus/v1/provider_pb.js";
import { openServer } from "../../../support/in-process.ts";
import { type Behaviour, described, made, startProvider, verified } from "../../../support/mounted/provider.ts";

/** Starts a server with a provider that behaves as the test says. */
async function mounted(first: Behaviour = {}) {
  let behaviour = first;
  const provider = await startProvider(() => behaviour);
  onTestFinished(() => provider.stop());
  const server = await openServer({ store: "memory", workers: "1", mount: [`far=${provider.address}`] });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const { client } = server;
  return {
    client,
    provider,
    behave: (next: Behaviour) => void (behaviour = next),
    task: (seed = 0) => client.reset({ environment: "far/number", level: "all", seed }),
  };
}

function withInfo(entries: number, text: string): VerifyResponse {
  const right = verified(0, true);
  if (right.result.case !== "facts") throw new Error("it is right");
  const info = Object.fromEntries(Array.from({ length: entries }, (_, i) => [`${i}`, text]));
  return { ...right, result: { case: "facts", value: { ...right.result.value, info } } };
}

const numberOf = (task: { readonly prompt: readonly { readonly content: string }[] }): string =>
  /Write (\d+)\./.exec(task.prompt[0]?.content ?? "")?.[1] ?? "";
const answered = (text: string): string => wrapAnswer(text, "think_answer");
const detailOf = (outcome: Outcome): string =>
  outcome.kind === "unscored" ? outcome.detail : `scored ${outcome.reward}`;

test("a provider's tasks are scored, each answer of a group in its place", async () => {
  const { client, task } = await mounted();
  const one = await task();
  const texts = [numberOf(one), "0", numberOf(one)];
  const completions = texts.map((text, sampleIndex) => ({ sampleIndex, text: answered(text) }));
  const [group] = await client.batchStep([{ task: one, completions }]);
  expect(group?.outcomes).toMatchObject([{ reward: 1 }, { reward: 0.1 }, { reward: 1 }]);
});

test.each<[what: string, lie: Behaviour, words: RegExp]>([
  ["an answer for an index not asked", { verify: (_, call) => void call.write(verified(7, true)) }, /index 7/],
  [
    "no answer at all",
    { verify: (_, call) => void call.end() },
    /VerifyResponse\.index must be .*; got no response for a requested item/,
  ],
  [
    "a stream that breaks",
    { verify: (_, call) => void call.emit("error", { code: 13, details: "broken" }) },
    /INTERNAL/,
  ],
  [
    "a verdict that is none",
    { verify: (_, call) => void call.write({ ...verified(0, true), result: { case: undefined } }) },
    /VerifyResponse\.result must be set/,
  ],
  [
    "info of 200,000 entries",
    { verify: (_, call) => void call.write(withInfo(200_000, "x")) },
    /a response of Verify has \d+ bytes, and the limit is 524288/,
  ],
  [
    "info of 40 MB",
    { verify: (_, call) => void call.write(withInfo(1, "x".repeat(40 * 1024 ** 2))) },
    /a response of Verify has \d+ bytes, and the limit is 524288/,
  ],
  [
    "more info than the contract allows",
    { verify: (_, call) => void call.write(withInfo(17, "x")) },
    /ProvidedFacts\.info must have at most 16 entries; got 17/,
  ],
  [
    "longer info than the contract allows",
    { verify: (_, call) => void call.write(withInfo(16, "é".repeat(1001))) },
    /ProvidedFacts\.info must have at most 1000 characters/,
  ],
])("%s is no reward", async (_, lie, words) => {
  const { client, task, behave } = await mounted();
  const one = await task();
  behave(lie);
  expect(detailOf(await client.step(one, answered("1")))).toMatch(words);
  behave({});
  expect(await client.step(one, answered(numberOf(one)))).toMatchObject({ kind: "scored", reward: 1 });
});

test("two answers for one index end the call: the first stands, and what comes after it is not believed", async () => {
  const { client, task, behave } = await mounted();
  const one = await task();
  behave({
    verify: (_, call) => {
      for (const isRight of [false, true]) call.write(verified(0, isRight));
    },
  });
  const completions = ["1", "2"].map((text, sampleIndex) => ({ sampleIndex, text: answered(text) }));
  const [group] = await client.batchStep([{ task: one, completions }]);
  // If both went in one call, the second has no answer at all; the second answer for the first is never believed.
  for (const outcome of group?.outcomes ?? []) expect(detailOf(outcome)).toMatch(/^scored 0\.1$|index 0 twice/);
  expect(group?.outcomes).toHaveLength(2);
});

test.each<[what: string, behaviour: Behaviour, words: RegExp]>([
  ["of another revision", { describe: () => ({ protocol: 2 }) }, /DescribeResponse\.protocol must be 1.*; got 2/],
  [
    "without environments",
    { describe: () => ({ environments: [] }) },
    /DescribeResponse\.environments must have 1 to 1024 environments; got 0/,
  ],
  [
    "that takes nonsense for right",
    {
      verify: ({ answers }, call) => {
        for (const { index } of answers) call.write(verified(index, true));
        call.end();
      },
    },
    /ProvidedFacts\.verdict must not accept a meaningless answer as right/,
  ],
  [
    "that gives two instances for a seed",
    {
      generate: (() => {
        let count = 0;
        return ({ seeds }, call) => {
          for (const index of seeds.keys()) call.write(made(index, String(count++)));
          call.end();
        };
      })(),
    },
    /EnvironmentProvider\.Generate must make equal instances .*; got a different instance for seed 0/,
  ],
  [
    "with a level of no name",
    { describe: () => ({ environments: described().environments.map((each) => ({ ...each, levels: [] })) }) },
    /ProvidedEnvironment\.levels must have 1 to 1024 levels; got 0/,
  ],
])("a provider %s is refused in words", async (_, behaviour, words) => {
  await expect(mounted(behaviour)).rejects.toThrow(words);
});

test("a provider that is gone holds up nobody else, and its answers wait without a reward", async () => {
  const { client, task, provider } = await mounted();
  const one = await task();
  provider.stop();
  const [far, near] = await Promise.all([
    client.step(one, answered("1")),
    client.reset({ environment: "countdown", level: "T0" }),
  ]);
  expect(far).toMatchObject({ kind: "unscored", reason: "resource_unavailable" });
  expect(near.environment).toBe("countdown");
});
