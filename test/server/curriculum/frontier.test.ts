/**
 * Tests of the default policy in runs: its notion of success, the effect of weights, and its draws when nothing is left
 * to learn.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rngFor } from "../../../envs/lib/rng.ts";
import type { SampleResult } from "../../../server/curriculum/batches.ts";
import type { MeasureName } from "../../../server/curriculum/signals.ts";
import { frontier, type FrontierConfig } from "../../../server/curriculum/policies/frontier.ts";
import type { ObservedGroup, View } from "../../../server/curriculum/policies/policy.ts";
import {
  arm,
  ask,
  bench,
  feedbackFor,
  frontierPolicy,
  mixturePolicy,
  runConfig,
  type RunConfig,
  type Runs,
  type Task,
  value,
} from "./support.ts";

const GENERATIONS = 2;

function configOf(ids: readonly string[], more: Partial<FrontierConfig> = {}, weights: readonly number[] = []) {
  return runConfig({
    arms: ids.map((id, i) => arm(id, { weight: weights[i] ?? 1, rewardRange: { min: -1, max: 1 } })),
    policy: frontierPolicy(more),
    numGenerations: GENERATIONS,
    promptsPerUpdate: 2 * ids.length,
    length: 0,
    lag: { kind: "batches", count: 0 },
  });
}

/** Draws a batch and answers it. */
async function batch(runs: Runs, from: number, size: number, resultOf: (task: Task) => SampleResult): Promise<number> {
  const { tasks } = value(await ask(runs, "run", from, size));
  const items = tasks.flatMap((task) =>
    Array.from({ length: GENERATIONS }, (_, sample) => ({ ...feedbackFor(task, sample), result: resultOf(task) })),
  );
  value(await runs.recordFeedback("run", items));
  return from + tasks.length;
}

async function valuesAfter(measure: MeasureName, result: SampleResult): Promise<number | undefined> {
  const { runs } = bench();
  value(await runs.create("run", configOf(["only"], { measure })));
  let cursor = 0;
  for (let i = 0; i < 30; i++) cursor = await batch(runs, cursor, 2, () => result);
  const { state } = value(await runs.get("run"));
  return state.arms[0]?.value;
}

test("clients see how fast an arm's success rises, and its practice without progress", async () => {
  const { runs } = bench();
  value(await runs.create("run", configOf(["even", "rising", "never"], {}, [1, 1, 0])));
  expect(value(await runs.get("run")).state.arms[0]?.practised).toEqual({ rise: 1, practice: 0 });
  let cursor = 0;
  for (let i = 0; i < 12; i++) {
    cursor = await batch(runs, cursor, 6, (task) => {
      const quality = task.arm === 0 ? 0.5 : Number(i > 8);
      return { kind: "reward", reward: quality, solved: quality === 1, quality };
    });
  }
  // The draw takes in the feedback of the batches before it.
  value(await ask(runs, "run", cursor, 6));
  const { arms } = value(await runs.get("run")).state;
  expect(arms[0]?.practised?.rise).toBe(0);
  expect(arms[0]?.practised?.practice).toBeGreaterThan(4);
  expect(arms[1]?.practised?.rise).toBeGreaterThan(0.5);
  expect(arms[1]?.practised?.practice).toBe(0);
  expect(arms[2]?.practised).toEqual({ rise: 1, practice: 0 });
});

test("a policy that measures no progress shows none", async () => {
  const { runs } = bench();
  value(await runs.create("run", { ...configOf(["only"]), policy: mixturePolicy() }));
  expect(value(await runs.get("run")).state.arms[0]).not.toHaveProperty("practised");
});

describe("success is", () => {
  const near = { kind: "reward", reward: 0.2, solved: false, quality: 0.9 } as const;

  test("how good the answers are: an optimum that is never hit is not hopeless", async () => {
    expect(await valuesAfter("QUALITY", near)).toBeCloseTo(0.9, 1);
    expect(await valuesAfter("SOLVED", near)).toBeCloseTo(0, 1);
    expect(await valuesAfter("REWARD", near)).toBeCloseTo(0.6, 1);
  });

  test("whether it is solved, where no more is to be said", async () => {
    expect(await valuesAfter("QUALITY", { kind: "reward", reward: 1, solved: true })).toBeCloseTo(1, 1);
    expect(await valuesAfter("QUALITY", { kind: "reward", reward: 1, solved: false })).toBeCloseTo(0, 1);
  });

  test("of reported advantages the mean reward, and nothing where none is told", async () => {
    const told = async (rewardMean: number | undefined): Promise<readonly number[]> => {
      const { runs } = bench();
      value(await runs.create("run", { ...configOf(["a", "b"]), feedbackSource: "reported" }));
      for (let from = 0; from < 80; from += 4) {
        const { tasks } = value(await ask(runs, "run", from, 4));
        const means = tasks.map((task) => (task.arm === 0 ? rewardMean : rewardMean && -1));
        value(
          await runs.reportAdvantages(
            "run",
            tasks.map((task, i) => ({ ...task, advantages: [0.5, -0.5], rewardMean: means[i] })),
          ),
        );
      }
      return value(await runs.get("run")).state.arms.map(({ probability }) => probability);
    };
    const [a = 0, b = 0] = await told(-0.4);
    expect(a).toBeGreaterThan(2 * b);
    expect(await told(undefined)).toEqual([0.5, 0.5]);
  });
});

/** Returns the arms' shares after update batches in which an arm's samples succeed with the probability of `chance`. */
async function sharesAfter(
  ids: readonly string[],
  batches: number,
  quality: readonly number[],
  weights?: readonly number[],
) {
  const { runs } = bench();
  value(await runs.create("run", configOf(ids, {}, weights)));
  let cursor = 0;
  for (let i = 0; i < batches; i++)
    cursor = await batch(runs, cursor, 2 * ids.length, (task) => ({
      kind: "reward",
      reward: 0,
      solved: false,
      quality: quality[task.arm] ?? 0,
    }));
  return value(await runs.get("run")).state.arms.map(({ probability }) => probability);
}

test("where there is nothing to learn all arms are alike, however many", async () => {
  const ids = Array.from({ length: 30 }, (_, i) => `arm-${i}`);
  const shares = await sharesAfter(ids, 60, []);
  for (const share of shares) expect(share).toBeCloseTo(1 / 30, 2);
});

test("what begins to be learnt is drawn, and no arm falls under its share of exploration", async () => {
  const shares = await sharesAfter(["mastered", "frontier", "hopeless"], 6, [1, 0.25, 0]);
  expect(shares[1]).toBeGreaterThan(0.8);
  for (const share of shares) expect(share).toBeGreaterThanOrEqual(0.1 / 3 - 1e-12);
});

test("practice that moves nothing wears off", async () => {
  const coin = async (batches: number): Promise<number | undefined> =>
    (await sharesAfter(["coin", "hopeless", "mastered"], batches, [0.5, 0, 1]))[0];
  const [early = 0, late = 1] = [await coin(10), await coin(300)];
  expect(late).toBeLessThan(early / 1.5);
});

test("practice is measured by prompts_per_update, whatever is drawn beside them and however short the last batch is", async () => {
  const shares = async (practiceScale: number | undefined, more: Partial<RunConfig>) => {
    const { runs } = bench();
    const config = configOf(["coin", "other"], { practiceScale });
    value(await runs.create("run", { ...config, promptsPerUpdate: 16, length: 100, ...more }));
    for (let left = 20, done = false; !done && left > 0; left--) {
      const batch = value(await ask(runs, "run"));
      const items = batch.tasks.flatMap((task) =>
        [0, 1].map((i) => feedbackFor(task, i, task.key.name.startsWith("coin") ? i : 0)),
      );
      value(await runs.recordFeedback("run", items));
      ({ done } = batch);
    }
    const { items } = value(await runs.history("run", 0, 100));
    return items.flatMap((item) => (item.kind === "batch" ? [item.probabilities] : []));
  };
  const dynamicSampling = { oversampleMax: 4, alike: "rewards" } as const;
  const short = await shares(undefined, {});
  expect(short).toHaveLength(7);
  expect(short).toEqual(await shares(16, {}));
  expect(await shares(undefined, { dynamicSampling })).toEqual(await shares(16, { dynamicSampling }));
});

test("weights take arms out, and do nothing else", async () => {
  const quality = [0.25, 0.25, 0];
  const even = await sharesAfter(["a", "b", "c"], 8, quality);
  expect(await sharesAfter(["a", "b", "c"], 8, quality, [5, 1, 0.1])).toEqual(even);
  const [a = 0, b = 0, c] = await sharesAfter(["a", "b", "c"], 8, quality, [1, 1, 0]);
  expect(c).toBe(0);
  expect(a + b).toBeCloseTo(1, 12);
});

describe("no arm that can be drawn has less than ε/n", () => {
  const share = fc.integer({ min: 0, max: 16 }).map((k) => k / 16);
  const arms = fc.integer({ min: 1, max: 40 });
  const history = fc.array(fc.record({ arm: fc.nat(39), signal: share, weight: fc.constantFrom(1, 0.25) }), {
    maxLength: 400,
  });

  test("whatever happened, of any number of arms, some of which are out", () => {
    fc.assert(
      fc.property(
        arms,
        history,
        fc.double({ min: 1e-6, max: 1, noNaN: true }),
        fc.nat(),
        (count, groups, epsilon, out) => {
          const { config } = frontierPolicy({ exploration: epsilon }) as { config: FrontierConfig };
          const observed = groups.map((group) => ({ ...blankGroup, ...group, arm: group.arm % count }));
          const state = frontier.observe?.(config, frontier.initial(config, count, 0), observed);
          const weights = Array.from({ length: count }, (_, i) => (count > 1 && i % 7 === out % 7 && i > 0 ? 0 : 1));
          const drawable = weights.filter((weight) => weight > 0).length;
          const p = frontier.probabilities(config, state ?? frontier.initial(config, count, 0), viewOf(weights));
          for (const [i, weight] of weights.entries())
            if (weight > 0) expect(p[i]).toBeGreaterThanOrEqual((epsilon / drawable) * (1 - 1e-9));
            else expect(p[i]).toBe(0);
          expect(p.reduce((sum, each) => sum + each, 0)).toBeCloseTo(1, 9);
        },
      ),
    );
  });
});

const blankGroup: ObservedGroup = {
  arm: 0,
  armId: "",
  probability: 0,
  weight: 1,
  hash: "",
  rank: undefined,
  signal: undefined,
  rewardMean: undefined,
  rewardDeviation: undefined,
  solvedShare: undefined,
};

function viewOf(weights: readonly number[]): View {
  const known = { source: "synthetic", hard: false, issued: 0, groups: 0 } as const;
  const nothing = { rewardMean: undefined, solvedShare: undefined };
  return {
    progress: { batch: 0, cursor: 0, length: 0, size: 16, promptsPerUpdate: 16 },
    rng: () => rngFor("unused"),
    arms: weights.map((weight, i) => ({ id: String(i), weight, ...known, ...nothing })),
  };
}

describe("measures by arm", () => {
  const near = { kind: "reward", reward: 0.2, solved: false, quality: 0.9 } as const;
  const improved = (improvement: number) => () => ({ improvement, "component:format": 1 });

  async function valuesOf(more: Partial<FrontierConfig>, facts?: () => Readonly<Record<string, number>>) {
    const { runs, store, clock } = bench();
    value(await runs.create("run", configOf(["a", "b"], more)));
    for (let from = 0; from < 80; from += 4) {
      const { tasks } = value(await ask(runs, "run", from, 4));
      const items = tasks.flatMap((task) =>
        [0, 1].map((sample) => ({ ...feedbackFor(task, sample), result: near, ...(facts && { facts }) })),
      );
      value(await runs.recordFeedback("run", items));
    }
    // Another process reads the state from the journal.
    const { state } = value(await bench({ store, clock }).runs.get("run"));
    return state.arms.map(({ value: of }) => of);
  }

  test("an arm has its own, and the others the run's", async () => {
    const [a = 0, b = 0] = await valuesOf({ armMeasures: { b: "SOLVED" } });
    expect(a).toBeCloseTo(0.9, 1);
    expect(b).toBeCloseTo(0, 1);
  });

  test("improvement over the trivial answer is kept in the journal, and is the quality where it is not known", async () => {
    expect((await valuesOf({ measure: "IMPROVEMENT" }, improved(0.25)))[0]).toBeCloseTo(0.25, 1);
    expect((await valuesOf({ armMeasures: { a: "IMPROVEMENT" } }, improved(0.25)))[1]).toBeCloseTo(0.9, 1);
    expect((await valuesOf({ measure: "IMPROVEMENT" }))[0]).toBeCloseTo(0.9, 1);
  });

  test("one of an arm that the run does not have is refused", async () => {
    const { runs } = bench();
    const refused = await runs.create("run", configOf(["a"], { armMeasures: { other: "SOLVED" } }));
    expect(refused).toMatchObject({
      field: 'policy.frontier.arm_measures["other"]',
      message: "is not an arm of the run",
    });
  });
});
