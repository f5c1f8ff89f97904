/**
 * Laws that every policy of a run must satisfy, both those of Gradus and an operator's own. A law is a function that
 * returns how a policy breaks it. `gradus policies check` applies the laws to the policies that a module exports. The
 * test cases are random, from a fixed seed.
 */
import { isDeepStrictEqual } from "node:util";
import { type Rng, rngFor } from "../../envs/lib/rng.ts";
import { armClasses, assignSlots, drawableProbabilities, quotasOf } from "../curriculum/constraints.ts";
import type { Json } from "../curriculum/json.ts";
import type { Arm, Constraints, Policy, Source } from "../curriculum/types.ts";
import type { ObservedGroup, PolicyDefinition, Progress, View } from "../curriculum/policies/policy.ts";

export interface Subject {
  readonly policy: Policy;
  readonly definition: PolicyDefinition;
}

export interface PolicyLaw {
  readonly title: string;
  /** Returns how the policy breaks the law. Undefined: the law holds. */
  readonly broken: (subject: Subject) => string | undefined;
}

/**
 * Arms with which policies are tested: the tiers T0 to T3 of the paper ADSC, each with real and with synthetic tasks.
 * T2 and T3 are hard.
 */
export const lawArms: readonly Arm<null>[] = (["real", "synthetic"] as const).flatMap((source: Source) =>
  ["T0", "T1", "T2", "T3"].map((tier, i) => ({
    id: `${source}/${tier}`,
    spec: null,
    source,
    weight: 1,
    hard: i >= 2,
    rewardRange: { min: 0, max: 1 },
    resource: undefined,
    removed: false,
  })),
);

const constraints: Constraints = Object.freeze({
  realShareMin: 0.3,
  syntheticShareMax: 0.5,
  hardShareMin: 0.1,
  hardWarmupBatches: 2,
});

/** Number of prompts in an update batch of the tested runs. */
export const LAW_PROMPTS = 16;
/** Number of prompts in a whole tested run. */
export const LAW_LENGTH = 10 * LAW_PROMPTS;

const CASES = 60;
const UPDATES_MAX = 10;
const GROUPS_MAX = 20;
const TOLERANCE = 1e-9;
const COUNT = lawArms.length;
const ones = lawArms.map(() => 1);
const unmasked = lawArms.map(() => null);

const close = (a: number, b: number): boolean => Math.abs(a - b) <= TOLERANCE;
const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
export const plain = (json: Json): Json => JSON.parse(JSON.stringify(json)) as Json;
const shown = (value: unknown): string => (JSON.stringify(value) ?? "undefined").slice(0, 200);

/**
 * Closed groups that a policy observes between two draws, and whether the policy then advances to its next stage or
 * tier.
 */
export interface Update {
  readonly groups: readonly ObservedGroup[];
  readonly advances: boolean;
}

/** Returns a random fraction k/n with n up to 16, like a group's share of solved samples. */
function shareBy(rng: Rng): number {
  const n = rng.int(1, 16);
  return rng.int(0, n) / n;
}

function groupBy(rng: Rng, facts: readonly string[], arm = rng.int(0, COUNT - 1)): ObservedGroup {
  const mean = shareBy(rng);
  return {
    arm,
    armId: lawArms[arm]?.id ?? "",
    probability: shareBy(rng),
    weight: rng.pick([1, 1, 0.5]),
    hash: String(rng.int(0, 99)),
    rank: rng.pick([undefined, shareBy(rng)]),
    rewardMean: mean,
    rewardDeviation: Math.sqrt(mean * (1 - mean)),
    solvedShare: mean,
    signal: rng.pick([undefined, shareBy(rng), shareBy(rng)]),
    ...(facts.length > 0 &&
      rng.int(0, 3) > 0 && { facts: Object.fromEntries(facts.map((name) => [name, shareBy(rng)])) }),
  };
}

function updatesBy(rng: Rng, { policy, definition }: Subject): readonly Update[] {
  const facts = definition.reads?.(policy.config) ?? [];
  // In some cases all groups belong to one arm, as if the arm had been trained for a long time.
  const only = rng.int(0, 3) === 0 ? rng.int(0, COUNT - 1) : undefined;
  return Array.from({ length: rng.int(0, UPDATES_MAX) }, () => ({
    groups: Array.from({ length: rng.int(0, GROUPS_MAX) }, () => groupBy(rng, facts, only)),
    advances: rng.int(0, 1) === 1,
  }));
}

/** Returns random weights, of which some are 0. */
function weightsBy(rng: Rng): readonly number[] {
  const weights = lawArms.map(() => rng.pick([0, 1e-3, 1, 1e6]));
  return weights.some((weight) => weight > 0) ? weights : ones;
}

function progressAt(batch: number): Progress {
  return { batch, cursor: batch * LAW_PROMPTS, length: LAW_LENGTH, size: LAW_PROMPTS, promptsPerUpdate: LAW_PROMPTS };
}

function viewAt(batch: number, weights: readonly number[]): View {
  const known = { issued: 0, groups: 0, rewardMean: undefined, solvedShare: undefined };
  return {
    progress: progressAt(batch),
    rng: () => rngFor("policy", batch),
    arms: lawArms.map(({ id, source, hard }, i) => ({ id, source, hard, weight: weights[i] ?? 0, ...known })),
  };
}

/**
 * Returns the policy's state for the draw of update batch `batch`: after closed groups were observed, and after a new
 * pass over the same instances, if one begins.
 */
function after({ policy, definition }: Subject, state: unknown, { groups, advances }: Update, batch: number): unknown {
  const observed = definition.observe?.(policy.config, state, groups) ?? state;
  const advance = advances ? definition.advance?.(policy.config, observed, progressAt(batch)) : undefined;
  const advanced = advance?.kind === "advanced" ? advance.state : observed;
  return definition.pass?.(policy.config, advanced, progressAt(batch))?.state ?? advanced;
}

/** Returns the policy's states, probabilities and values: at the start, and after each update. */
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

/** Calls `look` with random updates, and returns the first problem that it finds. Undefined: it finds none. */
function inCases(
  subject: Subject,
  look: (updates: readonly Update[], rng: Rng) => string | undefined,
): string | undefined {
  for (let i = 0; i < CASES; i++) {
    const rng = rngFor("policy law", i);
    const found = look(updatesBy(rng, subject), rng);
    if (found !== undefined) return `case ${i}: ${found}`;
  }
  return undefined;
}

function brokenCodec(subject: Subject): string | undefined {
  const { state: codec } = subject.definition;
  return inCases(subject, (all) => {
    const states = course(subject, ones, all);
    for (const [i, { state, encoded }] of states.entries()) {
      const read = codec.decode(plain(encoded));
      if (!isDeepStrictEqual(read, state)) return `the state ${shown(state)} is read as ${shown(read)}`;
      if (!isDeepStrictEqual(codec.encode(read), encoded)) return `the state ${shown(state)} is written in two ways`;
      const update = all[i];
      if (update === undefined) continue;
      const next = after(subject, read, update, i + 1);
      if (!isDeepStrictEqual(next, states[i + 1]?.state))
        return `the state that was read back continues to ${shown(next)}`;
    }
    return undefined;
  });
}

function brokenShares(subject: Subject): string | undefined {
  return inCases(subject, (all) => {
    for (const { probabilities: p } of course(subject, ones, all)) {
      if (p.length !== COUNT) return `it gives ${p.length} probabilities for ${COUNT} arms`;
      if (!p.every((share) => share >= 0 && share <= 1 + TOLERANCE))
        return `not all probabilities are in [0, 1]: ${shown(p)}`;
      if (!close(sumOf(p), 1)) return `the probabilities sum to ${sumOf(p)}`;
    }
    return undefined;
  });
}

function brokenProportions(subject: Subject): string | undefined {
  return inCases(subject, (all, rng) => {
    const weights = weightsBy(rng);
    const masks = lawArms.map(() => rng.pick(["down", null]));
    for (const { probabilities: p } of course(subject, weights, all)) {
      const drawable = drawableProbabilities(subject.policy, p, weights, masks);
      const out = p.map((_, i) => weights[i] === 0 || masks[i] !== null);
      if (drawable === undefined) {
        if (p.some((share, i) => !out[i] && share > 0)) return "an arm can be drawn, but none is";
        continue;
      }
      const { probabilities: drawn, possible } = drawable;
      if (!close(sumOf(drawn), 1)) return `the probabilities of arms that can be drawn sum to ${sumOf(drawn)}`;
      if (drawn.some((share, i) => out[i] && share > 0))
        return `an arm that is masked or has weight 0 is drawn: ${shown(drawn)}`;
      const left = sumOf(p.filter((_, i) => possible[i]));
      if (left < TOLERANCE) continue;
      if (drawn.some((share, i) => possible[i] && !close(share, (p[i] ?? 0) / left))) return "proportions change";
    }
    return undefined;
  });
}

function brokenConstraints(subject: Subject): string | undefined {
  return inCases(subject, (all, rng) => {
    for (const [batch, { probabilities: p }] of course(subject, ones, all).entries()) {
      const drawable = drawableProbabilities(subject.policy, p, ones, unmasked);
      if (drawable === undefined) return "no arm can be drawn";
      const quotas = quotasOf(constraints, batch, LAW_PROMPTS);
      const classes = armClasses(lawArms, drawable.possible);
      if (!classes.some((one) => one.possible && one.real && one.hard)) continue;
      const seed = rng.int(0, 2 ** 31);
      const slots = assignSlots(classes, drawable.probabilities, quotas, LAW_PROMPTS, rngFor("slots", seed));
      const count = (want: "real" | "hard"): number => slots.filter((slot) => classes[slot]?.[want]).length;
      if (slots.some((slot) => !drawable.possible[slot])) return "a slot has an arm that cannot be drawn";
      if (count("real") < quotas.real || count("hard") < quotas.hard) return "a quota is missed";
    }
    return undefined;
  });
}

function brokenPurity(subject: Subject): string | undefined {
  return inCases(subject, (all) => {
    for (const { groups } of all) {
      for (const each of groups) Object.freeze(each);
      Object.freeze(groups);
    }
    const [once, again] = [course(subject, ones, all), course(subject, ones, all)];
    return isDeepStrictEqual(once, again) ? undefined : "equal updates give different results";
  });
}

function brokenConfig({ policy: { config }, definition }: Subject): string | undefined {
  const found = definition.check(config, { armIds: lawArms.map(({ id }) => id), length: LAW_LENGTH });
  if (found !== undefined) return `${found.field}: ${found.message}`;
  const read = definition.read(plain(definition.write(config)));
  return isDeepStrictEqual(read, config) ? undefined : `${shown(config)} is read as ${shown(read)}`;
}

function brokenBeginning({ policy: { config }, definition }: Subject): string | undefined {
  const state = definition.initial(config, COUNT, 0);
  const values = definition.values?.(config, state) ?? [];
  if (values.some((value) => value !== 0)) return `its first values are ${shown(values)}, and not 0`;
  const unmoved = definition.observe?.(config, state, []) ?? state;
  return isDeepStrictEqual(unmoved, state)
    ? undefined
    : `an update without groups changes the state to ${shown(unmoved)}`;
}

/** Checks that the policy continues when an arm is added after the existing ones. */
function brokenGrowth({ policy: { config }, definition }: Subject): string | undefined {
  if (definition.resize === undefined) return undefined;
  const state = definition.initial(config, COUNT - 1, 0);
  const p = definition.probabilities(config, definition.resize(config, state, COUNT, 0), viewAt(0, ones));
  return p.length === COUNT && close(sumOf(p), 1) ? undefined : `with one arm more its probabilities are ${shown(p)}`;
}

export const policyLaws: readonly PolicyLaw[] = [
  {
    title: "accepts its own configuration, and reads back the parameters that it writes unchanged",
    broken: brokenConfig,
  },
  { title: "reads back a state that it wrote unchanged, and continues from it in the same way", broken: brokenCodec },
  { title: "gives probabilities that are at least 0 and sum to 1", broken: brokenShares },
  {
    title: "never draws an arm that is masked or has weight 0, and the others keep their proportions",
    broken: brokenProportions,
  },
  { title: "meets the constraints in every update batch whose arms can", broken: brokenConstraints },
  { title: "is pure: equal updates give equal results, and inputs are not changed", broken: brokenPurity },
  {
    title: "has the value 0 for each arm before any feedback, and is not changed by an update without groups",
    broken: brokenBeginning,
  },
  { title: "continues when arms are added behind the existing ones", broken: brokenGrowth },
];

/** Returns how a policy breaks a law. An exception counts as breaking it. Undefined: the law holds. */
export function brokenBy({ broken }: PolicyLaw, subject: Subject): string | undefined {
  try {
    return broken(subject);
  } catch (error) {
    return `it throws: ${error instanceof Error ? error.message : String(error)}`;
  }
}
