/** Tests of arms that grow under the frontier policy: when levels open, retire and return, and what each level is drawn. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rngFor } from "../../../envs/lib/rng.ts";
import { drawLevels, levelCount, LEVEL_SPAN } from "../../../server/curriculum/growth.ts";
import { frontier, type FrontierState } from "../../../server/curriculum/policies/frontier.ts";
import type { Growing } from "../../../server/curriculum/policies/growing.ts";
import type { ObservedGroup, View } from "../../../server/curriculum/policies/policy.ts";
import { differenceOf, withDifference } from "../../../server/curriculum/json-changes.ts";
import { frontierPolicy } from "./support.ts";
import type { FrontierConfig } from "../../../server/curriculum/policies/frontier.ts";

const config = frontierPolicy({ practiceScale: 8 }).config as FrontierConfig;
const LEVELS = 8;

/** Returns a group of a level with a share of success. */
function group(level: number, signal: number, more: Partial<ObservedGroup> = {}, guess = 0): ObservedGroup {
  const place = { level, levels: LEVELS, guess };
  return {
    arm: 0,
    armId: "a",
    probability: 1,
    weight: 1,
    hash: "",
    rank: undefined,
    signal,
    place,
    ...more,
  } as ObservedGroup;
}

/** Returns the state after groups of one growing arm. */
function after(groups: readonly ObservedGroup[], from = frontier.initial(config, 1, 0)): FrontierState {
  return groups.reduce((state, each) => frontier.observe?.(config, state, [each]) ?? state, from);
}

const times = (count: number, of: ObservedGroup): readonly ObservedGroup[] => new Array<ObservedGroup>(count).fill(of);
const topOf = (state: FrontierState): number | undefined => frontier.top?.(state, 0, LEVELS);
const armOf = (state: FrontierState): Growing => state.arms[0] as Growing;

/** A view of arms, each with a number of levels, or undefined for a fixed arm. */
function viewOf(levels: readonly (number | undefined)[], weights: readonly number[] = []): View {
  return {
    progress: { batch: 0, cursor: 0, length: 0, size: 8, promptsPerUpdate: 8 },
    rng: () => rngFor("view"),
    arms: levels.map((count, i) => ({
      id: `${i}`,
      source: "synthetic",
      hard: false,
      weight: weights[i] ?? 1,
      issued: 0,
      groups: 0,
      rewardMean: undefined,
      solvedShare: undefined,
      ...(count !== undefined && { levels: count, guess: 0 }),
    })),
  };
}

describe("a level opens the next one", () => {
  // After three groups M is 1 + .98 + .98² = 2.9404, and after four 3.881592.
  test("after four groups whose expected success is one half", () => {
    expect([1, 2, 3, 4].map((count) => topOf(after(times(count, group(0, 1)))))).toEqual([0, 0, 0, 1]);
  });

  // A = 1 · (.9³ + .9² + .9) + 0 = 2.439, N = 3.439: m = (2.439 + .15) / (3.439 + .3) = .6924.
  test("at an expected success of .5 and above, and not below", () => {
    expect(topOf(after([...times(3, group(0, 1)), group(0, 0)]))).toBe(1);
    // A = .9³ = .729: m = .879 / 3.739 = .2351.
    expect(topOf(after([group(0, 1), ...times(3, group(0, 0))]))).toBe(0);
    // Equal groups of q give m = (3.439 q + .15) / 3.739: .5 at q = .5.
    expect(topOf(after(times(4, group(0, 0.5))))).toBe(1);
    expect(topOf(after(times(4, group(0, 0.4999))))).toBe(0);
  });

  test("after a recent success only: late groups of small weight do not suffice", () => {
    // With weights of .5, N after eight groups is 10 (1 − .95⁸) = 3.37 and M 50 (1 − .99⁸) = 3.86; after seven 3.02, 3.4.
    const half = group(0, 1, { weight: 0.5 });
    expect(topOf(after(times(6, half)))).toBe(0);
    expect(topOf(after(times(7, half)))).toBe(1);
  });

  test("above the guessing floor: at a floor of .5 from .75 on", () => {
    const guessed = (q: number) => topOf(after(times(4, group(0, q, {}, 0.5))));
    // m = (3.439 q + .15) / 3.739 is .75 at q = .7718.
    expect([0.5, 0.77, 0.773].map(guessed)).toEqual([0, 0, 1]);
  });

  test("up to the last level, and a lower cap hides what was opened", () => {
    const all = Array.from({ length: LEVELS }, (_, level) => times(4, group(level, 1))).flat();
    const state = after(all);
    expect(topOf(state)).toBe(LEVELS - 1);
    expect(frontier.top?.(state, 0, 3)).toBe(2);
    expect(topOf(state)).toBe(LEVELS - 1);
  });

  test("when Advance asks, and refuses beyond the last level", () => {
    const begun = frontier.initial(config, 1, 0);
    const opened = frontier.open?.(begun, 0, 2);
    expect(opened).toMatchObject({ kind: "advanced" });
    const state = (opened as { readonly state: FrontierState }).state;
    expect(frontier.top?.(state, 0, 2)).toBe(1);
    expect(frontier.open?.(state, 0, 2)).toEqual({
      kind: "refused",
      message: "all levels of the arm are open: raise its cap",
    });
  });
});

describe("a level retires", () => {
  test("below the highest open one, at .95 and five groups", () => {
    // With only successes, m = (N + .15) / (N + .3) is .95 or more from N = 2.7 on. M is at least 5 from the sixth group.
    const retired = (count: number) => armOf(after(times(count, group(0, 1)))).retired[0] ?? false;
    expect([4, 5, 6].map(retired)).toEqual([false, false, true]);
  });

  test("not while its slow average is below .8", () => {
    // Thirty groups at .2, then successes: m passes .95 long before S/M passes .8.
    const state = after([...times(30, group(0, 0.2)), ...times(30, group(0, 1))]);
    expect(topOf(state)).toBe(1);
    expect(armOf(state).retired[0]).toBe(false);
  });

  test("and not the highest open one, also at the cap", () => {
    const all = Array.from({ length: LEVELS }, (_, level) => times(20, group(level, 1))).flat();
    expect(armOf(after(all)).retired).toEqual([...new Array<boolean>(LEVELS - 1).fill(true), false]);
  });

  test("and returns when its expected success falls below .75", () => {
    const retired = after(times(20, group(0, 1)));
    // A falls by a tenth with each failure: (8.78 · .9 + .15) / (8.91 + .3) = .874, then .781, then .697.
    const failures = [1, 2, 3].map((count) => armOf(after(times(count, group(0, 0)), retired)).retired[0]);
    expect(failures).toEqual([true, true, false]);
  });
});

describe("an arm peeks", () => {
  const stuck = (count: number) => after(times(count, group(0, 0.2)));
  const sharesOf = (state: FrontierState, levels = LEVELS) =>
    frontier.levels?.(config, state, viewOf([levels]))[0]?.shares ?? [];

  test("from twelve groups on, at a tenth of its part, in equal parts of three levels", () => {
    // M after 13 groups is 50 (1 − .98¹³) = 11.55, and after 14 it is 12.32.
    expect(sharesOf(stuck(13)).slice(1, 5)).toEqual([0, 0, 0, 0]);
    const shares = sharesOf(stuck(14));
    expect(shares[0]).toBeCloseTo(0.9, 12);
    for (const share of shares.slice(1, 4)) expect(share).toBeCloseTo(0.1 / 3, 12);
    expect(shares.slice(4)).toEqual([0, 0, 0, 0]);
  });

  test("at the levels that there are, with the same tenth", () => {
    expect(sharesOf(stuck(14), 2)[1]).toBeCloseTo(0.1, 12);
    expect(sharesOf(stuck(14), 1)).toEqual([1]);
  });

  test("and draws a level like an open one while it is solved more often than the highest open one", () => {
    const worse = sharesOf(after(times(2, group(2, 0.1)), stuck(14)));
    expect(worse[2]).toBeCloseTo(0.1 / 3, 12);
    const better = after(times(2, group(2, 0.3)), stuck(14));
    const known = armOf(better).levels;
    const both: FrontierState = { ...better, arms: [known[0]!, known[2]!] };
    const fixed = frontier.probabilities(config, both, viewOf([undefined, undefined]));
    expect(sharesOf(better)[0]).toBeCloseTo(0.9 * fixed[0]!, 12);
    expect(sharesOf(better)[2]).toBeCloseTo(0.9 * fixed[1]! + 0.1 / 3, 12);
    expect(topOf(better)).toBe(0);
  });

  test("and opens the level after one that passes", () => {
    const state = after(times(4, group(2, 1)), stuck(14));
    expect(topOf(state)).toBe(3);
    // A level four above is not peeked at.
    expect(topOf(after(times(4, group(4, 1)), stuck(14)))).toBe(0);
  });
});

describe("draws", () => {
  test("are those of a fixed arm while one level is open", () => {
    const [growing, fixed] = [viewOf([LEVELS, undefined]), viewOf([undefined, undefined])];
    const state = frontier.initial(config, 2, 0);
    expect(frontier.probabilities(config, state, growing)).toEqual(frontier.probabilities(config, state, fixed));
  });

  test("count the open levels of all arms as arms", () => {
    const open = after(times(4, group(0, 0.5)), frontier.initial(config, 2, 0));
    const growing = frontier.levels?.(config, open, viewOf([LEVELS, undefined]));
    const known = (open.arms[0] as Growing).levels[0]!;
    // Three fixed arms: the first level, a fresh second level, and the fixed arm.
    const apart: FrontierState = { ...open, arms: [known, open.arms[1]!, open.arms[1]!] };
    const fixed = frontier.probabilities(config, apart, viewOf([undefined, undefined, undefined]));
    const [first = 0, second = 0] = growing?.[0]?.shares ?? [];
    const probabilities = frontier.probabilities(config, open, viewOf([LEVELS, undefined]));
    expect(first * probabilities[0]!).toBeCloseTo(fixed[0]!, 12);
    expect(second * probabilities[0]!).toBeCloseTo(fixed[1]!, 12);
    expect(probabilities[1]).toBeCloseTo(fixed[2]!, 12);
  });

  test("give the retired levels of all arms 5%, in equal parts, then peeks", () => {
    const solved = (arm: number) => times(20, group(0, 1, { arm })).flatMap((each) => [each]);
    const state = after([...solved(0), ...solved(1), ...times(14, group(1, 0.2))], frontier.initial(config, 2, 0));
    const view = viewOf([LEVELS, LEVELS]);
    const probabilities = frontier.probabilities(config, state, view);
    const levels = frontier.levels?.(config, state, view) ?? [];
    const share = (arm: number, level: number) => (probabilities[arm] ?? 0) * (levels[arm]?.shares[level] ?? 0);
    // The first arm peeks: a tenth of a half, and all else is multiplied by .95.
    expect(share(0, 2) + share(0, 3) + share(0, 4)).toBeCloseTo(0.05, 12);
    expect(share(0, 0)).toBeCloseTo(0.95 * 0.025, 12);
    expect(share(1, 0)).toBeCloseTo(0.95 * 0.025, 12);
    expect(probabilities[0]! + probabilities[1]!).toBeCloseTo(1, 12);
    expect(levels.map((of) => of?.retired[0])).toEqual([true, true]);
  });

  test("leave out all levels of an arm of weight 0", () => {
    const state = after(times(14, group(0, 0.2)), frontier.initial(config, 2, 0));
    expect(frontier.probabilities(config, state, viewOf([LEVELS, undefined], [0, 1]))).toEqual([0, 1]);
    expect(frontier.levels?.(config, state, viewOf([LEVELS, undefined], [0, 1]))[0]?.shares).toEqual(
      new Array<number>(LEVELS).fill(0),
    );
  });

  test("take a level by its share, from a generator of seed, arm and update batch", () => {
    const levels = { top: 1, shares: [0.25, 0.75], success: [0, 0], retired: [false, false] };
    const slots = new Array<number>(4000).fill(0);
    const of = (batch: number) => drawLevels([{ id: "a" }], [levels], slots, { seed: 7n, batch });
    expect(of(3)).toEqual(of(3));
    expect(of(3)).not.toEqual(of(4));
    expect(of(3).filter((level) => level === 0).length / 4000).toBeCloseTo(0.25, 1);
    expect(drawLevels([{ id: "a" }], [undefined], [0, 0], { seed: 7n, batch: 0 })).toEqual([undefined, undefined]);
  });
});

const groups = fc.array(
  fc.record({
    level: fc.nat(LEVELS - 1),
    q: fc.double({ min: 0, max: 1, noNaN: true }),
    weight: fc.constantFrom(1, 0.5),
  }),
  { maxLength: 120 },
);

test("whatever is observed: shares sum to 1, the top never falls, and the state survives its codec and its changes", () => {
  fc.assert(
    fc.property(groups, (observed) => {
      let state = frontier.initial(config, 2, 0);
      let top = 0;
      for (const { level, q, weight } of observed) {
        const before = frontier.state.encode(state);
        state = after([group(level, q, { weight })], state);
        const now = frontier.state.encode(state);
        expect(frontier.state.decode(now)).toEqual(state);
        expect(withDifference(before, differenceOf(before, now))).toEqual(now);
        expect(topOf(state)).toBeGreaterThanOrEqual(top);
        top = topOf(state) ?? 0;
      }
      const view = viewOf([LEVELS, undefined]);
      const [shares] = frontier.levels?.(config, state, view) ?? [];
      const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
      expect(sum(shares?.shares ?? [])).toBeCloseTo(1, 9);
      expect(sum(frontier.probabilities(config, state, view))).toBeCloseTo(1, 9);
      expect(shares?.shares.every((share, level) => share === 0 || level <= top + 3)).toBe(true);
    }),
  );
});

test("levels are counted up to the cap", () => {
  expect(levelCount({ start: 6, step: 1, cap: 23 })).toBe(18);
  expect(levelCount({ start: 6, step: 5, cap: 23 })).toBe(4);
  expect(LEVEL_SPAN).toBe(2 ** 32);
});

test("a smaller cap leaves a level open, also where that level was retired", () => {
  const all = Array.from({ length: LEVELS }, (_, level) => times(20, group(level, 1))).flat();
  const state = after(all);
  const shares = frontier.levels?.(config, state, viewOf([3]))[0];
  expect(shares?.retired).toEqual([true, true, false]);
  expect(shares?.shares[2]).toBeCloseTo(0.95, 12);
});
