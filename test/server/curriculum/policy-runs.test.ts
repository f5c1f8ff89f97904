/** Laws of runs, under every policy: what their tasks are does not depend on when and where they are asked for. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkPolicy } from "../../../server/curriculum/check-config.ts";
import { quotasOf } from "../../../server/curriculum/constraints.ts";
import type { Policy } from "../../../server/curriculum/types.ts";
import { policyExamples, PROMPTS } from "./policy-examples.ts";
import { trainBySchedule } from "./scheduled.ts";
import {
  adscArms,
  adscConstraints,
  banditPolicy,
  bench,
  competencePolicy,
  frontierPolicy,
  made,
  noConstraints,
  runConfig,
  type Runs,
  sourceOf,
  train,
  type Trace,
  value,
} from "./support.ts";

const BATCHES = 9;
const LENGTH = 12 * PROMPTS;

/** Pools of 40 rows, so that instances come again, ranked; the run's rewards depend on the instance. */
const source = sourceOf(({ arm, ordinal }) => {
  const row = (ordinal * 7 + 3) % 40;
  const task = made(`${arm.id}/${row}`);
  return task.kind === "task" ? { ...task, key: { ...task.key, rank: row / 40 } } : task;
});

const filter = { skipSolved: true, skipFailedAfter: 2, ranks: { min: 0, max: 0.9 } };

/** With ADSC's constraints, where a policy's phases can meet them, and with a filter. */
function configOf(policy: Policy) {
  const config = runConfig({ arms: adscArms, length: LENGTH, promptsPerUpdate: PROMPTS, numGenerations: 2 });
  const weights = adscArms.map(() => 1);
  const constrained = { ...policy, constraints: adscConstraints, filter };
  const fits = checkPolicy({ config, policy: constrained, weights, prompts: 0 }) === undefined;
  return { ...config, policy: fits ? constrained : { ...constrained, constraints: noConstraints } };
}

const without = (trace: Trace) => ({
  tasks: trace.tasks.map(({ incarnation: _, epoch: _epoch, ...task }) => task),
  batches: trace.batches.map(({ epoch: _, ...batch }) => batch),
});

test("all but the policy that moves on can meet ADSC's constraints", () => {
  const free = policyExamples.filter(({ policy }) => configOf(policy).policy.constraints === noConstraints);
  expect(free.map(({ name }) => name)).toEqual(["competence that moves on"]);
});

describe.each(policyExamples)("a run under $name", ({ policy }) => {
  const config = configOf(policy);
  const begin = async (): Promise<{ readonly runs: Runs; readonly again: () => Runs }> => {
    const { runs, store, clock } = bench({ source });
    value(await runs.create("run", config));
    return { runs, again: () => bench({ source, store, clock }).runs };
  };

  test("draws by its probabilities, and meets its constraints in every update batch", async () => {
    const { runs } = await begin();
    const { tasks, batches } = await train(runs, "run", BATCHES);
    for (const [batch, { probabilities: p, counts }] of batches.entries()) {
      expect(p.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
      const quotas = quotasOf(config.policy.constraints, batch, PROMPTS);
      const drawn = tasks.slice(batch * PROMPTS, (batch + 1) * PROMPTS).map(({ arm }) => adscArms[arm]);
      expect(drawn.filter((arm) => arm?.source === "real").length).toBeGreaterThanOrEqual(quotas.real);
      expect(drawn.filter((arm) => arm?.hard).length).toBeGreaterThanOrEqual(quotas.hard);
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(PROMPTS);
    }
    expect(tasks.every(({ key }) => (key.rank ?? 0) < filter.ranks.max)).toBe(true);
  });

  test("is the same however its trainer asks and answers", async () => {
    const expected = await train((await begin()).runs, "run", BATCHES);
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const { runs } = await begin();
        expect(await trainBySchedule(() => runs, "run", BATCHES * PROMPTS, seed)).toEqual(expected);
      }),
      { numRuns: 3 },
    );
  });

  test("goes on in the same way in another process, and from an export, at any point", async () => {
    const expected = without(await train((await begin()).runs, "run", BATCHES));
    for (let at = 1; at < BATCHES; at += 2) {
      const { runs, again } = await begin();
      const first = await train(runs, "run", at);
      const other = bench({ source });
      value(await other.runs.import(value(await runs.export("run")).state, undefined));
      for (const where of [again(), other.runs]) {
        const rest = without(await train(where, "run", BATCHES - at, at * PROMPTS));
        expect([...without(first).tasks, ...rest.tasks]).toEqual(expected.tasks);
        expect(rest.batches.slice(at)).toEqual(expected.batches.slice(at));
      }
    }
  });
});

const floored = [
  ...(["EMA_SOFTMAX", "EXP3_S", "THOMPSON", "UCB"] as const).map((rule) => ({
    name: rule,
    policy: banditPolicy({ rule, epsilon: 0.2 }),
    floor: 0.2 / adscArms.length,
  })),
  { name: "frontier", policy: frontierPolicy({ exploration: 0.2 }), floor: 0.2 / adscArms.length },
  // The least of the tiers' shares is that of real/T2 in the first, a tenth of its neighbours'.
  { name: "competence", policy: competencePolicy({ floor: 0.5, threshold: 1 }), floor: 0.5 / 4 / 21 },
];

test.each(floored)("under $name no arm with a floor starves", async ({ policy, floor }) => {
  const { runs } = bench();
  value(await runs.create("run", runConfig({ arms: adscArms, policy, promptsPerUpdate: 64, numGenerations: 2 })));
  const { batches } = await train(runs, "run", 20);
  for (const [arm, { id }] of adscArms.entries()) {
    const isOut = policy.kind === "competence" && /synthetic.T[123]/.test(id);
    const shares = batches.map(({ probabilities }) => probabilities[arm] ?? 0);
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(isOut ? 0 : floor - 1e-12);
    expect(batches.slice(10).some(({ counts }) => (counts[arm] ?? 0) > 0)).toBe(!isOut);
  }
});
