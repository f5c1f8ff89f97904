/**
 * Compares the distributions of instances without a graph in the level `reference` with those of the papers' public
 * code.
 */
import { describe, expect, test } from "vitest";
import { countOnes } from "../../../../envs/lib/bit-matrix.ts";
import { knapsack } from "../../../../envs/np/knapsack/index.ts";
import { meetings } from "../../../../envs/np/meetings/index.ts";
import { setCover } from "../../../../envs/np/set-cover/index.ts";
import { subsetSum } from "../../../../envs/np/subset-sum/index.ts";
import { tsp } from "../../../../envs/np/tsp/index.ts";
import { drawReference, expectEven, expectMean, mean, range } from "./moments.ts";

describe("np/tsp", () => {
  const instances = drawReference(tsp);

  test("has 45 to 55 cities, and distances from 10 to 100, each as likely", () => {
    expectEven(
      instances.map(({ cities }) => cities),
      [45, 55],
    );
    expectEven(
      instances.flatMap(({ distances }) => [...distances].slice(0, 200)),
      [10, 100],
    );
  });
});

describe("np/set-cover", () => {
  const instances = drawReference(setCover);

  test("has 30 to 40 elements and 20 to 30 subsets, of one element and more", () => {
    expectEven(
      instances.map(({ subsets }) => subsets.columns),
      [30, 40],
    );
    expectEven(
      instances.map(({ subsets }) => subsets.rows),
      [20, 30],
    );
  });

  test("gives a subset 1 to .4 of the elements, each size as likely, and one that none has to any", () => {
    const sizes = instances.map(({ subsets }) => {
      const all = range(0, subsets.rows - 1).map((row) => countOnes(subsets, row));
      return { all, most: Math.floor(0.4 * subsets.columns) };
    });
    // Elements that no subset got are the few that go beyond: (1 − mean share) to the power of the subsets.
    const given = sizes.map(({ all, most }) => mean(all) - (1 + most) / 2);
    expect(mean(given)).toBeGreaterThan(-0.1);
    expect(mean(given)).toBeLessThan(0.15);
    const ones = sizes.flatMap(({ all, most }) => all.map((size) => Number(size === 1) - 1 / most));
    expect(Math.abs(mean(ones))).toBeLessThan(0.01);
    expect(Math.max(...sizes.map(({ all, most }) => Math.max(...all) - most))).toBeLessThanOrEqual(2);
  });
});

describe("np/subset-sum", () => {
  const instances = drawReference(subsetSum);

  test("has 15 to 20 numbers from 1 to 15, of which 10 to 15 make the target", () => {
    expectEven(
      instances.map(({ planted }) => planted.length),
      [10, 15],
    );
    expectEven(
      instances.map(({ numbers }) => numbers.length),
      [15, 20],
    );
    // If two sets of ten make the target, the second is fitted to it and not drawn evenly.
    const single = instances.filter(({ numbers, planted }) => numbers.length < 2 * planted.length);
    expectEven(
      single.flatMap(({ numbers }) => [...numbers]),
      [1, 15],
    );
  });

  test("leaves no number out where all are planted, and plants two sets in twenty numbers by tens", () => {
    expect(instances.some(({ numbers, planted }) => numbers.length === planted.length)).toBe(true);
    const double = instances.filter(({ numbers, planted }) => numbers.length === 2 * planted.length);
    expect(double.length).toBeGreaterThan(0);
    for (const { target, numbers } of double) expect(numbers.reduce((sum, number) => sum + number, 0)).toBe(2 * target);
  });
});

describe("np/knapsack", () => {
  const instances = drawReference(knapsack);
  const items = instances.flatMap(({ weights, values }) =>
    Array.from(weights, (weight, i) => ({ weight, ratio: (values[i] as number) / weight })),
  );

  test("has 25 to 35 items that set the capacity, and 30 to 45 others", () => {
    const counts = instances.map(({ weights }) => weights.length);
    expectMean(counts, 30 + 37.5);
    expect([Math.min(...counts) >= 55, Math.max(...counts) <= 80]).toEqual([true, true]);
    expectMean(
      instances.map(({ capacity }) => capacity),
      // Some 30 items of 125 on average, and a slack of 2 to 15%.
      30 * 125 * 1.085,
    );
  });

  test("makes .4 of the others heavy, .4 cheap, and .2 traps", () => {
    const share = (holds: (item: (typeof items)[number]) => boolean) => items.filter(holds).length / instances.length;
    // Heavy ones weigh 300 to 600 and are worth less than 1.1 times that; traps weigh at least 625.
    const heavy = share(({ weight, ratio }) => weight >= 300 && weight <= 600 && ratio <= 1.1);
    expect(Math.abs(heavy - 0.4 * 37.5)).toBeLessThan(0.7);
    const cheap = share(({ weight, ratio }) => weight <= 100 && ratio <= 1.1);
    expect(Math.abs(cheap - 0.4 * 37.5)).toBeLessThan(0.7);
    const traps = share(({ weight }) => weight > 600);
    expect(Math.abs(traps - 0.2 * 37.5)).toBeLessThan(0.6);
    const planted = share(({ weight, ratio }) => weight <= 200 && ratio > 1.15);
    expect(Math.abs(planted - 30)).toBeLessThan(0.7);
    expect(items.every(({ weight, ratio }) => weight >= 30 && ratio > 0.75 && ratio <= 1.6)).toBe(true);
  });
});

describe("np/meetings", () => {
  const instances = drawReference(meetings);

  test("has 8 to 10 meetings of 30, 60 or 90 minutes, and 2 to 5 of 7 to 9 people in each", () => {
    expectEven(
      instances.map((each) => each.meetings.length),
      [8, 10],
    );
    expectEven(
      instances.map(({ availability }) => availability.length),
      [7, 9],
    );
    const all = instances.flatMap((each) => each.meetings);
    expectEven(
      all.map(({ minutes }) => minutes / 30),
      [1, 3],
    );
    expectEven(
      all.map(({ attendees }) => attendees.length),
      [2, 5],
    );
  });

  test("has 6 to 7 rooms of 3 to 10 seats, and lunch from 12:00 to 13:00 in everybody's day from 09:00 to 17:00", () => {
    expectEven(
      instances.map(({ rooms }) => rooms.length),
      [6, 7],
    );
    expectEven(
      instances.flatMap(({ rooms }) => rooms),
      [3, 10],
    );
    const day = [
      { start: 540, end: 720 },
      { start: 780, end: 1020 },
    ];
    for (const { availability } of instances) for (const own of availability) expect(own).toEqual(day);
  });
});
