/** How specs and keys of tasks are written in journals: short, and read back as they were. */
import { describe, expect, test } from "vitest";
import { placeOf } from "../../../server/curriculum/codec.ts";
import { FormatError, type Json } from "../../../server/curriculum/json.ts";
import type { Arm } from "../../../server/curriculum/types.ts";
import type { Issuer, IssueResult } from "../../../server/tasks/make.ts";
import { createRunSource } from "../../../server/tasks/run-source.ts";
import type { TaskFamily } from "../../../server/tasks/spec.ts";
import type { Draft } from "../../../server/tasks/workers.ts";

const spec: TaskFamily = {
  ...{ environment: "np/tsp", version: 1, level: "easy", parameters: { cities_min: 5 }, split: "train" },
  ...{
    source: "synthetic",
    pool: "",
    answerFormat: "boxed",
    thinking: "required",
    rewardScheme: "quality",
    rewardParameters: {},
  },
};
const arm: Arm<TaskFamily> = {
  ...{ id: "a", spec, source: "synthetic", weight: 1, hard: false, rewardRange: { min: 0, max: 1 } },
  resource: undefined,
};
const row: Arm<TaskFamily> = { ...arm, spec: { ...spec, source: "real", pool: "rows" }, source: "real" };

function issuerOf(result: IssueResult): Issuer {
  return { issue: async (_family, seeds) => seeds.map(() => result), issueOrdinal: async () => result };
}

const { specs, keys } = createRunSource(issuerOf({ kind: "cancelled" }));
const plain = (json: Json): Json => JSON.parse(JSON.stringify(json)) as Json;

describe("keys", () => {
  const { parameters } = spec;
  const place = placeOf(arm, 3, 7n);
  const generated: Draft = {
    origin: { kind: "generated", parameters, seed: place.seed, attempt: 2 },
    hash: "0123456789abcdef",
  };

  test.each<[string, Draft]>([
    ["without a baseline", generated],
    ["with a proven one", { ...generated, baseline: { value: 8, bound: 8, proven: true } }],
    ["with a bound", { ...generated, baseline: { value: 8, bound: 7.5, proven: false } }],
  ])("of generated tasks %s", (_name, key) => {
    expect(keys.decode(plain(keys.encode(key)), place)).toEqual(key);
    expect(JSON.stringify(keys.encode(key)).length).toBeLessThan(30);
  });

  test("of rows", () => {
    const hash = "fedcba9876543210";
    const key: Draft = { origin: { kind: "row", pool: "rows", row: 12, contentHash: hash }, hash };
    expect(keys.decode(plain(keys.encode(key)), placeOf(row, 0, 7n))).toEqual(key);
  });

  test("that are none are refused", () => {
    for (const json of [null, {}, [], ["AAAA"], [1, 2], ["AAAA", "1"], ["AAAA", 1, "x"]])
      expect(() => keys.decode(json, place)).toThrow(FormatError);
  });
});

describe("specs", () => {
  test("go through JSON unchanged", () => {
    for (const { spec: of } of [arm, row]) expect(specs.decode(plain(specs.encode(of)))).toEqual(of);
  });

  test("that are none are refused", () => {
    const { answerFormat: _format, ...without } = spec;
    for (const json of [null, {}, without, { ...spec, split: "test" }, { ...spec, parameters: { a: "1" } }])
      expect(() => specs.decode(json)).toThrow(FormatError);
  });
});

test.each<[IssueResult, object]>([
  [{ kind: "exhausted", message: "no" }, { kind: "none" }],
  [{ kind: "cancelled" }, { kind: "cancelled" }],
  [
    { kind: "timeout", message: "slow" },
    { kind: "unavailable", message: "slow", retryDelayMs: 1000 },
  ],
  [
    { kind: "overloaded", retryDelayMs: 5 },
    { kind: "unavailable", message: "the workers' queue is full", retryDelayMs: 5 },
  ],
])("what the workers answer is passed on: %o", async (result, made) => {
  const source = createRunSource(issuerOf(result));
  const { signal } = new AbortController();
  for (const of of [arm, row]) expect(await source.make([placeOf(of, 0, 7n)], signal)).toEqual([made]);
});
