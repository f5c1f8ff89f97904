/** Tests of changes to a run: those that change nothing say so, and those that change something do not. */
import { describe, expect, test } from "vitest";
import type { AppliesFrom } from "../../../server/runs/runs.ts";
import type { Policy, Result } from "../../../server/curriculum/types.ts";
import {
  arm,
  ask,
  answer,
  banditPolicy,
  bench,
  competencePolicy,
  forgettingPolicy,
  mixturePolicy,
  replayPolicy,
  runConfig,
  stage,
  stagedPolicy,
  value,
} from "./support.ts";

const arms = ["real/T0", "real/T1", "real/T2", "real/T3", "synthetic/T0", "synthetic/T3"].map((id) => arm(id));

async function runOf(policy: Policy, length = 1000) {
  const { runs } = bench();
  value(await runs.create("run", runConfig({ arms, policy, length })));
  return runs;
}

type Weights = Readonly<Record<string, number>>;
const apart = stagedPolicy(
  stage({ kind: "tasks", tasks: 6 }, { "real/T0": 1 }),
  stage({ kind: "open" }, { "real/T1": 1 }),
);
const tiers = competencePolicy({ tiers: [{ "real/T0": 1 }, { "real/T1": 1, "real/T2": 1 }] });

const cases: readonly (readonly [what: string, policy: Policy, weights: Weights, says: RegExp | undefined])[] = [
  ["a bandit's arm", banditPolicy(), { "real/T0": 0.5 }, /the policy bandit chooses arms by what it has learnt/],
  [
    "a bandit's arms",
    banditPolicy({ rule: "UCB" }),
    { "real/T0": 5, "real/T1": 3 },
    /"real\/T0", "real\/T1": the policy bandit/,
  ],
  ["a bandit's arm, taken out", banditPolicy(), { "real/T0": 0 }, undefined],
  ["a mixture's arm, taken out beside one that stays", mixturePolicy(), { "real/T0": 0, "real/T1": 1 }, undefined],
  ["a mixture's arm", mixturePolicy(), { "real/T0": 0.5 }, undefined],
  ["a mixture's arm, as it is", mixturePolicy(), { "real/T0": 1 }, /the arms already have this weight/],
  [
    "all of a mixture's arms alike",
    mixturePolicy(),
    Object.fromEntries(arms.map(({ id }) => [id, 3])),
    /the shares do not change/,
  ],
  ["an arm alone in its stage", apart, { "real/T0": 4 }, /the shares do not change/],
  ["an arm that no stage has", apart, { "synthetic/T3": 4 }, /the shares do not change/],
  ["an arm beside others in its stage", replayPolicy(), { "real/T1": 4 }, undefined],
  ["an arm alone in its tier", tiers, { "real/T0": 4 }, /the shares do not change/],
  ["an arm beside another in its tier", tiers, { "real/T1": 4 }, undefined],
  ["an arm of a domain", forgettingPolicy(), { "real/T1": 4 }, undefined],
  ["nothing", mixturePolicy(), {}, /no weight was given/],
];

describe("weights", () => {
  test.each(cases)("of %s", async (_, policy, weights, says) => {
    const runs = await runOf(policy);
    const { noEffect } = value(await runs.setWeights("run", weights));
    expect(noEffect).toEqual(says === undefined ? [] : [expect.stringMatching(says)]);
  });

  test.each(cases.filter(([, , weights]) => Object.keys(weights).length > 0))(
    "of %s: the draws agree",
    async (_, policy, weights, says) => {
      const [plain, changed] = [await runOf(policy), await runOf(policy)];
      value(await changed.setWeights("run", weights));
      const drawn = async (runs: typeof plain): Promise<unknown> => {
        for (let batch = 0; batch < 4; batch++) {
          const { tasks } = value(await ask(runs, "run", batch * 6, 6));
          await answer(runs, "run", tasks);
        }
        const { items } = value(await runs.history("run", 0, 100));
        return items.flatMap((item) => ("probabilities" in item ? [item.probabilities] : []));
      };
      // A later stage or tier may be what changes.
      if (says !== undefined) expect(await drawn(changed)).toEqual(await drawn(plain));
      else expect(value(await changed.get("run")).state.arms).not.toEqual(value(await plain.get("run")).state.arms);
    },
  );
});

test("of a bandit's weights that do something beside some that do not, those are named that do not", async () => {
  const runs = await runOf(banditPolicy());
  expect(value(await runs.setWeights("run", { "real/T0": 0, "real/T1": 5, "real/T2": 1 })).noEffect).toEqual([
    expect.stringMatching(/^"real\/T1", "real\/T2": the policy bandit/),
  ]);
});

const none = { addArms: [], removeArms: [], numGenerations: undefined, promptsPerUpdate: undefined, length: undefined };

describe("other changes", () => {
  test("that leave all as it is say so", async () => {
    const runs = await runOf(mixturePolicy(), 6);
    const noEffects = async (change: Promise<Result<AppliesFrom>>) => value(await change).noEffect;
    expect(await noEffects(runs.updatePolicy("run", mixturePolicy()))).toEqual([
      expect.stringContaining("the run already has this policy"),
    ]);
    expect(await noEffects(runs.updatePolicy("run", banditPolicy()))).toEqual([]);
    expect(await noEffects(runs.resume("run"))).toEqual(["the run is not paused"]);
    expect(await noEffects(runs.pause("run"))).toEqual([]);
    expect(await noEffects(runs.pause("run"))).toEqual(["the run is already paused"]);
    expect(await noEffects(runs.resume("run"))).toEqual([]);
    const shape = { ...none, policy: undefined };
    expect(await noEffects(runs.updateShape("run", { ...shape, numGenerations: 4 }))).toEqual([
      "num_generations is already 4",
    ]);
    expect(await noEffects(runs.updateShape("run", { ...shape, numGenerations: 5 }))).toEqual([]);
    expect(await noEffects(runs.updateShape("run", shape))).toEqual(["the request contains no change"]);
  });

  test("of a run that has issued all its tasks say so, but for one that makes it longer", async () => {
    const runs = await runOf(mixturePolicy(), 6);
    value(await ask(runs, "run", 0, 6));
    expect(value(await runs.setWeights("run", { "real/T0": 2 })).noEffect).toEqual([
      "the run has issued all of its 6 tasks: it draws no more unless you raise its length",
    ]);
    expect(value(await runs.updateShape("run", { ...none, policy: undefined, length: 12 })).noEffect).toEqual([]);
  });
});
