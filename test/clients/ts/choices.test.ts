import { fromBinary, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { armOf, groupOf, type GrowthChoice, runConfigOf, seedOf, taskSpecOf } from "../../../clients/ts/src/choices.ts";
import { policyOf } from "../../../clients/ts/src/policies.ts";
import {
  AnswerFormat,
  FeedbackSource,
  RunConfigSchema,
  Source,
  Split,
  TaskSpecSchema,
  Thinking,
} from "../../../clients/ts/src/index.ts";

describe("task choices", () => {
  test("what is left out is unset on the wire", () => {
    const spec = taskSpecOf({ environment: "countdown" });
    expect(toBinary(TaskSpecSchema, spec).length).toBe(2 + "countdown".length);
  });

  test("all fields", () => {
    const spec = taskSpecOf({
      environment: "countdown",
      version: 1,
      level: "T1",
      split: "eval",
      source: "real",
      pool: "mine",
      answerFormat: "boxed",
      thinking: "prefilled",
      rewardScheme: { name: "graded", parameters: { format_score: 0.2 } },
    });
    expect(fromBinary(TaskSpecSchema, toBinary(TaskSpecSchema, spec))).toMatchObject({
      environment: "countdown",
      version: 1,
      difficulty: { case: "level", value: "T1" },
      split: Split.EVAL,
      source: Source.REAL,
      pool: "mine",
      answerFormat: AnswerFormat.BOXED,
      thinking: Thinking.PREFILLED,
      rewardScheme: { name: "graded", parameters: { format_score: 0.2 } },
    });
  });

  test("a level and parameters exclude each other", () => {
    const both = { environment: "countdown", level: "T0", parameters: { numbers_min: 3 } };
    expect(() => taskSpecOf(both)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });
});

describe("seeds", () => {
  test("every whole number below 2^64 is one, whatever its type", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (seed) => {
        expect(seedOf(seed)).toBe(seed);
        expect(seedOf(String(seed))).toBe(seed);
      }),
    );
    expect(seedOf(2 ** 53 - 1)).toBe(2n ** 53n - 1n);
  });

  test.each([-1, 1.5, 2 ** 53, Number.NaN, "", "0x10", "1e3", "-1", 2n ** 64n, -1n, "9".repeat(1000)])(
    "%s is none",
    (seed) => {
      expect(() => seedOf(seed)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    },
  );
});

test("completions given as texts have their place as sample_index", () => {
  const task = { taskId: "t", groupId: "g" };
  expect(groupOf({ task, completions: ["a", "b"], numGenerations: 4 })).toMatchObject({
    taskId: "t",
    groupId: "g",
    numGenerations: 4,
    completions: [
      { sampleIndex: 0, text: "a" },
      { sampleIndex: 1, text: "b" },
    ],
  });
  expect(groupOf({ task, completions: [{ sampleIndex: 3, text: "d" }] }).completions[0]?.sampleIndex).toBe(3);
});

describe("runs", () => {
  test("a bandit with constraints", () => {
    const policy = policyOf({ kind: "bandit", alpha: 0.15, constraints: { realShareMin: 0.3 } });
    expect(policy.kind).toMatchObject({
      case: "bandit",
      value: { rule: { case: "emaSoftmax", value: { alpha: 0.15 } } },
    });
    expect(policy.kind).not.toHaveProperty("value.rule.value.tau", expect.anything());
    expect(policy.constraints?.realShareMin).toBe(0.3);
  });

  test("stages that last for a share, for some tasks, and until they are ended", () => {
    const stages = [{ weights: { t0: 1 }, share: 0.3 }, { weights: { t0: 1, t1: 2 }, tasks: 40 }, {}];
    expect(policyOf({ kind: "staged", stages }).kind).toMatchObject({
      case: "staged",
      value: {
        stages: [
          { weights: { t0: 1 }, extent: { case: "share", value: 0.3 } },
          { weights: { t0: 1, t1: 2 }, extent: { case: "tasks", value: 40n } },
          { weights: {}, extent: { case: undefined } },
        ],
      },
    });
    const both = { kind: "staged", stages: [{ share: 0.3, tasks: 4 }] } as const;
    expect(() => policyOf(both)).toThrow("share, tasks: give one of them");
  });

  test("a whole configuration survives the wire", () => {
    const config = runConfigOf({
      arms: [
        {
          id: "t0",
          environment: "countdown",
          level: "T0",
          thinking: "stripped",
          weight: 2,
          hard: true,
          klCoefficient: 0.02,
        },
      ],
      policy: { kind: "mixture" },
      numGenerations: 8,
      promptsPerUpdate: 16,
      seed: 2n ** 63n,
      length: 320,
      feedbackLag: 0,
      feedbackSource: "reported",
      rewardScheme: "exact",
      answerFormat: "answer_tag",
      groupTimeoutMs: 1_500,
      timeToLiveMs: 86_400_000,
    });
    expect(fromBinary(RunConfigSchema, toBinary(RunConfigSchema, config))).toMatchObject({
      arms: [
        {
          id: "t0",
          weight: 2,
          hard: true,
          klCoefficient: 0.02,
          spec: { environment: "countdown", thinking: Thinking.STRIPPED },
        },
      ],
      policy: { kind: { case: "mixture" } },
      seed: 2n ** 63n,
      length: 320n,
      lag: { case: "feedbackLag", value: 0 },
      feedbackSource: FeedbackSource.REPORTED,
      rewardScheme: { name: "exact" },
      answerFormat: AnswerFormat.ANSWER_TAG,
      groupTimeout: { seconds: 1n, nanos: 500_000_000 },
      timeToLive: { seconds: 86_400n },
    });
  });

  test("an unbounded lag", () => {
    const arms = [{ id: "a", environment: "countdown" }];
    const policy = { kind: "mixture" } as const;
    const config = runConfigOf({ arms, policy, numGenerations: 1, promptsPerUpdate: 1, feedbackLag: "unbounded" });
    expect(config.lag).toEqual({ case: "feedbackUnbounded", value: true });
  });
});

test("an arm grows along an axis, by its name or with bounds", () => {
  const of = (grow: GrowthChoice | string) => armOf({ id: "c", environment: "countdown", grow }).grow;
  expect(of("numbers")).toMatchObject({ axis: "numbers", start: 0, step: 0, cap: 0 });
  expect(of({ axis: "numbers", start: 2, step: 1, cap: 4 })).toMatchObject({
    axis: "numbers",
    start: 2,
    step: 1,
    cap: 4,
  });
  expect(armOf({ id: "c", environment: "countdown" }).grow).toBeUndefined();
});
