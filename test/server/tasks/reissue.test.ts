import { expect, test } from "vitest";
import { countdown } from "../../../envs/countdown/index.ts";
import { makeGenerated } from "../../../envs/instances.ts";
import { createRegistry, environments } from "../../../envs/registry.ts";
import { inlineOf } from "../../../server/tasks/task.ts";
import { reissue, type RescoreSettings } from "../../../server/tasks/reissue.ts";
import type { TaskToken } from "../../../server/tasks/task-id.ts";

const parameters = countdown.levels.find(({ name }) => name === "T1")?.parameters ?? {};
const made = makeGenerated(countdown, { parameters, seed: 5n, split: "train" });
if (made.kind !== "made") throw new Error("no task");

const token: TaskToken = {
  environment: "countdown",
  version: 2,
  level: "T1",
  split: "train",
  answerFormat: "think_answer",
  thinking: "required",
  rewardScheme: "graded",
  rewardParameters: { format_score: 0.2 },
  key: made.key,
  inline: inlineOf(countdown, made.key, made.instance)!,
  run: { runId: "r", incarnation: "i", arm: 0, cursor: 3, numGenerations: 8, feedback: true },
};

/** A version of countdown whose generator draws other numbers for a seed, because it names no earlier version. */
const { earlier: _, ...renewed } = { ...countdown, version: 4 };
const registry = createRegistry([...environments, { ...countdown, version: 3 }, renewed]);
const pools = new Map();
const again = (settings: RescoreSettings, given = token) => reissue({ registry, pools }, given, settings);

test("without settings, a task keeps all but its run and its episode", () => {
  const { run: __, ...rest } = token;
  expect(again({})).toEqual({ kind: "ok", token: rest });
});

test("parameters replace those of the same scheme one by one, and another scheme begins with its defaults", () => {
  const scheme = (name: string, values = {}) => {
    const result = again({ scheme: { name, parameters: values } });
    return result.kind === "ok" ? [result.token.rewardScheme, result.token.rewardParameters] : result;
  };
  expect(scheme("")).toEqual(["graded", { format_score: 0.2 }]);
  expect(scheme("graded", { format_score: 0.7 })).toEqual(["graded", { format_score: 0.7 }]);
  // A parameter with its default is left out, so that ids of equal settings are equal.
  expect(scheme("", { format_score: 0.1 })).toEqual(["graded", {}]);
  expect(scheme("vcc")).toEqual(["vcc", {}]);
  expect(scheme("weighted")).toMatchObject({ kind: "invalid", field: "reward_scheme.name" });
  expect(scheme("", { weight: 1 })).toMatchObject({ kind: "invalid", field: "reward_scheme.parameters" });
  expect(scheme("", { format_score: 2 })).toMatchObject({
    kind: "invalid",
    field: "reward_scheme.parameters.format_score",
  });
});

test("answer format and thinking are changed, if the environment has the format", () => {
  expect(again({ answerFormat: "boxed", thinking: "stripped" })).toMatchObject({
    token: { answerFormat: "boxed", thinking: "stripped" },
  });
  const single = createRegistry([{ ...countdown, answerFormats: ["boxed"] }]);
  expect(reissue({ registry: single, pools }, token, {})).toMatchObject({ kind: "invalid", field: "answer_format" });
});

test("another version must make the same instance", () => {
  // One definition serves versions 1 and 2.
  const shipped = { registry: createRegistry([...environments]), pools };
  const { inline } = token;
  expect(reissue(shipped, token, { version: 1 })).toMatchObject({ token: { version: 1, level: "T1", inline } });
  // The level's parameters and the instance's encoding may be others, so the instance is made again from its seed.
  const moved = again({ version: 3 });
  expect(moved).toMatchObject({ kind: "ok", token: { version: 3, level: "" } });
  expect(moved.kind === "ok" && moved.token.inline).toBeUndefined();
  expect(again({ version: 4 })).toEqual({
    kind: "gone",
    message: "countdown version 4 does not make the instance of this task",
  });
  expect(again({ version: 9 })).toMatchObject({ kind: "invalid", field: "version" });
  expect(again({}, { ...token, version: 9 })).toMatchObject({ kind: "gone" });
});
