/** Tests of changed policies: the state that a new configuration keeps, the start of added arms, and refusals. */
import { describe, expect, test } from "vitest";
import { bandit } from "../../../server/curriculum/policies/bandit/bandit.ts";
import type { BanditConfig } from "../../../server/curriculum/policies/bandit/config.ts";
import { competence, type CompetenceConfig } from "../../../server/curriculum/policies/competence.ts";
import { domainOrder, forgetting, type ForgettingConfig } from "../../../server/curriculum/policies/forgetting.ts";
import type { ObservedGroup } from "../../../server/curriculum/policies/policy.ts";
import { definitionOf, readPolicy } from "../../../server/curriculum/policies/registry.ts";
import { staged } from "../../../server/curriculum/policies/staged.ts";
import type { Json } from "../../../server/curriculum/json.ts";
import { isInvalid, type Policy } from "../../../server/curriculum/types.ts";
import {
  adscArms,
  arm,
  ask,
  banditPolicy,
  bench,
  competencePolicy,
  feedbackFor,
  forgettingPolicy,
  replayPolicy,
  runConfig,
  stage,
  stagedPolicy,
  type Task,
  value,
} from "./support.ts";

const progress = { batch: 4, cursor: 40, length: 100, size: 10, promptsPerUpdate: 10 };
const banditConfig = (more: Partial<BanditConfig> = {}) => banditPolicy(more).config as BanditConfig;

function lesson(arm: number, signal: number, more: Partial<ObservedGroup> = {}): ObservedGroup {
  const unknown = { rank: undefined, rewardMean: undefined, rewardDeviation: undefined };
  return {
    arm,
    armId: `${arm}`,
    hash: "",
    weight: 1,
    probability: 0.5,
    ...unknown,
    solvedShare: signal,
    signal,
    ...more,
  };
}

const taught = (config: BanditConfig, ...lessons: readonly ObservedGroup[]) =>
  bandit.observe?.(config, bandit.initial(config, 2, 0), lessons) ?? bandit.initial(config, 2, 0);
const values = (config: BanditConfig, state: ReturnType<typeof taught>) => bandit.values?.(config, state);
const changed = (config: BanditConfig, before: BanditConfig) =>
  values(
    config,
    bandit.inherit?.(config, taught(before, lesson(0, 0.8), lesson(1, 0.4)), before, progress) ?? taught(config),
  );

describe("a bandit that is changed", () => {
  test("keeps its values under the same rule and signal, whatever its numbers are", () => {
    const after = changed(banditConfig({ tau: 9, alpha: 0.5 }), banditConfig());
    expect(after?.[0]).toBeCloseTo(0.12, 12);
    expect(after?.[1]).toBeCloseTo(0.06, 12);
  });

  test("keeps means between the rules that have them, and nothing to and from EXP3.S", () => {
    const [ucb, thompson, exp3] = (["UCB", "THOMPSON", "EXP3_S"] as const).map((rule) => banditConfig({ rule }));
    if (ucb === undefined || thompson === undefined || exp3 === undefined) throw new Error("three rules");
    expect(changed(thompson, ucb)).toEqual([0.8, 0.4]);
    expect(changed(banditConfig(), ucb)).toEqual([0.8, 0.4]);
    expect(changed(ucb, banditConfig({ alpha: 1 }))).toEqual([0.8, 0.4]);
    expect(changed(exp3, ucb)).toEqual([0, 0]);
    expect(changed(ucb, exp3)).toEqual([0, 0]);
  });

  test("starts afresh with another signal or another scale, but goes on with what learning progress has seen", () => {
    expect(changed(banditConfig({ signal: "SOLVED_VARIANCE" }), banditConfig())).toEqual([0, 0]);
    const rescale = { lowQuantile: 0.2, highQuantile: 0.8, window: 16 };
    expect(changed(banditConfig({ rescale }), banditConfig())).toEqual([0, 0]);
    const before = banditConfig({ signal: "LEARNING_PROGRESS" });
    const state = taught(before, lesson(0, 0.8));
    expect(bandit.inherit?.({ ...before, rescale }, state, before, progress)).toMatchObject({
      columns: [[0, 0]],
      tracks: { fast: [0.8, null], slow: [0.8, null] },
      window: [],
    });
  });

  test("has new arms begin with the mean of the others, or as never seen", () => {
    const sizes = (rule: BanditConfig["rule"]) => {
      const config = banditConfig({ rule });
      const state = taught(config, lesson(0, 0.8), lesson(1, 0.4));
      return values(config, bandit.resize?.(config, state, 3, 0) ?? state);
    };
    expect(sizes("EMA_SOFTMAX")?.[2]).toBeCloseTo(0.09, 12);
    expect(sizes("UCB")).toEqual([0.8, 0.4, 0]);
    expect(sizes("EXP3_S")?.[2]).toBe(0);
  });

  test("moves less by a group whose feedback is late", () => {
    const config = banditConfig({ alpha: 0.5 });
    expect(values(config, taught(config, lesson(0, 1, { weight: 0.5 })))).toEqual([0.25, 0]);
    expect(values(config, taught(config, lesson(0, 1), lesson(0, 0, { weight: 0.5 })))?.[0]).toBe(0.25);
  });
});

describe("other policies that are changed", () => {
  const stages = (...weights: readonly number[]) =>
    stagedPolicy(...weights.map((weight) => stage({ kind: "tasks", tasks: 30 }, { "real/T0": weight })))
      .config as Parameters<typeof staged.initial>[0];

  test("staged goes on in the stage of the same number, from where it began, or in its last", () => {
    const before = stages(1, 2, 3);
    const state = staged.initial(before, 8, 0);
    expect(staged.inherit?.(stages(4, 5, 6), state, before, progress)).toEqual({ stage: 1, from: 30 });
    expect(staged.inherit?.(stages(7), state, before, progress)).toEqual({ stage: 0, from: 30 });
  });

  test("competence keeps as many tiers open, and what the newest's groups solved if its arms are the same", () => {
    const before = competencePolicy().config as CompetenceConfig;
    const state = { tier: 2, recent: [0.1, 0.9, 0.5] };
    const inherit = (more: Partial<CompetenceConfig>) =>
      competence.inherit?.({ ...before, ...more }, state, before, progress);
    expect(inherit({ threshold: 0.9, window: 2 })).toEqual({ tier: 2, recent: [0.9, 0.5] });
    expect(inherit({ tiers: before.tiers.slice(0, 2) })).toEqual({ tier: 1, recent: [] });
    expect(inherit({ tiers: before.tiers.with(2, { "real/T1": 1 }) })).toEqual({ tier: 2, recent: [] });
  });

  test("forgetting goes on in its domain where the order up to there is the same", () => {
    const before = forgettingPolicy().config as ForgettingConfig;
    const state = forgetting.initial(before, 8, 0);
    // Means: code and writing −0.25, math −0.5; equals keep their order.
    expect(domainOrder(before).map(({ name }) => name)).toEqual(["code", "writing", "math"]);
    expect(domainOrder({ ...before, reversed: true }).map(({ name }) => name)).toEqual(["math", "code", "writing"]);
    const late = { ...progress, cursor: 60 };
    expect(forgetting.inherit?.(before, state, before, late)).toEqual({ stage: 1, from: 50 });
    expect(forgetting.inherit?.({ ...before, reversed: true }, state, before, late)).toEqual({ stage: 0, from: 60 });
  });
});

test("Advance opens a tier, and moves on through domains of a run without a length", async () => {
  const { runs } = bench();
  const policy = forgettingPolicy({
    domains: (forgettingPolicy().config as ForgettingConfig).domains.map((one) => ({ ...one, share: undefined })),
  });
  value(await runs.create("run", runConfig({ arms: adscArms, policy })));
  const drawn = async () => value(await runs.get("run")).state.policy.kind;
  expect(await drawn()).toBe("forgetting");
  for (let i = 0; i < 2; i++) value(await runs.advance("run"));
  expect(await runs.advance("run")).toEqual({
    kind: "failed_precondition",
    message: "the policy is already in the last of its 3 domains",
  });
  value(await runs.create("tiers", runConfig({ arms: adscArms, policy: competencePolicy() })));
  for (let i = 0; i < 3; i++) value(await runs.advance("tiers"));
  expect(await runs.advance("tiers")).toMatchObject({ message: "the policy has already opened all 4 tiers" });
});

describe("what cannot be is refused by its field", () => {
  const shape = { armIds: adscArms.map(({ id }) => id), length: 160 };
  const fieldOf = (policy: Policy) => definitionOf(policy).check(policy.config, shape)?.field;
  const read = (name: string, parameters: Json) => {
    const policy = readPolicy({ name, parameters, constraints: {}, filter: {} });
    return isInvalid(policy) ? policy.field : (fieldOf(policy) ?? "nothing");
  };

  test.each([
    [replayPolicy({ cycle: { kind: "cycles", cycles: 0 } }), "cycles"],
    [replayPolicy({ cycle: { kind: "tasks", tasks: 20 }, stages: [stage({ kind: "tasks", tasks: 21 })] }), "stages"],
    [replayPolicy({ stages: [] }), "stages"],
    [competencePolicy({ tiers: [] }), "tiers"],
    [competencePolicy({ tiers: [{ nobody: 1 }] }), 'tiers[0].weights["nobody"]'],
    [competencePolicy({ tiers: [{}] }), "tiers[0].weights"],
    [competencePolicy({ window: 257 }), "window"],
    [competencePolicy({ floor: 1 }), "floor"],
    [forgettingPolicy({ transfers: [{ trained: "cooking", changes: {} }] }), "transfers[0].trained"],
    [forgettingPolicy({ domains: [] }), "domains"],
    [stagedPolicy(stage({ kind: "open" }, {}, { min: 0.5, max: 0.4 })), "stages[0].ranks.max"],
    [banditPolicy({ progressSlowRate: 0.4 }), "learning_progress.slow_rate"],
    [banditPolicy({ rescale: { lowQuantile: 0.5, highQuantile: 0.5, window: 16 } }), "rescale.high_quantile"],
    [banditPolicy({ rescale: { lowQuantile: 0.2, highQuantile: 0.8, window: 15 } }), "rescale.window"],
  ])("%#: %o", (policy, field) => {
    expect(fieldOf(policy)).toBe(field);
  });

  test("a number that the rule and the signal do not read", () => {
    expect(read("bandit", { learning_progress: {} })).toBe("policy.bandit.learning_progress");
    expect(read("bandit", { ucb: { alpha: 0.2 } })).toBe("policy.bandit.ucb.alpha");
    expect(read("bandit", { ucb: { exploration: 0.2 } })).toBe("nothing");
    expect(read("replay", {})).toBe("policy.replay.cycle");
  });

  test("a signal of what was solved, where advantages are reported", async () => {
    const { runs } = bench();
    const reported = { arms: adscArms, feedbackSource: "reported" } as const;
    for (const [policy, field] of [
      [banditPolicy({ signal: "MIXED_OUTCOMES" }), "policy.bandit.signal"],
      [competencePolicy(), "policy.competence.threshold"],
    ] as const)
      expect(await runs.create("run", runConfig({ ...reported, policy }))).toMatchObject({ kind: "invalid", field });
    expect((await runs.create("run", runConfig({ ...reported, policy: banditPolicy({ rule: "UCB" }) }))).kind).toBe(
      "ok",
    );
  });
});

test.each(["EMA_SOFTMAX", "THOMPSON", "UCB"] as const)(
  "a bandit that draws by %s goes on among the arms that are not out as if they were all",
  async (rule) => {
    const policy = banditPolicy({ rule, tau: 0.05, exploration: 0.5 });
    const sharesOf = async (ids: readonly string[]): Promise<readonly number[]> => {
      const { runs } = bench();
      const arms = ids.map((id) => arm(id, { weight: id.startsWith("out") ? 0 : 1 }));
      const lag = { kind: "batches", count: 0 } as const;
      value(await runs.create("run", runConfig({ arms, policy, promptsPerUpdate: 16, lag })));
      for (let i = 0; i < 30; i++) {
        const { tasks } = value(await ask(runs, "run", 16 * i, 16));
        // One sample in two of the first arm has 0.3, and one in two of the second arm has 0.1.
        const rewardOf = (task: Task, sample: number): number => (sample % 2) * (task.arm === 0 ? 0.3 : 0.1);
        const items = tasks.flatMap((task) => [0, 1, 2, 3].map((n) => feedbackFor(task, n, rewardOf(task, n))));
        value(await runs.recordFeedback("run", items));
      }
      return value(await runs.get("run")).state.arms.map(({ probability }) => probability);
    };
    const [good = 0, fair = 0] = await sharesOf(["good", "fair"]);
    const beside = await sharesOf(["good", "fair", "out/a", "out/b"]);
    expect(beside[0]).toBeCloseTo(good, 9);
    expect(beside[1]).toBeCloseTo(fair, 9);
    expect(beside.slice(2)).toEqual([0, 0]);
  },
);
