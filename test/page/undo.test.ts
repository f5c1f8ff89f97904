/** Tests that the page undoes the last change of a run by a change to the values before it. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import {
  type ControlRecordSchema,
  type HistoryRecord,
  HistoryRecordSchema,
  type RunConfig,
  RunConfigSchema,
  RunStateSchema,
} from "../../clients/ts/src/public.ts";
import { undoOf } from "../../page/src/runs/undo.ts";

type Control = MessageInitShape<typeof ControlRecordSchema>;

const config: RunConfig = create(RunConfigSchema, {
  arms: [{ id: "a" }, { id: "b", weight: 3 }],
  policy: { kind: { case: "mixture", value: {} } },
  numGenerations: 2,
  promptsPerUpdate: 4,
  length: 0n,
});

function record(control: Control, rolledBack = false): HistoryRecord {
  return create(HistoryRecordSchema, { kind: { case: "control", value: control }, rolledBack });
}

function undo(state: MessageInitShape<typeof RunStateSchema>, ...controls: readonly Control[]) {
  const run = { runId: "run", config, state: create(RunStateSchema, state) };
  return undoOf(
    run,
    controls.map((control) => record(control)),
  );
}

/** State of a run with these weights of the arms "a", "b" and so on. */
const weighing = (...weights: readonly number[]) => ({
  arms: weights.map((weight, at) => ({ armId: "abc"[at] ?? "", weight })),
});

test("the first change of weights is undone by the weights of the configuration, without arms that keep theirs", () => {
  const changed = { kind: "weights", weights: { a: 0, b: 3 } };
  expect(undo(weighing(0, 3), changed)).toEqual({
    kind: "weights",
    weights: { a: 1 },
    words: "Set weights back to a = 1",
  });
});

test("a later change of weights is undone by the weights before it, also by those of an arm that was added", () => {
  const first = { kind: "weights", weights: { a: 5, b: 6, c: 7 } };
  expect(undo(weighing(5, 0, 0), first, { kind: "weights", weights: { a: 5, b: 0, c: 0 } })).toMatchObject({
    weights: { b: 6, c: 7 },
  });
  // Nobody knows what the weight of an added arm was before the first record of weights.
  expect(undo(weighing(5, 6, 7), { kind: "shape" }, first)).toMatchObject({ weights: { a: 1, b: 3 } });
});

test("an import that undid a change leaves the values before it", () => {
  const run = { runId: "run", config, state: create(RunStateSchema, weighing(2, 3)) };
  const undone = record({ kind: "weights", weights: { a: 9, b: 9 } }, true);
  expect(undoOf(run, [undone, record({ kind: "weights", weights: { a: 2, b: 3 } })])).toMatchObject({
    weights: { a: 1 },
  });
  expect(undoOf(run, [undone])).toBeUndefined();
});

test("a policy is set back to the one before it, and sizes to those before them", () => {
  const bandit = { kind: "policy", policy: { kind: { case: "bandit", value: {} } } } as const;
  const frontier = { kind: "policy", policy: { kind: { case: "frontier", value: {} } } } as const;
  expect(undo({}, bandit)).toMatchObject({ kind: "policy", words: "Set the policy back to mixture" });
  expect(undo({}, bandit, frontier)).toMatchObject({ words: "Set the policy back to bandit" });
  const shape = { numGenerations: 8, promptsPerUpdate: 4, length: 64n };
  const sizes = { kind: "shape", shape };
  expect(undo({ shape }, sizes)).toMatchObject({
    kind: "shape",
    shape: { numGenerations: 2, promptsPerUpdate: 4, length: 0n },
    policy: undefined,
  });
  expect(undo({ shape: { numGenerations: 2, promptsPerUpdate: 4, length: 0n } }, sizes)).toBeUndefined();
  const both = { ...sizes, policy: frontier.policy };
  expect(undo({ shape }, bandit, both)).toMatchObject({ policy: { kind: { case: "bandit" } } });
});

test("a pause is undone by resuming, and other changes are passed over", () => {
  const others = [{ kind: "mask" }, { kind: "close_groups" }];
  expect(undo({ paused: true }, { kind: "pause" }, ...others)).toMatchObject({ kind: "resume" });
  expect(undo({ paused: false }, { kind: "pause" }, { kind: "resume" }, ...others)).toMatchObject({ kind: "pause" });
  expect(undo({}, ...others)).toBeUndefined();
});
