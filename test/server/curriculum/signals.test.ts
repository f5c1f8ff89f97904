import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { outcomeOf, reportedOutcome } from "../../../server/curriculum/advantages.ts";
import { signals } from "../../../server/curriculum/signals.ts";

const unit = { min: 0, max: 1 };
const signal = signals.ABSOLUTE_ADVANTAGE;
const groupSignal = (rewards: readonly number[], range: typeof unit): number | undefined =>
  signal(outcomeOf(rewards, 0), range);

describe("the absolute advantage of a group", () => {
  test("is the mean absolute RLOO advantage (ADSC equation 3)", () => {
    // One of four solved: advantages 1 and three times −1/3.
    expect(groupSignal([1, 0, 0, 0], unit)).toBeCloseTo(0.5, 12);
    // Half of eight solved: each |A| is 4/7.
    expect(groupSignal([1, 1, 1, 1, 0, 0, 0, 0], unit)).toBeCloseTo(4 / 7, 12);
  });

  test("is divided by the span of the rewards", () => {
    expect(groupSignal([2, -2.5], { min: -2.5, max: 2 })).toBe(1);
    expect(signal(reportedOutcome([1, -1], null), { min: 0, max: 4 })).toBe(0.25);
  });

  test("needs two rewards, and a scheme with more than one", () => {
    expect(groupSignal([], unit)).toBeUndefined();
    expect(groupSignal([1], unit)).toBeUndefined();
    expect(groupSignal([1, 1], { min: 1, max: 1 })).toBe(0);
    expect(signal(reportedOutcome([], 0.5), unit)).toBeUndefined();
  });

  test("lies in [0, 1], as rewards lie in the scheme's range", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 2, maxLength: 32 }), (group) => {
        const signal = groupSignal(group, unit) ?? NaN;
        expect(signal).toBeGreaterThanOrEqual(0);
        expect(signal).toBeLessThanOrEqual(1 + 1e-12);
      }),
    );
  });
});

describe("signals of what was solved", () => {
  const of = (name: keyof typeof signals, count: number, solved: number | null) =>
    signals[name]({ count, sum: 0, solved, quality: undefined, deviation: null, advantage: null }, unit);

  test("p (1 − p), greatest at a half", () => {
    expect([0, 1, 2, 3, 4].map((solved) => of("SOLVED_VARIANCE", 4, solved))).toEqual([0, 3 / 16, 1 / 4, 3 / 16, 0]);
    expect(of("SOLVED_VARIANCE", 1, 1)).toBeUndefined();
  });

  test("whether outcomes are mixed", () => {
    expect([0, 1, 3, 4].map((solved) => of("MIXED_OUTCOMES", 4, solved))).toEqual([0, 1, 1, 0]);
    expect(of("MIXED_OUTCOMES", 1, 1)).toBeUndefined();
  });

  test("the solved share, of which learning progress is made", () => {
    expect(of("LEARNING_PROGRESS", 4, 1)).toBe(0.25);
    expect(of("LEARNING_PROGRESS", 0, 0)).toBeUndefined();
  });

  test("are none where it is not known", () => {
    for (const name of ["SOLVED_VARIANCE", "MIXED_OUTCOMES", "LEARNING_PROGRESS"] as const)
      expect(of(name, 4, null)).toBeUndefined();
  });
});

test("a group's outcome has its rewards' sum, deviation and solved samples", () => {
  const close = (expected: number): unknown => expect.closeTo(expected, 12);
  expect(outcomeOf([1, 0, 0, 0], 1)).toEqual({
    count: 4,
    sum: 1,
    solved: 1,
    deviation: close(Math.sqrt(3) / 4),
    advantage: close(0.5),
  });
  expect(outcomeOf([], 0)).toEqual({ count: 0, sum: 0, solved: 0, deviation: 0, advantage: null });
});

test("of reported advantages the rewards' deviation and solved samples are not known", () => {
  const unknown = { solved: null, deviation: null };
  expect(reportedOutcome([3, -1], 0.25)).toEqual({ count: 2, sum: 0.5, advantage: 2, ...unknown });
  expect(reportedOutcome([3, -1], null)).toEqual({ count: 0, sum: 0, advantage: 2, ...unknown });
  expect(reportedOutcome([], 0.25)).toEqual({ count: 1, sum: 0.25, advantage: null, ...unknown });
});
