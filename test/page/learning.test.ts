/** Tests the window of the page's solved shares. */
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { HistoryRecordSchema, RunConfigSchema } from "../../clients/ts/src/public.ts";
import { solvedShares } from "../../page/src/runs/learning.ts";
import { seriesOf } from "../../page/src/runs/series.ts";

/** Rollouts with a reward and solved ones, step by step. */
const steps = [
  [8, 0],
  [8, 4],
  [0, 0],
  [8, 8],
  [16, 16],
] as const;

function sharesOver(window: number): readonly (number | undefined)[] {
  const next = solvedShares(window);
  return steps.map(([scored, solved]) => next(scored, solved));
}

test("without a window each step stands alone, and steps without rollouts have no share", () => {
  expect(sharesOver(0)).toEqual([0, 0.5, undefined, 1, 1]);
});

test("a window covers whole steps with at least its rollouts", () => {
  expect(sharesOver(8)).toEqual([0, 0.5, undefined, 1, 1]);
  expect(sharesOver(9)).toEqual([0, 4 / 16, undefined, 12 / 16, 1]);
  expect(sharesOver(16)).toEqual([0, 4 / 16, undefined, 12 / 16, 1]);
  expect(sharesOver(17)).toEqual([0, 4 / 16, undefined, 12 / 24, 24 / 24]);
  expect(sharesOver(1000)).toEqual([0, 4 / 16, undefined, 12 / 24, 28 / 40]);
});

test("update batches of an older server have no solved shares by arm, and all other figures", () => {
  const batch = (cursor: number, solvedCounts: number[]) => {
    const value = { cursor: BigInt(cursor), counts: [1, 1], rewardSums: [2, 4], rewardCounts: [4, 4], solvedCounts };
    return create(HistoryRecordSchema, { kind: { case: "batch", value: { ...value, solvedShare: 0.5 } } });
  };
  const lines = ["one", "two"].map((name, arm) => ({ name, family: name, arms: [arm] }));
  const records = [batch(0, []), batch(2, [1, 3])];
  const history = { records, lines, merged: 1, incarnation: "", settled: 0, resumeToken: "" };
  const { points } = seriesOf({ config: create(RunConfigSchema, { numGenerations: 4 }) }, history);
  expect(points.map((point) => point.solvedShares)).toEqual([
    [undefined, undefined],
    [0.25, 0.75],
  ]);
  expect(points.map(({ rewards, solved }) => [rewards, solved])).toEqual(Array(2).fill([[0.5, 1], 0.5]));
});
