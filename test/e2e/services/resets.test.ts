/** Reset and BatchReset, point by point from the contract's comments. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Verdict } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import {
  AnswerFormat,
  Source,
  Split,
  type Task,
  type TaskSpecSchema,
  Thinking,
} from "../../../proto/gen/gradus/v1/task_pb.js";
import { groupOf, right } from "./answers.ts";
import { type Wire, failureOf, openWire } from "./wire.ts";

type Spec = MessageInitShape<typeof TaskSpecSchema>;

let wire: Wire;
beforeAll(async () => {
  wire = await openWire({ maxBatchSeeds: "40" });
});
afterAll(() => wire[Symbol.asyncDispose]());

const level = (value: string): NonNullable<Spec["difficulty"]> => ({ case: "level", value });
const parameters = (values: Record<string, number>): NonNullable<Spec["difficulty"]> => ({
  case: "parameters",
  value: { values },
});

async function reset(spec: Spec, seed = 1n): Promise<Task> {
  const { task } = await wire.environments.reset({ spec, seed });
  if (task === undefined) throw new Error("no task");
  return task;
}

describe("Reset", () => {
  test("is a pure function of the request", async () => {
    const spec = { environment: "countdown", difficulty: level("T2") };
    const task = await reset(spec, 7n);
    expect(await reset(spec, 7n)).toEqual(task);
    expect((await reset(spec, 8n)).prompt).not.toEqual(task.prompt);
    expect(task).toMatchObject({ environment: "countdown", version: 2, level: "T2", split: Split.TRAIN });
    expect(task).toMatchObject({ source: Source.SYNTHETIC, answerFormat: AnswerFormat.THINK_ANSWER });
    expect(task).toMatchObject({ runId: "", armId: "", cursor: 0n });
    expect(task.prompt.map(({ role }) => role)).toContain("user");
    expect(task.hints?.stop).toEqual(["</answer>"]);
    expect(task.taskId.length).toBeLessThanOrEqual(4096);
  });

  test("takes every seed, 0 and the largest too", async () => {
    const seeds = [0n, 2n ** 53n + 1n, 2n ** 64n - 1n];
    const prompts = await Promise.all(seeds.map((seed) => reset({ environment: "np/tsp" }, seed)));
    expect(new Set(prompts.map(({ taskId }) => taskId)).size).toBe(seeds.length);
  });

  test("defaults to the first level; parameters take the place of one", async () => {
    expect((await reset({ environment: "np/tsp" })).level).toBe("easy");
    const small = await reset({ environment: "np/tsp", difficulty: parameters({ cities_min: 4, cities_max: 4 }) });
    expect(small.level).toBe("");
    expect(small.hints?.metadata).toEqual({ cities: "4" });
  });

  test("marks answers as asked, and says where generation can stop", async () => {
    const line = await reset({ environment: "countdown", answerFormat: AnswerFormat.ANSWER_LINE });
    const boxed = await reset({ environment: "countdown", answerFormat: AnswerFormat.BOXED });
    expect(line.answerFormat).toBe(AnswerFormat.ANSWER_LINE);
    expect(line.prompt.at(-1)?.content).toContain("Answer:");
    expect(boxed.prompt.at(-1)?.content).toContain("\\boxed{");
    expect(line.groupId).not.toBe(boxed.groupId);
  });

  test("says how much thinking a completion must hold, and scores by it", async () => {
    const answer = (task: Task): string => right(task).replace(/^<think>.*<\/think>/, "");
    const verdicts = async (thinking: Thinking): Promise<readonly (Verdict | undefined)[]> => {
      const task = await reset({ environment: "countdown", thinking });
      expect(task.thinking).toBe(thinking || Thinking.REQUIRED);
      const texts = [`<think>a</think>${answer(task)}`, `a</think>${answer(task)}`, answer(task)];
      const { groups } = await wire.environments.batchStep({ groups: [groupOf(task, texts)] });
      return (groups[0]?.outcomes ?? []).map(({ result }) =>
        result.case === "score" ? result.value.verdict : undefined,
      );
    };
    const [good, bad] = [Verdict.FEASIBLE, Verdict.MALFORMED];
    expect(await verdicts(Thinking.UNSPECIFIED)).toEqual([good, bad, bad]);
    expect(await verdicts(Thinking.REQUIRED)).toEqual([good, bad, bad]);
    expect(await verdicts(Thinking.PREFILLED)).toEqual([good, good, bad]);
    expect(await verdicts(Thinking.STRIPPED)).toEqual([good, good, good]);
  });

  test("draws real tasks from rows", async () => {
    const spec = { environment: "countdown", difficulty: level("T1"), source: Source.REAL };
    const task = await reset(spec);
    expect(task.source).toBe(Source.REAL);
    expect(await reset({ ...spec, pool: "countdown" })).toEqual(task);
  });

  test("keeps the splits disjoint", async () => {
    const seen = new Map<string, Split>();
    for (const split of [Split.TRAIN, Split.EVAL, Split.BENCH]) {
      for (const source of [Source.SYNTHETIC, Source.REAL]) {
        const spec = { environment: "countdown", difficulty: level("T0"), split, source };
        for (let from = 0n; from < 200n; from += 40n) {
          const seeds = Array.from({ length: 40 }, (_, i) => from + BigInt(i));
          for (const { result } of (await wire.environments.batchReset({ spec, seeds })).results) {
            if (result.case !== "task") throw new Error("no task");
            const { numbers = "", target = "" } = result.value.hints?.metadata ?? {};
            const key = `${numbers.split(" ").sort().join(" ")} = ${target}`;
            expect(seen.get(key) ?? split, key).toBe(split);
            seen.set(key, split);
            expect(result.value.split).toBe(split);
          }
        }
      }
    }
    // The pools and the generator do meet, or this would show little.
    expect(seen.size).toBeGreaterThan(500);
  });

  test("refuses a level that is for evaluation only to train, and to no other", async () => {
    const spec = { environment: "countdown", difficulty: level("OOD") };
    const failure = await failureOf(reset(spec));
    expect(failure).toMatchObject({ code: "INVALID_ARGUMENT", field: "spec.split" });
    expect(failure.message).toContain("'OOD' of countdown is for evaluation");
    for (const split of [Split.EVAL, Split.BENCH]) expect((await reset({ ...spec, split })).level).toBe("OOD");
  });

  const countdown = { environment: "countdown" };
  test.each<[string, Spec | undefined, string, string]>([
    ["no spec", undefined, "INVALID_ARGUMENT", "spec: must be set"],
    ["no environment", {}, "INVALID_ARGUMENT", "spec.environment: must be set"],
    ["an unknown one", { environment: "cuntdown" }, "NOT_FOUND", "did you mean 'countdown'?"],
    ["an unknown version", { ...countdown, version: 3 }, "FAILED_PRECONDITION", "has no version 3; it has: 2, 1"],
    [
      "an unknown level",
      { ...countdown, difficulty: level("t1") },
      "INVALID_ARGUMENT",
      "spec.level: countdown has no level 't1'; did you mean 'T1'?",
    ],
    ["an unknown split", { ...countdown, split: 9 as Split }, "INVALID_ARGUMENT", "spec.split: "],
    ["an unknown source", { ...countdown, source: 9 as Source }, "INVALID_ARGUMENT", "spec.source: "],
    [
      "a teacher that is not there",
      { ...countdown, source: Source.TEACHER },
      "FAILED_PRECONDITION",
      "spec.source: this server has no teacher: start it with --teacher-url",
    ],
    [
      "a teacher of other tasks",
      { environment: "np/tsp", source: Source.TEACHER },
      "INVALID_ARGUMENT",
      "spec.source: np/tsp takes no tasks from teachers",
    ],
    [
      "rows that are not there",
      { environment: "np/tsp", source: Source.REAL },
      "INVALID_ARGUMENT",
      "spec.source: np/tsp has no data pools",
    ],
    [
      "an unknown pool",
      { ...countdown, source: Source.REAL, pool: "countdwn" },
      "NOT_FOUND",
      "did you mean 'countdown'?; it has: countdown",
    ],
    [
      "a pool for made tasks",
      { ...countdown, pool: "countdown" },
      "INVALID_ARGUMENT",
      "spec.pool: pools are for SOURCE_REAL only",
    ],
    [
      "rows by parameters",
      { ...countdown, source: Source.REAL, difficulty: parameters({}) },
      "INVALID_ARGUMENT",
      "spec.parameters: rows of a pool",
    ],
    [
      "an unknown parameter",
      { ...countdown, difficulty: parameters({ number_mim: 1 }) },
      "INVALID_ARGUMENT",
      "unknown parameter 'number_mim'; did you mean 'number_min'?",
    ],
    [
      "a parameter out of range",
      { ...countdown, difficulty: parameters({ numbers_max: 7 }) },
      "INVALID_ARGUMENT",
      "spec.parameters.numbers_max: numbers_max must be from 2 to 6; got 7",
    ],
    [
      "a parameter that is no number",
      { ...countdown, difficulty: parameters({ numbers_max: NaN }) },
      "INVALID_ARGUMENT",
      "got NaN",
    ],
    [
      "a parameter that is not whole",
      { ...countdown, difficulty: parameters({ numbers_max: 3.5 }) },
      "INVALID_ARGUMENT",
      "must be a whole number; got 3.5",
    ],
    [
      "parameters at odds",
      { environment: "np/tsp", difficulty: parameters({ cities_min: 9, cities_max: 8 }) },
      "INVALID_ARGUMENT",
      "spec.parameters: cities_min must not be above cities_max: 9 > 8",
    ],
    [
      "parameters without instances",
      {
        ...countdown,
        difficulty: parameters({ number_min: 50, number_max: 50, target_max: 1, numbers_max: 3, solutions_min: 128 }),
      },
      "FAILED_PRECONDITION",
      "none of 2000 attempts",
    ],
    [
      "an unknown scheme",
      { ...countdown, rewardScheme: { name: "grade" } },
      "INVALID_ARGUMENT",
      "spec.reward_scheme.name: countdown has no reward scheme 'grade'; did you mean 'graded'?",
    ],
    [
      "a scheme's parameter out of range",
      { ...countdown, rewardScheme: { parameters: { format_score: 2 } } },
      "INVALID_ARGUMENT",
      "format_score must be from 0 to 1; got 2",
    ],
    [
      "an unknown format",
      { ...countdown, answerFormat: 9 as AnswerFormat },
      "INVALID_ARGUMENT",
      "spec.answer_format: ",
    ],
    ["an unknown way of thinking", { ...countdown, thinking: 9 as Thinking }, "INVALID_ARGUMENT", "spec.thinking: "],
  ])("refuses %s", async (_what, spec, code, message) => {
    const failure = await failureOf(wire.environments.reset(spec === undefined ? {} : { spec }));
    expect(failure.code).toBe(code);
    expect(failure.message).toContain(message);
    if (code === "INVALID_ARGUMENT") expect(failure.message.startsWith(`${failure.field}: `)).toBe(true);
  });
});

describe("BatchReset", () => {
  test("gives the task of each seed, in the order they came", async () => {
    const spec = { environment: "countdown", difficulty: level("T1") };
    const seeds = [5n, 0n, 5n, 2n ** 64n - 1n];
    const { results } = await wire.environments.batchReset({ spec, seeds });
    expect(results.map(({ seed }) => seed)).toEqual(seeds);
    for (const { seed, result } of results) expect(result.value).toEqual(await reset(spec, seed));
  });

  test.each([
    [[], "must have at least 1 entry; got 0"],
    [Array.from({ length: 41 }, () => 1n), "must have at most 40 entries; got 41"],
  ])("refuses a batch of the wrong size", async (seeds, message) => {
    const failure = await failureOf(wire.environments.batchReset({ spec: { environment: "np/tsp" }, seeds }));
    expect(failure).toEqual({ code: "INVALID_ARGUMENT", field: "seeds", message: `seeds: ${message}` });
  });

  test("says for each task why it cannot be made; others are made", async () => {
    await using full = await openWire({ maxQueue: "40" });
    // A quarter of the queue may wait, beside the tasks that the threads take at once; the other tasks find no room.
    const seeds = Array.from({ length: 40 }, (_, i) => BigInt(i));
    const spec = { environment: "np/tsp", difficulty: { case: "level", value: "benchmark" } } as const;
    const { results } = await full.environments.batchReset({ spec, seeds });
    expect(results.map(({ seed }) => seed)).toEqual(seeds);
    const failures = results.flatMap(({ result }) => (result.case === "failure" ? [result.value] : []));
    expect(failures.length).toBeGreaterThan(0);
    expect(failures.length).toBeLessThanOrEqual(30);
    for (const { code, message, retryDelayMs } of failures) {
      expect([code, message]).toEqual([
        8,
        `too many tasks are waiting to be made: try again in ${retryDelayMs} ms, or request fewer at once`,
      ]);
      expect(retryDelayMs).toBeGreaterThan(0);
    }
    for (const { seed, result } of results) {
      if (result.case !== "task") continue;
      expect(result.value).toEqual((await full.environments.reset({ spec, seed })).task);
    }
  });
});
