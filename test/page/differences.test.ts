/** Tests that the page names the fields in which the configurations of runs differ, and no others. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { RunConfigSchema, RunStateSchema } from "../../clients/ts/src/public.ts";
import { differencesOf } from "../../page/src/runs/differences.ts";

type Config = MessageInitShape<typeof RunConfigSchema>;

const base = {
  arms: [
    { id: "t0", spec: { environment: "countdown", difficulty: { case: "level", value: "T0" } } },
    { id: "t1", spec: { environment: "countdown", difficulty: { case: "level", value: "T1" } } },
  ],
  policy: { kind: { case: "mixture", value: {} } },
  numGenerations: 4,
  promptsPerUpdate: 8,
} as const satisfies Config;

function run(runId: string, of: Config, given: MessageInitShape<typeof RunStateSchema> = {}) {
  const [config, state] = [create(RunConfigSchema, of), create(RunStateSchema, given)];
  const policy = state.policy ?? config.policy;
  return { runId, config, state: policy === undefined ? state : { ...state, policy } };
}

test("equal configurations have no differences, whatever their runs have learned", () => {
  const one = run("one", base, { arms: [{ armId: "t0", weight: 1, groups: 5n }] });
  const other = run("other", base, { arms: [{ armId: "t0", weight: 1, value: 0.4 }] });
  expect(differencesOf([one, other])).toEqual([]);
});

test("arms are compared by their ids, and a field that a run lacks has no value", () => {
  const reversed = { ...base, arms: [base.arms[1], { ...base.arms[0], klCoefficient: 0.1 }], numGenerations: 2 };
  expect(differencesOf([run("one", base), run("other", reversed)])).toEqual([
    { field: "numGenerations", values: ["4", "2"] },
    { field: "arms.t0.klCoefficient", values: [undefined, "0.1"] },
  ]);
});

test("changes since the creation count: the policy, the sizes and the weights", () => {
  const changed = run("changed", base, {
    policy: { kind: { case: "bandit", value: { epsilon: 0.2 } } },
    shape: { numGenerations: 4, promptsPerUpdate: 16, length: 100n },
    arms: [
      { armId: "t0", weight: 2 },
      { armId: "t1", weight: 1, removed: true },
    ],
  });
  const plain = run("plain", base, { arms: [{ armId: "t0", weight: 1 }] });
  const found = new Map(differencesOf([plain, changed, plain]).map(({ field, values }) => [field, values]));
  expect(found.get("promptsPerUpdate")).toEqual(["8", "16", "8"]);
  expect(found.get("policy.bandit.epsilon")).toEqual([undefined, "0.2", undefined]);
  expect(found.get("weights.t0")).toEqual(["1", "2", "1"]);
  expect(found.has("weights.t1")).toBe(false);
});
