/** Tests that a chart of many arms shows the most drawn ones, environment by environment, and merges the others. */
import { expect, test } from "vitest";
import type { Series } from "../../../cli/runs/series.ts";
import { SHOWN_MAX, topArms } from "../../../cli/runs/top-arms.ts";

/** Two environments by turns; each arm was drawn as often as its place says. */
function seriesOf(count: number): Series {
  const drawn = Array.from({ length: count }, (_, i) => i);
  const tasks = drawn.reduce((sum, each) => sum + each, 0);
  const shares = drawn.map((each) => each / tasks);
  const step = { cursor: 0, tasks, shares, probabilities: shares, values: drawn, frontiers: [] };
  return {
    arms: drawn.map((i) => `e${i % 2}/level${i}`),
    families: drawn.map((i) => `e${i % 2}`),
    growth: [],
    steps: [{ ...step, rewardMean: undefined, solvedShare: undefined }],
    changes: [],
    tasks,
    drawn,
  };
}

test("a series of few arms is shown as it is", () => {
  const few = seriesOf(SHOWN_MAX);
  expect(topArms(few)).toBe(few);
});

test("of a thousand arms the most drawn are shown, those of one environment together, and all shares are there", () => {
  const { arms, families, drawn, steps, tasks } = topArms(seriesOf(1000));
  expect(arms).toHaveLength(SHOWN_MAX + 1);
  expect(arms.at(-1)).toBe(`${1000 - SHOWN_MAX} others together`);
  expect(families.slice(0, SHOWN_MAX / 2)).toEqual(new Array<string>(SHOWN_MAX / 2).fill("e1"));
  expect(families.slice(SHOWN_MAX / 2, SHOWN_MAX)).toEqual(new Array<string>(SHOWN_MAX / 2).fill("e0"));
  expect(Math.min(...drawn.slice(0, -1))).toBe(1000 - SHOWN_MAX);
  expect(drawn.reduce((sum, each) => sum + each, 0)).toBe(tasks);
  const [step] = steps;
  expect(step?.shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1);
  expect(step?.values.at(-1)).toBeUndefined();
});
