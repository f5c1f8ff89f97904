/** Tests the window of the page's solved shares. */
import { expect, test } from "vitest";
import { solvedShares } from "../../page/src/runs/learning.ts";

const steps = [
  { x: 0, scored: 8, solved: 0 },
  { x: 8, scored: 8, solved: 4 },
  { x: 16, scored: 0, solved: 0 },
  { x: 24, scored: 8, solved: 8 },
  { x: 32, scored: 16, solved: 16 },
];

test("without a window each step stands alone, and steps without rollouts are left out", () => {
  expect(solvedShares(steps, 0)).toEqual([
    { x: 0, y: 0 },
    { x: 8, y: 0.5 },
    { x: 24, y: 1 },
    { x: 32, y: 1 },
  ]);
});

test("a window covers whole steps with at least its rollouts", () => {
  const shares = (window: number) => solvedShares(steps, window).map(({ y }) => y);
  expect(shares(8)).toEqual([0, 0.5, 1, 1]);
  expect(shares(9)).toEqual([0, 4 / 16, 12 / 16, 1]);
  expect(shares(16)).toEqual([0, 4 / 16, 12 / 16, 1]);
  expect(shares(17)).toEqual([0, 4 / 16, 12 / 24, 24 / 24]);
  expect(shares(1000)).toEqual([0, 4 / 16, 12 / 24, 28 / 40]);
});

test("a line without rollouts has no points", () => {
  expect(solvedShares([{ x: 0, scored: 0, solved: 0 }], 64)).toEqual([]);
});
