import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rngFor } from "../../../envs/lib/rng.ts";
import { armClasses, assignSlots, checkConstraints, quotasOf } from "../../../server/curriculum/constraints.ts";
import type { Arm, Constraints, Policy } from "../../../server/curriculum/types.ts";
import { adscArms, adscConstraints, arm, banditPolicy, mixturePolicy, noConstraints } from "./support.ts";

const shares = fc.integer({ min: 0, max: 20 }).map((twentieths) => twentieths / 20);
const anyArms = fc.array(
  fc.record({
    source: fc.constantFrom("real" as const, "synthetic" as const, "teacher" as const),
    hard: fc.boolean(),
    weight: fc.constantFrom(0, 0.01, 1, 5),
  }),
  { minLength: 1, maxLength: 8 },
);
const anyRun = fc.record({
  arms: anyArms.map((kinds) => kinds.map((kind, i) => arm(`arm${i}`, kind))),
  constraints: fc.record<Constraints>({
    realShareMin: shares,
    syntheticShareMax: shares,
    hardShareMin: shares,
    hardWarmupBatches: fc.constantFrom(0, 3),
  }),
  size: fc.integer({ min: 1, max: 40 }),
  mixture: fc.boolean(),
  seed: fc.nat(),
});

function policyOf(mixture: boolean, constraints: Constraints): Policy {
  return mixture ? mixturePolicy(constraints) : banditPolicy({}, constraints);
}

function possibleOf(arms: readonly Arm[]): readonly boolean[] {
  return arms.map(({ weight }) => weight > 0);
}

/** Returns whether any batch of this size meets the quotas, by trying all counts of the four classes. */
function canBeMet(arms: readonly Arm[], possible: readonly boolean[], real: number, hard: number, size: number) {
  const has = (isReal: boolean, isHard: boolean) =>
    arms.some((one, i) => possible[i] && (one.source === "real") === isReal && one.hard === isHard);
  const most = (there: boolean) => (there ? size : 0);
  for (let realHard = 0; realHard <= most(has(true, true)); realHard++) {
    for (let realEasy = 0; realEasy <= most(has(true, false)); realEasy++) {
      for (let otherHard = 0; otherHard <= most(has(false, true)); otherHard++) {
        const otherEasy = size - realHard - realEasy - otherHard;
        if (otherEasy < 0 || (otherEasy > 0 && !has(false, false))) continue;
        if (realHard + realEasy >= real && realHard + otherHard >= hard) return true;
      }
    }
  }
  return false;
}

describe("quotas", () => {
  test("round up, and do not fall for rounding of decimals", () => {
    const constraints = { ...noConstraints, realShareMin: 0.3, hardShareMin: 0.07 };
    expect(quotasOf(constraints, 0, 8)).toEqual({ real: 3, hard: 1 });
    // 0.07 · 100 is 7.000000000000001 in doubles.
    expect(quotasOf(constraints, 0, 100)).toEqual({ real: 30, hard: 7 });
    // 1 − 0.7 is 0.30000000000000004.
    expect(quotasOf({ ...noConstraints, syntheticShareMax: 0.7 }, 0, 10).real).toBe(3);
    expect(quotasOf({ ...noConstraints, syntheticShareMax: 0.5 }, 0, 3).real).toBe(2);
  });

  test("of hard tasks begin after the warm-up", () => {
    expect(quotasOf(adscConstraints, 1, 128)).toEqual({ real: 64, hard: 0 });
    expect(quotasOf(adscConstraints, 2, 128)).toEqual({ real: 64, hard: 13 });
  });
});

test("constraints are refused exactly if no batch can meet them", () => {
  fc.assert(
    fc.property(anyRun, ({ arms, constraints, size, mixture }) => {
      fc.pre(arms.some(({ weight }) => weight > 0));
      const policy = policyOf(mixture, constraints);
      const weights = arms.map(({ weight }) => weight);
      const found = checkConstraints({ arms, policy, weights, promptsPerUpdate: size, length: 0 });
      const { real, hard } = quotasOf(constraints, Infinity, size);
      expect(found === undefined).toBe(canBeMet(arms, possibleOf(arms), real, hard, size));
    }),
    { numRuns: 500 },
  );
});

test("a batch meets its quotas whatever the probabilities, and draws only what can be drawn", () => {
  fc.assert(
    fc.property(anyRun, fc.boolean(), ({ arms, constraints, size, mixture, seed }, vanished) => {
      fc.pre(arms.some(({ weight }) => weight > 0));
      const policy = policyOf(mixture, constraints);
      const weights = arms.map(({ weight }) => weight);
      fc.pre(checkConstraints({ arms, policy, weights, promptsPerUpdate: size, length: 0 }) === undefined);
      const possible = possibleOf(arms);
      // A bandit's softmax can underflow to 0 on arms that a quota needs.
      const p = arms.map((one, i) => (possible[i] && !(vanished && !mixture && i > 0) ? one.weight + 0.1 : 0));
      for (const batch of [0, 3]) {
        const quotas = quotasOf(constraints, batch, size);
        const slots = assignSlots(armClasses(arms, possible), p, quotas, size, rngFor("test", seed));
        expect(slots).toHaveLength(size);
        expect(slots.every((slot) => possible[slot])).toBe(true);
        expect(slots.filter((slot) => arms[slot]?.source === "real").length).toBeGreaterThanOrEqual(quotas.real);
        expect(slots.filter((slot) => arms[slot]?.hard).length).toBeGreaterThanOrEqual(quotas.hard);
      }
    }),
    { numRuns: 1000 },
  );
});

describe("draws", () => {
  const classes = armClasses(
    adscArms,
    adscArms.map(() => true),
  );
  const count = (slots: readonly number[], which: (one: Arm) => boolean) =>
    slots.filter((slot) => which(adscArms[slot] as Arm)).length;

  test("without a quota in need are independent draws by p", () => {
    const p = [0.4, 0.1, 0, 0, 0.25, 0.25, 0, 0];
    const slots = assignSlots(classes, p, { real: 0, hard: 0 }, 40_000, rngFor("free"));
    for (const [i, share] of p.entries())
      expect(count(slots, (one) => one === adscArms[i]) / 40_000).toBeCloseTo(share, 1);
  });

  test("move as few slots as a quota lacks, to arms by p among those that it counts", () => {
    // All mass is on synthetic T0; of the real arms T0 has nine times what T1 has.
    const p = [0.09, 0.01, 0, 0, 0.9, 0, 0, 0];
    const slots = assignSlots(classes, p, { real: 20_000, hard: 0 }, 40_000, rngFor("moved"));
    const real = count(slots, (one) => one.source === "real");
    expect(real).toBe(20_000);
    expect(count(slots, (one) => one.id === "real/T0") / real).toBeCloseTo(0.9, 1);
  });

  test("leave a batch that meets its quotas as it was drawn", () => {
    const p = new Array<number>(8).fill(1 / 8);
    const free = assignSlots(classes, p, { real: 0, hard: 0 }, 64, rngFor("same"));
    expect(assignSlots(classes, p, { real: 10, hard: 10 }, 64, rngFor("same"))).toEqual(free);
  });
});

describe("refusals name the field", () => {
  const refuse = (arms: readonly Arm[], constraints: Partial<Constraints>, promptsPerUpdate = 8, length = 0) =>
    checkConstraints({
      arms,
      policy: banditPolicy({}, { ...noConstraints, ...constraints }),
      weights: arms.map(({ weight }) => weight),
      promptsPerUpdate,
      length,
    });

  test("of a share that no arm can give", () => {
    expect(refuse([arm("s")], { realShareMin: 0.1 })?.field).toBe("policy.constraints.real_share_min");
    expect(refuse([arm("s")], { syntheticShareMax: 0.9 })?.field).toBe("policy.constraints.synthetic_share_max");
    expect(refuse([arm("s")], { hardShareMin: 0.1 })?.field).toBe("policy.constraints.hard_share_min");
  });

  test("of shares that do not fit beside each other, in the full batch or in the last", () => {
    const arms = [arm("real", { source: "real" }), arm("hard", { hard: true })];
    const shares = { realShareMin: 0.5, hardShareMin: 0.5 };
    expect(refuse(arms, shares, 8)).toBeUndefined();
    expect(refuse(arms, shares, 8, 64)).toBeUndefined();
    expect(refuse(arms, shares, 8, 65)?.message).toContain("in an update batch of 1");
    expect(refuse(arms, { ...shares, hardShareMin: 0.6 })?.field).toBe("policy.constraints.hard_share_min");
  });

  test("of a mixture whose weights leave no arm for a quota", () => {
    const arms = [arm("real", { source: "real", weight: 0 }), arm("s")];
    const policy = mixturePolicy({ ...noConstraints, realShareMin: 0.1 });
    const found = checkConstraints({ arms, policy, weights: [0, 1], promptsPerUpdate: 4, length: 0 });
    expect(found?.field).toBe("policy.constraints.real_share_min");
  });
});
