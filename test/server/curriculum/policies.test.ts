import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bandit } from "../../../server/curriculum/policies/bandit.ts";
import { activePolicy } from "../../../server/curriculum/policies/index.ts";
import { mixture } from "../../../server/curriculum/policies/mixture.ts";
import type { ArmSignal } from "../../../server/curriculum/policies/policy.ts";
import { noConstraints, type Policy } from "../../../server/curriculum/types.ts";
import { banditPolicy } from "./support.ts";

const everyPolicy: readonly { readonly name: string; readonly policy: Policy }[] = [
  { name: "mixture", policy: { kind: "mixture", constraints: noConstraints } },
  { name: "bandit", policy: banditPolicy() },
  { name: "bandit that only explores", policy: banditPolicy({ epsilon: 1 }) },
  { name: "bandit that only exploits", policy: banditPolicy({ epsilon: 0, tau: 1e-3, alpha: 1 }) },
];

const armCounts = fc.integer({ min: 1, max: 12 });
const inputs = armCounts.chain((count) =>
  fc.record({
    count: fc.constant(count),
    weights: fc.array(fc.double({ min: 1e-3, max: 1e6, noNaN: true }), { minLength: count, maxLength: count }),
    batches: fc.array(
      fc.array(fc.record({ arm: fc.nat(count - 1), signal: fc.double({ min: 0, max: 1, noNaN: true }) }), {
        maxLength: 20,
      }),
      { maxLength: 10 },
    ),
  }),
);

describe.each(everyPolicy)("every policy: $name", ({ policy }) => {
  const after = (count: number, batches: readonly (readonly ArmSignal[])[]) =>
    batches.reduce(
      (now, signals) => activePolicy(policy, now.fold(signals), count),
      activePolicy(policy, undefined, count),
    );

  test("gives probabilities that are at least 0 and sum to 1", () => {
    fc.assert(
      fc.property(inputs, ({ count, weights, batches }) => {
        const p = after(count, batches).probabilities(weights);
        expect(p).toHaveLength(count);
        expect(p.every((share) => share >= 0 && share <= 1 + 1e-12)).toBe(true);
        expect(p.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
      }),
    );
  });

  test("is pure: the same batches give the same state, which JSON keeps, and inputs stay as they are", () => {
    fc.assert(
      fc.property(inputs, ({ count, weights, batches }) => {
        const frozen = Object.freeze(batches.map((batch) => Object.freeze(batch.map(Object.freeze) as ArmSignal[])));
        const once = after(count, frozen);
        const kept = JSON.parse(JSON.stringify(once.state)) as typeof once.state;
        expect(after(count, frozen).state).toEqual(once.state);
        expect(activePolicy(policy, kept, count).probabilities(weights)).toEqual(once.probabilities(weights));
      }),
    );
  });

  test("has a value for each arm, 0 before anything was fed back, and is not moved by a batch without signals", () => {
    const fresh = activePolicy(policy, undefined, 3);
    expect(fresh.values()).toEqual([0, 0, 0]);
    const moved = after(3, [[{ arm: 1, signal: 0.5 }]]);
    expect(moved.fold([])).toEqual(moved.state);
  });
});

test("a mixture follows the weights", () => {
  const policy = { kind: "mixture", constraints: noConstraints } as const;
  expect(mixture.probabilities(policy, mixture.initial(3), [1, 4, 5])).toEqual([0.1, 0.4, 0.5]);
  expect(mixture.possible([0, 2])).toEqual([false, true]);
});

describe("the bandit of ADSC", () => {
  const policy = banditPolicy();

  test("begins evenly", () => {
    expect(bandit.probabilities(policy, bandit.initial(8), [])).toEqual(new Array(8).fill(0.125));
  });

  test("has the values and probabilities of three updates worked by hand", () => {
    // Equation 5 with α = .15; arm 0 has signals .5 and .3 (mean .4), then none, then 1; arm 1 has .2, .2, none.
    const first = bandit.fold(policy, bandit.initial(3), [
      { arm: 0, signal: 0.5 },
      { arm: 1, signal: 0.2 },
      { arm: 0, signal: 0.3 },
    ]);
    expect(first.values[0]).toBeCloseTo(0.06, 15);
    expect(first.values[1]).toBeCloseTo(0.03, 15);
    expect(first.values[2]).toBe(0);
    const second = bandit.fold(policy, first, [{ arm: 1, signal: 0.2 }]);
    expect(second.values[0]).toBe(first.values[0]);
    expect(second.values[1]).toBeCloseTo(0.0555, 15);
    const third = bandit.fold(policy, second, [{ arm: 0, signal: 1 }]);
    expect(third.values[0]).toBeCloseTo(0.201, 15);
    // Equation 6 with τ = .25, ε = .1: exponents .804, .222 and 0, so 2.234458…, 1.248571… and 1 of 4.483029….
    const p = bandit.probabilities(policy, third, []);
    expect(p[0]).toBeCloseTo(0.9 * (2.234459 / 4.48303) + 0.1 / 3, 6);
    expect(p[1]).toBeCloseTo(0.9 * (1.248571 / 4.48303) + 0.1 / 3, 6);
    expect(p[2]).toBeCloseTo(0.9 * (1 / 4.48303) + 0.1 / 3, 6);
  });

  test("never lets an arm fall below ε/n, and survives any temperature", () => {
    const state = { kind: "bandit", values: [1, 0, 0, 0] } as const;
    const p = bandit.probabilities(banditPolicy({ tau: 1e-9 }), state, []);
    expect(p).toEqual([0.9 + 0.025, 0.025, 0.025, 0.025]);
  });
});

test("a policy of another kind starts afresh, one of the same kind goes on", () => {
  const learned = { kind: "bandit", values: [0.3, 0.1] } as const;
  expect(activePolicy(banditPolicy({ tau: 9 }), learned, 2).state).toBe(learned);
  const between = activePolicy({ kind: "mixture", constraints: noConstraints }, learned, 2).state;
  expect(activePolicy(banditPolicy(), between, 2).values()).toEqual([0, 0]);
});
