/** Configurations that would do nothing, or not what they say: refused when a run is created, checked or changed. */
import { describe, expect, test } from "vitest";
import { checkConfig, checkWeights } from "../../../server/curriculum/check-config.ts";
import type { Policy } from "../../../server/curriculum/types.ts";
import {
  adscArms,
  banditPolicy,
  bench,
  competencePolicy,
  forgettingPolicy,
  frontierPolicy,
  mixturePolicy,
  replayPolicy,
  runConfig,
  stage,
  stagedPolicy,
  value,
} from "./support.ts";

const TINY = [1e-300, 5e-324, 1e-9] as const;
const HUGE = [1e300, Infinity, NaN] as const;
const BELOW = [-1e-300, -1] as const;

type More = Parameters<typeof runConfig>[0] & object;
type Given = (number: number) => More;
const adsc = (policy: Policy): More => ({ arms: adscArms, length: 1000, policy });
const bandit = (more: (number: number) => Parameters<typeof banditPolicy>[0]): Given => {
  return (number) => ({ policy: banditPolicy(more(number)) });
};
const constrained = (name: "realShareMin" | "syntheticShareMax" | "hardShareMin"): Given => {
  const free = { realShareMin: 0, syntheticShareMax: 1, hardShareMin: 0, hardWarmupBatches: 0 };
  return (number) => ({ arms: adscArms, policy: mixturePolicy({ ...free, [name]: number }) });
};

/** Every number of every policy and of what is around it; whether it may be 0. */
const numbers: readonly (readonly [field: string, given: Given, zero: boolean])[] = [
  ["policy.bandit.ema_softmax.tau", bandit((tau) => ({ tau })), false],
  ["policy.bandit.ema_softmax.alpha", bandit((alpha) => ({ alpha })), false],
  ["policy.bandit.epsilon", bandit((epsilon) => ({ epsilon })), true],
  ["policy.bandit.exp3_s.rate", bandit((exp3Rate) => ({ rule: "EXP3_S", exp3Rate })), false],
  ["policy.bandit.exp3_s.share", bandit((exp3Share) => ({ rule: "EXP3_S", exp3Share })), true],
  ["policy.bandit.ucb.discount", bandit((discount) => ({ rule: "UCB", discount })), false],
  ["policy.bandit.ucb.exploration", bandit((exploration) => ({ rule: "UCB", exploration })), true],
  [
    "policy.bandit.learning_progress.slow_rate",
    bandit((progressSlowRate) => ({ signal: "LEARNING_PROGRESS", progressSlowRate })),
    false,
  ],
  ["policy.frontier.exploration", (exploration) => adsc(frontierPolicy({ exploration })), false],
  ["policy.frontier.practice_scale", (practiceScale) => adsc(frontierPolicy({ practiceScale })), false],
  ["policy.competence.threshold", (threshold) => adsc(competencePolicy({ threshold })), false],
  ["policy.competence.floor", (floor) => adsc(competencePolicy({ floor })), true],
  ["policy.competence.newest_share", (newestShare) => adsc(competencePolicy({ newestShare })), false],
  [
    'policy.competence.tiers[0].weights["real/T0"]',
    (weight) => adsc(competencePolicy({ tiers: [{ "real/T0": weight }] })),
    false,
  ],
  ["policy.staged.stages[0].share", (share) => adsc(stagedPolicy(stage({ kind: "share", share }))), false],
  [
    'policy.staged.stages[0].weights["real/T0"]',
    (weight) => adsc(stagedPolicy(stage({ kind: "open" }, { "real/T0": weight, "real/T1": 1 }))),
    true,
  ],
  [
    'policy.replay.stages[0].weights["real/T0"]',
    (weight) => adsc(replayPolicy({ stages: [stage({ kind: "open" }, { "real/T0": weight, "real/T1": 1 })] })),
    true,
  ],
  [
    "policy.forgetting.domains[0].share",
    (share) =>
      adsc(
        forgettingPolicy({
          domains: [
            { name: "math", weights: { "real/T0": 1 }, share },
            { name: "code", weights: { "real/T1": 1 }, share: undefined },
          ],
          transfers: [],
        }),
      ),
    false,
  ],
  ["policy.constraints.real_share_min", constrained("realShareMin"), true],
  ["policy.constraints.hard_share_min", constrained("hardShareMin"), true],
  ["policy.constraints.synthetic_share_max", constrained("syntheticShareMax"), true],
  [
    "arms[0].weight",
    (weight) => ({ arms: runConfig().arms.map((arm, i) => (i === 0 ? { ...arm, weight } : arm)) }),
    true,
  ],
  ["late_feedback.weight", (weight) => ({ lateFeedback: { batchesMax: 1, weight } }), true],
];

describe.each(numbers)("%s", (field, given, zero) => {
  const problem = (number: number) => {
    const config = runConfig(given(number));
    return checkConfig(config)?.field;
  };

  test.each([...TINY, ...HUGE, ...BELOW])("is refused as %d", (number) => expect(problem(number)).toBe(field));

  test(zero ? "may be 0" : "may not be 0", () => expect(problem(0) === field).toBe(!zero));
});

describe("one completion of each prompt", () => {
  const one = (more: More) => checkConfig(runConfig({ numGenerations: 1, ...more }));

  test.each(["ABSOLUTE_ADVANTAGE", "SOLVED_VARIANCE", "MIXED_OUTCOMES"] as const)(
    "is refused with the signal %s",
    (signal) => {
      const found = one({ policy: banditPolicy({ signal }) });
      expect(found).toMatchObject({ field: "num_generations", message: expect.stringContaining(signal) as string });
      expect(checkConfig(runConfig({ numGenerations: 2, policy: banditPolicy({ signal }) }))).toBeUndefined();
    },
  );

  test("is refused with dynamic sampling", () => {
    for (const alike of ["rewards", "solved"] as const)
      expect(one({ policy: mixturePolicy(), dynamicSampling: { oversampleMax: 2, alike } })).toMatchObject({
        field: "num_generations",
        message: expect.stringContaining("dynamic_sampling") as string,
      });
  });

  test("will do where nothing compares it, or the trainer's advantages come from elsewhere", () => {
    expect(one({ policy: mixturePolicy() })).toBeUndefined();
    expect(one({ policy: banditPolicy({ signal: "LEARNING_PROGRESS" }) })).toBeUndefined();
    expect(one({ arms: adscArms, policy: competencePolicy() })).toBeUndefined();
    const reported = { feedbackSource: "reported" } as const;
    expect(one({ policy: banditPolicy(), ...reported })).toBeUndefined();
    const dynamicSampling = { oversampleMax: 2, alike: "rewards" } as const;
    expect(one({ policy: mixturePolicy(), dynamicSampling, ...reported })).toBeUndefined();
  });

  test("is refused to a run that is going on, by its shape or by its policy", async () => {
    const { runs } = bench();
    value(await runs.create("bandit", runConfig()));
    const unchanged = {
      addArms: [],
      removeArms: [],
      promptsPerUpdate: undefined,
      length: undefined,
      policy: undefined,
    };
    const shape = await runs.updateShape("bandit", { ...unchanged, numGenerations: 1 });
    expect(shape).toMatchObject({ kind: "invalid", field: "num_generations" });
    value(await runs.create("mixture", runConfig({ numGenerations: 1, policy: mixturePolicy() })));
    expect(await runs.updatePolicy("mixture", banditPolicy())).toMatchObject({ field: "num_generations" });
  });
});

test("weights that are set are held to the same", () => {
  for (const weight of [...TINY, ...HUGE, ...BELOW]) expect(checkWeights(runConfig(), { a: weight })).toBeDefined();
  expect(checkWeights(runConfig(), { a: 0, b: 1e-6, c: 1e12 })).toBeUndefined();
});
