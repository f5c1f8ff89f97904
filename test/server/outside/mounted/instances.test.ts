/** Tests of instances of mounted environments: in ids, of a split, and the same instance again or none at all. */
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { mountedTaskKey, mountedPlaceOf } from "../../../../envs/mounted-tasks.ts";
import { splitOf } from "../../../../envs/splits.ts";
import { readDescribed } from "../../../../server/outside/mounted/read-description.ts";
import { mountedEnvironment } from "../../../../server/outside/mounted/mounted-environment.ts";
import { carried, uncarried, wholeOf } from "../../../../server/outside/mounted/mounted-instance.ts";
import type { GenerateResult, Provider } from "../../../../server/outside/mounted/provider.ts";
import { described, made } from "../../../support/mounted/provider.ts";

const context = { signal: new AbortController().signal, deadlineMs: Infinity };
const tasks = { parameters: { level: 0 }, split: "eval", seeds: [1n, 2n, 3n] } as const;

/** An environment whose provider gives for a seed what `numberOf` says, and takes answers of so many bytes; 0: as usual. */
function environmentOf(numberOf: (seed: bigint) => string, answerBytes = 0) {
  const broken: string[] = [];
  const provider = {
    generate: async (_, { seeds }) =>
      seeds.map((seed, i): GenerateResult => {
        const { result } = made(i, numberOf(seed));
        if (result.case !== "made") throw new Error("it makes something");
        return { kind: "made", instance: result.value };
      }),
  } as Pick<Provider, "generate"> as Provider;
  const told = described();
  for (const { limits } of told.environments) if (limits !== undefined) limits.answerBytes = answerBytes;
  const read = readDescribed(told);
  if (read.kind === "invalid") throw new Error(read.why);
  const [first] = read.environments;
  if (first === undefined) throw new Error("it has an environment");
  const onBroken = (_: string, level: string): void => void broken.push(level);
  const lawful = async () => ({ kind: "lawful" }) as const;
  const found = () => undefined;
  const environment = mountedEnvironment(first, { mount: "far", provider, concurrency: 1, lawful, found, onBroken });
  if (environment.asked === undefined) throw new Error("it is asked");
  return { environment, asked: environment.asked, broken };
}

test("bytes come back from an id as they were, and those that are too many do not go", () => {
  for (const bytes of [Buffer.from("a"), randomBytes(256), Buffer.alloc(100_000, "word ")])
    expect(Buffer.from(uncarried(carried(bytes) ?? Buffer.alloc(0)))).toEqual(bytes);
  expect(carried(randomBytes(4000))).toBeUndefined();
});

test.each([
  [
    "maximize",
    10,
    9,
    "ProvidedInstance.baseline_bound must be finite and no worse than the baseline; got 9 for a baseline of 10",
  ],
  [
    "minimize",
    10,
    11,
    "ProvidedInstance.baseline_bound must be finite and no worse than the baseline; got 11 for a baseline of 10",
  ],
  ["maximize", 10, 11, { baseline: { value: 10, bound: 11, proven: false } }],
  ["minimize", -10, undefined, { baseline: { value: -10, bound: -10, proven: true } }],
] as const)("what is to %s with a baseline of %d and a bound of %s", (goal, baseline, baselineBound, expected) => {
  const { result } = made(0, "7");
  if (result.case !== "made") throw new Error("it makes something");
  const given = { ...result.value, baseline, ...(baselineBound !== undefined && { baselineBound }) };
  const whole = wholeOf({ goal }, given);
  if (typeof expected === "string") expect(whole).toBe(expected);
  else expect(whole).toMatchObject(expected);
});

test("each seed has an instance of the split, the same whenever it is asked for", async () => {
  const { environment, asked } = environmentOf(String);
  const [first, second] = [await asked.make(tasks, context), await environmentOf(String).asked.make(tasks, context)];
  expect(first).toEqual(second);
  for (const result of first) expect(result.kind === "made" && splitOf(environment, result.instance)).toBe("eval");
});

test("an instance that is another when it is made again is none, and its level is not drawn from any more", async () => {
  const here = environmentOf(String);
  const asking = { environment: here.environment, asked: here.asked };
  const [result] = await here.asked.make(tasks, context);
  if (result?.kind !== "made") throw new Error("it makes something");
  const place = mountedPlaceOf(mountedTaskKey(asking, { parameters: tasks.parameters, seed: 1n }, result));
  if (place === undefined) throw new Error("it was asked for");
  const same = await environmentOf(String).asked.again(place);
  expect(same.kind === "made" && same.instance.whole).toEqual(result.instance.whole);
  const other = environmentOf((seed) => String(seed + 1n));
  expect(await other.asked.again(place)).toMatchObject({
    kind: "exhausted",
    message: expect.stringMatching(/makes another instance for a seed than before/) as string,
  });
  expect(other.broken).toEqual(["all"]);
  expect(await other.asked.make(tasks, context)).toMatchObject([
    { kind: "exhausted" },
    { kind: "exhausted" },
    { kind: "exhausted" },
  ]);
});

test("an answer has the bytes that its environment says, of UTF-8, and no more", async () => {
  const { environment, asked } = environmentOf(String, 6);
  const [result] = await asked.make(tasks, context);
  if (result?.kind !== "made") throw new Error("it makes something");
  expect(environment.parse("日本", result.instance)).toMatchObject({ kind: "answer" });
  expect(environment.parse("日本!", result.instance)).toEqual({
    kind: "malformed",
    reason: "the answer has 7 bytes of UTF-8, and the limit is 6",
  });
});
