/** What holds for every policy. A law is a function of the policy's definition, so that it can be held against a broken one. */
import fc from "fast-check";
import { expect } from "vitest";
import { rngFor } from "../../../envs/lib/rng.ts";
import {
  armClasses,
  assignSlots,
  drawableProbabilities,
  quotasOf,
} from "../../../server/curriculum/core/constraints.ts";
import type { Json } from "../../../server/curriculum/core/json.ts";
import type { ObservedGroup, PolicyDefinition, Progress, View } from "../../../server/curriculum/policies/policy.ts";
import type { Policy } from "../../../server/curriculum/core/types.ts";
import { PROMPTS } from "./policy-examples.ts";
import { adscArms, adscConstraints } from "./support.ts";

export interface Subject {
  readonly policy: Policy;
  readonly definition: PolicyDefinition;
}

export interface PolicyLaw {
  readonly title: string;
  /** Fails, as a test does, where it does not hold. */
  check(subject: Subject): void;
}

const ids = adscArms.map(({ id }) => id);
const COUNT = ids.length;
const ones = new Array<number>(COUNT).fill(1);

/** k of n: shares as samples make them. Doubles at random are hardly ever above 10^-100, and move no state. */
const share = fc.integer({ min: 1, max: 16 }).chain((n) => fc.nat(n).map((k) => k / n));

const group = fc
  .record({
    arm: fc.nat(COUNT - 1),
    probability: share,
    weight: fc.constantFrom(1, 1, 0.5),
    hash: fc.nat(99).map(String),
    rank: fc.option(share, { nil: undefined }),
    solvedShare: share,
    signal: fc.option(share, { nil: undefined }),
  })
  .map((known): ObservedGroup => {
    const { arm, solvedShare: mean } = known;
    return { ...known, armId: ids[arm] ?? "", rewardMean: mean, rewardDeviation: Math.sqrt(mean * (1 - mean)) };
  });

/** What happens between two draws. */
interface Update {
  readonly groups: ObservedGroup[];
  readonly advances: boolean;
}

const updates: fc.Arbitrary<Update[]> = fc.array(
  fc.record({ groups: fc.array(group, { maxLength: 20 }), advances: fc.boolean() }),
  { maxLength: 10 },
);

/** Some arms are out; every stage of every example keeps some. */
const weighted = fc
  .array(fc.constantFrom(0, 1e-3, 1, 1e6), { minLength: COUNT, maxLength: COUNT })
  .filter((weights) => weights.some((weight) => weight > 0));

function progressAt(batch: number): Progress {
  return { batch, cursor: batch * PROMPTS, length: 10 * PROMPTS, size: PROMPTS };
}

function viewAt(batch: number, weights: readonly number[]): View {
  const known = { issued: 0, groups: 0, rewardMean: undefined, solvedShare: undefined };
  return {
    progress: progressAt(batch),
    rng: () => rngFor("policy", batch),
    arms: adscArms.map(({ id, source, hard }, i) => ({ id, source, hard, weight: weights[i] ?? 0, ...known })),
  };
}

/** The state with which batch `batch` is drawn: after an update, and where a pass over instances begins with it. */
function after({ policy, definition }: Subject, state: unknown, { groups, advances }: Update, batch: number): unknown {
  const observed = definition.observe?.(policy.config, state, groups) ?? state;
  const advance = advances ? definition.advance?.(policy.config, observed, progressAt(batch)) : undefined;
  const advanced = advance?.kind === "advanced" ? advance.state : observed;
  return definition.pass?.(policy.config, advanced, progressAt(batch))?.state ?? advanced;
}

/** The policy's state and what it draws before any update, and after each. */
export function course(subject: Subject, weights: readonly number[], all: readonly Update[]) {
  const { definition, policy } = subject;
  let state = definition.initial(policy.config, COUNT, 0);
  const states = [state, ...all.map((update, i) => (state = after(subject, state, update, i + 1)))];
  return states.map((now, batch) => ({
    state: now,
    encoded: definition.state.encode(now),
    probabilities: definition.probabilities(policy.config, now, viewAt(batch, weights)),
    values: definition.values?.(policy.config, now) ?? [],
  }));
}

export const plain = (json: Json): Json => JSON.parse(JSON.stringify(json)) as Json;

export const policyLaws: readonly PolicyLaw[] = [
  {
    title: "its configuration is one that it takes, and goes through its parameters unchanged",
    check({ policy: { config }, definition }) {
      expect(definition.check(config, { armIds: ids, length: 10 * PROMPTS })).toBeUndefined();
      expect(definition.read(plain(definition.write(config)))).toEqual(config);
    },
  },
  {
    title: "a state that was written down is read as it was, and goes on in the same way",
    check(subject) {
      const { state: codec } = subject.definition;
      fc.assert(
        fc.property(updates, (all) => {
          const states = course(subject, ones, all);
          for (const [i, { state, encoded }] of states.entries()) {
            const read = codec.decode(plain(encoded));
            expect(read).toEqual(state);
            expect(codec.encode(read)).toEqual(encoded);
            const update = all[i];
            if (update !== undefined) expect(after(subject, read, update, i + 1)).toEqual(states[i + 1]?.state);
          }
        }),
      );
    },
  },
  {
    title: "gives probabilities that are at least 0 and sum to 1",
    check(subject) {
      fc.assert(
        fc.property(updates, (all) => {
          for (const { probabilities: p } of course(subject, ones, all)) {
            expect(p).toHaveLength(COUNT);
            expect(p.every((probability) => probability >= 0 && probability <= 1 + 1e-12)).toBe(true);
            expect(p.reduce((sum, probability) => sum + probability, 0)).toBeCloseTo(1, 9);
          }
        }),
      );
    },
  },
  {
    title: "never draws an arm of weight 0 or one that is masked, and the others keep their proportions",
    check(subject) {
      const masks = fc.array(fc.constantFrom("down", null), { minLength: COUNT, maxLength: COUNT });
      fc.assert(
        fc.property(weighted, masks, updates, (weights, masked, all) => {
          for (const { probabilities: p } of course(subject, weights, all)) {
            const drawable = drawableProbabilities(subject.policy, p, weights, masked);
            const out = p.map((_, i) => weights[i] === 0 || masked[i] !== null);
            if (drawable === undefined) {
              expect(p.every((probability, i) => out[i] || probability === 0)).toBe(true);
              continue;
            }
            expect(drawable.probabilities.reduce((sum, probability) => sum + probability, 0)).toBeCloseTo(1, 9);
            expect(drawable.probabilities.every((probability, i) => !out[i] || probability === 0)).toBe(true);
            const left = p.reduce((sum, probability, i) => sum + (drawable.possible[i] ? probability : 0), 0);
            if (left < 1e-9) continue;
            for (const [i, probability] of drawable.probabilities.entries())
              if (drawable.possible[i]) expect(probability).toBeCloseTo((p[i] ?? 0) / left, 9);
          }
        }),
      );
    },
  },
  {
    title: "meets the constraints in every update batch whose arms can",
    check(subject) {
      let tried = 0;
      fc.assert(
        fc.property(updates, fc.nat(), (all, seed) => {
          for (const [batch, { probabilities: p }] of course(subject, ones, all).entries()) {
            const drawable = drawableProbabilities(subject.policy, p, ones, new Array<null>(COUNT).fill(null));
            if (drawable === undefined) throw new Error("no arm can be drawn");
            const quotas = quotasOf(adscConstraints, batch, PROMPTS);
            const classes = armClasses(adscArms, drawable.possible);
            if (!classes.some((one) => one.possible && one.real && one.hard)) continue;
            tried++;
            const slots = assignSlots(classes, drawable.probabilities, quotas, PROMPTS, rngFor("test", seed));
            expect(slots.every((slot) => drawable.possible[slot])).toBe(true);
            expect(slots.filter((slot) => classes[slot]?.real).length).toBeGreaterThanOrEqual(quotas.real);
            expect(slots.filter((slot) => classes[slot]?.hard).length).toBeGreaterThanOrEqual(quotas.hard);
          }
        }),
      );
      expect(tried).toBeGreaterThan(0);
    },
  },
  {
    title: "is pure: the same updates give the same course, and inputs stay as they are",
    check(subject) {
      fc.assert(
        fc.property(updates, (all) => {
          for (const { groups } of all) {
            for (const each of groups) Object.freeze(each);
            Object.freeze(groups);
          }
          expect(course(subject, ones, all)).toEqual(course(subject, ones, all));
        }),
      );
    },
  },
  {
    title: "has a value of 0 for each arm before anything was fed back, and is not moved by no groups",
    check({ policy: { config }, definition }) {
      const state = definition.initial(config, COUNT, 0);
      expect(definition.values?.(config, state) ?? ones.map(() => 0)).toEqual(ones.map(() => 0));
      expect(definition.observe?.(config, state, []) ?? state).toEqual(state);
    },
  },
];

/** Whether a law does not hold. */
export function isFoundOut(subject: Subject): boolean {
  return policyLaws.some((law) => {
    try {
      law.check(subject);
      return false;
    } catch {
      return true;
    }
  });
}
