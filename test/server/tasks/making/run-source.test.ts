/** Tests of the journal's form of task specs and keys: it is short, and reading it back gives the same values. */
import { describe, expect, test } from "vitest";
import { FormatError, type Json } from "../../../../server/curriculum/json.ts";
import { type Arm, placeOf } from "../../../../server/curriculum/types.ts";
import type { Maker } from "../../../../server/tasks/making/make.ts";
import { createRunSource } from "../../../../server/tasks/making/run-source.ts";
import type { TaskSpec } from "../../../../server/tasks/spec.ts";
import type { MadeTask, MakeResult } from "../../../../server/tasks/task.ts";
import type { TaskKey } from "../../../../envs/origin.ts";

const spec: TaskSpec = {
  environment: "np/tsp",
  version: 1,
  level: "easy",
  parameters: { cities_min: 5 },
  split: "train",
  source: "synthetic",
  pool: "",
  answerFormat: "boxed",
  thinking: "required",
  rewardScheme: "quality",
  rewardParameters: {},
};
const arm: Arm<TaskSpec> = {
  id: "a",
  spec,
  source: "synthetic",
  weight: 1,
  hard: false,
  rewardRange: { min: 0, max: 1 },
  resource: undefined,
  removed: false,
};
const row: Arm<TaskSpec> = { ...arm, spec: { ...spec, source: "real", pool: "rows" }, source: "real" };
const taught: Arm<TaskSpec> = { ...arm, spec: { ...spec, source: "teacher" }, source: "teacher" };

function makerOf(result: MakeResult, kept: MadeTask[] = []): Maker {
  return {
    make: async (_spec, seeds) => seeds.map(() => result),
    makeRow: () => result,
    fromTeacher: async (_spec, { places }) => places.map(() => result),
    draw: async () => ({ kind: "undrawn", why: "nothing is shown here" }),
    reference: async () => ({ kind: "reference", answer: undefined }),
    keep: (task) => kept.push(task),
    again: () => {
      throw new Error("nothing is shown here");
    },
  };
}

const { specs, keys } = createRunSource(makerOf({ kind: "cancelled" }));
const plain = (json: Json): Json => JSON.parse(JSON.stringify(json)) as Json;

test("a specification is read back with all that it may have", () => {
  const whole: Required<TaskSpec> = {
    ...spec,
    digest: "0123456789abcdef",
    calls: 4,
    tools: ["calculator"],
    detail: "reason",
    levels: [{ cities_min: 5 }, { cities_min: 6 }],
  };
  expect(specs.decode(plain(specs.encode(whole)))).toEqual(whole);
});

describe("keys", () => {
  const { parameters } = spec;
  const place = placeOf(arm, 3, 7n);
  const generated: TaskKey = {
    origin: { kind: "generated", parameters, seed: place.seed, attempt: 2 },
    hash: "0123456789abcdef",
  };

  test.each<[string, TaskKey]>([
    ["without a baseline", generated],
    ["with a proven one", { ...generated, baseline: { value: 8, bound: 8, proven: true } }],
    ["with a bound", { ...generated, baseline: { value: 8, bound: 7.5, proven: false } }],
  ])("of generated tasks %s", (_name, key) => {
    expect(keys.decode(plain(keys.encode(key)), place)).toEqual(key);
    expect(JSON.stringify(keys.encode(key)).length).toBeLessThan(30);
  });

  test("of rows", () => {
    const hash = "fedcba9876543210";
    const key: TaskKey = { origin: { kind: "row", pool: "rows", row: 12, contentHash: hash }, hash };
    expect(keys.decode(plain(keys.encode(key)), placeOf(row, 0, 7n))).toEqual(key);
  });

  test("of a teacher's tasks, whole", () => {
    const instance = Uint8Array.from([50, 52, 58, 49, 44, 255]);
    const key: TaskKey = { origin: { kind: "inline", instance }, hash: "fedcba9876543210" };
    expect(keys.decode(plain(keys.encode(key)), placeOf(taught, 0, 7n))).toEqual(key);
  });

  test("that are none are refused", () => {
    for (const json of [null, {}, [], ["AAAA"], [1, 2], ["AAAA", "1"], ["AAAA", 1, "x"]])
      expect(() => keys.decode(json, place)).toThrow(FormatError);
  });
});

describe("specs", () => {
  test("go through JSON unchanged", () => {
    for (const { spec: of } of [arm, row, taught]) expect(specs.decode(plain(specs.encode(of)))).toEqual(of);
  });

  test("that are none are refused", () => {
    const { answerFormat: _format, ...without } = spec;
    for (const json of [null, {}, without, { ...spec, split: "test" }, { ...spec, parameters: { a: "1" } }])
      expect(() => specs.decode(json)).toThrow(FormatError);
  });
});

test.each<[MakeResult, object]>([
  [
    { kind: "exhausted", message: "no" },
    { kind: "none", message: "no" },
  ],
  [{ kind: "cancelled" }, { kind: "cancelled" }],
  [
    { kind: "timeout", message: "slow" },
    { kind: "unavailable", message: "slow", retryDelayMs: 1000 },
  ],
  [
    { kind: "unavailable", message: "asleep", retryDelayMs: 7 },
    { kind: "unavailable", message: "asleep", retryDelayMs: 7 },
  ],
  [
    { kind: "overloaded", retryDelayMs: 5 },
    { kind: "unavailable", message: "too many tasks wait to be made on this server: try again later", retryDelayMs: 5 },
  ],
])("what the workers answer is passed on: %o", async (result, made) => {
  const source = createRunSource(makerOf(result));
  const { signal } = new AbortController();
  for (const of of [arm, row, taught]) expect(await source.make([placeOf(of, 0, 7n)], signal, "run")).toEqual([made]);
});

test("what was made is kept, to be shown when its turn comes", async () => {
  const kept: MadeTask[] = [];
  const key: TaskKey = { origin: { kind: "generated", parameters: {}, seed: 1n, attempt: 0 }, hash: "0".repeat(16) };
  const task: MadeTask = { key, prompt: [], metadata: {} };
  const source = createRunSource(makerOf({ kind: "made", task }, kept));
  const made = await source.make([placeOf(arm, 0, 7n)], new AbortController().signal, "run");
  expect(made).toEqual([{ kind: "task", key }]);
  expect(kept).toEqual([task]);
});
