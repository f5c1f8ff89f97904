/** Tests the window of the page's solved shares. */
import { expect, test } from "vitest";
import { solvedShares } from "../../page/src/runs/learning.ts";

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

test("update batches of an older server have no share, and are not in the window", () => {
  const next = solvedShares(64);
  expect([next(8, undefined), next(4, 1), next(8, undefined), next(4, 3)]).toEqual([
    undefined,
    1 / 4,
    undefined,
    4 / 8,
  ]);
});
