/** Laws of every registered policy, and what is each one's own. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rngFor } from "../../../envs/lib/rng.ts";
import { armClasses, assignSlots, drawableProbabilities, quotasOf } from "../../../server/curriculum/constraints.ts";
import type { ObservedGroup, View } from "../../../server/curriculum/policies/policy.ts";
import {
  definitionOf,
  policyCodec,
  policyFromWire,
  policyKinds,
  policyToWire,
} from "../../../server/curriculum/policies/registry.ts";
import type { Json } from "../../../server/curriculum/json.ts";
import type { Policy } from "../../../server/curriculum/types.ts";
import { BanditPolicySchema, MixturePolicySchema, PolicySchema } from "../../../server/gen/gradus/v1/curriculum_pb.js";
import { create } from "@bufbuild/protobuf";
import { policyExamples, PROMPTS } from "./policy-examples.ts";
import { adscArms, adscConstraints, mixturePolicy } from "./support.ts";

const SIZE = PROMPTS;

const ids = adscArms.map(({ id }) => id);
const COUNT = ids.length;

const group = fc
  .record({
    arm: fc.nat(COUNT - 1),
    probability: fc.double({ min: 0, max: 1, noNaN: true }),
    weight: fc.constantFrom(1, 1, 0.5),
    hash: fc.nat(99).map(String),
    rank: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
    rewardMean: fc.double({ min: 0, max: 1, noNaN: true }),
    rewardDeviation: fc.double({ min: 0, max: 0.5, noNaN: true }),
    solvedShare: fc.double({ min: 0, max: 1, noNaN: true }),
    signal: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
  })
  .map((known): ObservedGroup => ({ ...known, armId: ids[known.arm] ?? "" }));
const history = fc.record({
  /** Some arms are out; every stage of every example keeps some. */
  weights: fc.array(fc.constantFrom(0, 1e-3, 1, 1e6), { minLength: COUNT, maxLength: COUNT }),
  masked: fc.array(fc.boolean(), { minLength: COUNT, maxLength: COUNT }),
  updates: fc.array(fc.array(group, { maxLength: 20 }), { maxLength: 10 }),
  seed: fc.nat(),
});

function viewAt(batch: number, weights: readonly number[]): View {
  const known = { issued: 0, groups: 0, rewardMean: undefined, solvedShare: undefined };
  return {
    progress: { batch, cursor: batch * SIZE, length: 10 * SIZE, size: SIZE },
    rng: () => rngFor("policy", batch),
    arms: adscArms.map(({ id, source, hard }, i) => ({ id, source, hard, weight: weights[i] ?? 0, ...known })),
  };
}

/** The policy's state and what it would draw after each update. */
function course(
  { config, kind, constraints }: Policy,
  weights: readonly number[],
  updates: readonly ObservedGroup[][],
) {
  const definition = definitionOf({ config, kind, constraints });
  let state = definition.initial(config, COUNT, 0);
  const states = [state, ...updates.map((groups) => (state = definition.observe?.(config, state, groups) ?? state))];
  return states.map((now, batch) => ({
    state: now,
    encoded: definition.state.encode(now),
    probabilities: definition.probabilities(config, now, viewAt(batch, weights)),
    values: definition.values?.(config, now) ?? [],
  }));
}

const plain = (json: Json): Json => JSON.parse(JSON.stringify(json)) as Json;
const ones = new Array<number>(COUNT).fill(1);

test("every registered policy is among the examples", () => {
  expect(new Set(policyExamples.map(({ policy }) => policy.kind))).toEqual(new Set(policyKinds));
});

describe.each(policyExamples)("every policy: $name", ({ policy }) => {
  const definition = definitionOf(policy);

  test("goes through the contract's message and the journal unchanged", () => {
    expect(policyFromWire(policyToWire(policy))).toEqual(policy);
    expect(policyCodec.decode(plain(policyCodec.encode(policy)))).toEqual(policy);
    expect(definition.check(policy.config, { armIds: ids, length: 10 * SIZE })).toBeUndefined();
  });

  test("gives probabilities that are at least 0 and sum to 1", () => {
    fc.assert(
      fc.property(history, ({ weights, updates }) => {
        fc.pre(weights.some((weight) => weight > 0));
        for (const { probabilities: p } of course(policy, ones, updates)) {
          expect(p).toHaveLength(COUNT);
          expect(p.every((share) => share >= 0 && share <= 1 + 1e-12)).toBe(true);
          expect(p.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
        }
      }),
    );
  });

  test("never draws an arm of weight 0 or one that is masked, and the others keep their proportions", () => {
    fc.assert(
      fc.property(history, ({ weights, masked, updates }) => {
        const masks = masked.map((is) => (is ? "down" : null));
        fc.pre(weights.some((weight) => weight > 0));
        for (const { probabilities: p } of course(policy, weights, updates)) {
          const drawable = drawableProbabilities(policy, p, weights, masks);
          const out = p.map((_, i) => weights[i] === 0 || masked[i] === true);
          if (drawable === undefined) {
            expect(p.every((share, i) => out[i] || share === 0)).toBe(true);
            continue;
          }
          expect(drawable.probabilities.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
          expect(drawable.probabilities.every((share, i) => !out[i] || share === 0)).toBe(true);
          const left = p.reduce((sum, share, i) => sum + (drawable.possible[i] ? share : 0), 0);
          if (left < 1e-9) continue;
          for (const [i, share] of drawable.probabilities.entries())
            if (drawable.possible[i]) expect(share).toBeCloseTo((p[i] ?? 0) / left, 9);
        }
      }),
    );
  });

  test("meets the constraints in every update batch whose arms can", () => {
    fc.assert(
      fc.property(history, ({ updates, seed }) => {
        for (const [batch, { probabilities: p }] of course(policy, ones, updates).entries()) {
          const drawable = drawableProbabilities(policy, p, ones, new Array<null>(COUNT).fill(null));
          if (drawable === undefined) throw new Error("no arm can be drawn");
          const quotas = quotasOf(adscConstraints, batch, SIZE);
          const classes = armClasses(adscArms, drawable.possible);
          fc.pre(classes.some((one) => one.possible && one.real && one.hard));
          const slots = assignSlots(classes, drawable.probabilities, quotas, SIZE, rngFor("test", seed));
          expect(slots.every((slot) => drawable.possible[slot])).toBe(true);
          expect(slots.filter((slot) => classes[slot]?.real).length).toBeGreaterThanOrEqual(quotas.real);
          expect(slots.filter((slot) => classes[slot]?.hard).length).toBeGreaterThanOrEqual(quotas.hard);
        }
      }),
    );
  });

  test("is pure: the same updates give the same course, and inputs stay as they are", () => {
    fc.assert(
      fc.property(history, ({ updates }) => {
        const frozen = updates.map((groups) => Object.freeze(groups.map(Object.freeze)) as ObservedGroup[]);
        expect(course(policy, ones, frozen)).toEqual(course(policy, ones, frozen));
      }),
    );
  });

  test("goes on in the same way from any state that was written down", () => {
    fc.assert(
      fc.property(history, ({ updates }) => {
        const states = course(policy, ones, updates);
        for (const [i, { encoded }] of states.entries()) {
          const read = definition.state.decode(plain(encoded));
          expect(definition.state.encode(read)).toEqual(encoded);
          // An update without groups changes nothing.
          const next = definition.observe?.(policy.config, read, updates[i] ?? []) ?? read;
          expect(definition.state.encode(next)).toEqual(states[i + 1]?.encoded ?? encoded);
        }
      }),
    );
  });

  test("has a value of 0 for each arm before anything was fed back, and is not moved by groups without a signal", () => {
    const state = definition.initial(policy.config, COUNT, 0);
    expect(definition.values?.(policy.config, state) ?? ones.map(() => 0)).toEqual(ones.map(() => 0));
    const moved = definition.observe?.(policy.config, state, []) ?? state;
    expect(definition.values?.(policy.config, moved)).toEqual(definition.values?.(policy.config, state));
  });
});

test("a mixture follows the weights", () => {
  const [first] = course(mixturePolicy(), [1, 4, 5, 0, 0, 0, 0, 0], []);
  expect(first?.probabilities).toEqual([0.1, 0.4, 0.5, 0, 0, 0, 0, 0]);
});

describe("a message that this server does not understand is refused", () => {
  const read = (rule: number, signal: number) =>
    policyFromWire(
      create(PolicySchema, { kind: { case: "bandit", value: create(BanditPolicySchema, { rule, signal }) } }),
    );

  test("an unknown rule or signal, never taken for the default", () => {
    expect(read(7, 0)).toEqual({
      kind: "invalid",
      field: "policy.bandit.rule",
      message: "7 is not one of the contract's",
    });
    expect(read(1, 9)).toEqual({
      kind: "invalid",
      field: "policy.bandit.signal",
      message: "9 is not one of the contract's",
    });
    expect(read(0, 0)).toEqual(read(1, 1));
  });

  test("a policy of no kind, and none", () => {
    expect(policyFromWire(create(PolicySchema))).toMatchObject({ field: "policy.kind" });
    expect(policyFromWire(undefined)).toMatchObject({ field: "policy" });
    const mixture = { case: "mixture", value: create(MixturePolicySchema) } as const;
    expect(policyFromWire(create(PolicySchema, { kind: mixture }))).toMatchObject({ kind: "mixture" });
  });
});
