/** Laws of every registered policy, what is each one's own, and that the laws find policies that were broken. */
import { describe, expect, test } from "vitest";
import type { Json } from "../../../server/curriculum/json.ts";
import type { ObservedGroup, PolicyDefinition } from "../../../server/curriculum/policies/policy.ts";
import {
  definitionOf,
  policyCodec,
  ownKinds,
  readPolicy,
  writePolicy,
} from "../../../server/curriculum/policies/registry.ts";
import { PolicySchema } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { policyExamples } from "./policy-examples.ts";
import { brokenBy, course, plain, policyLaws, type Subject } from "../../../server/simulation/policy-laws.ts";
import { adscArms, banditPolicy, mixturePolicy } from "./support.ts";

test("every policy of the contract is registered, and among the examples", () => {
  const inContract = PolicySchema.oneofs[0]?.fields.map(({ localName }) => localName);
  expect(new Set([...ownKinds, "named"])).toEqual(new Set(inContract));
  expect(new Set(policyExamples.map(({ policy }) => policy.kind))).toEqual(new Set(ownKinds));
});

describe.each(policyExamples)("every policy: $name", ({ policy }) => {
  const definition = definitionOf(policy);

  test.each(policyLaws)("$title", (law) => expect(brokenBy(law, { policy, definition })).toBeUndefined());

  test("goes through its parameters and the journal unchanged", () => {
    expect(readPolicy(writePolicy(policy))).toEqual(policy);
    expect(policyCodec.decode(plain(policyCodec.encode(policy)))).toEqual(policy);
  });
});

/** Returns whether the policy breaks a law. */
function isFoundOut(subject: Subject): boolean {
  return policyLaws.some((law) => brokenBy(law, subject) !== undefined);
}

/** Returns the definition with a codec that leaves a field out, so that the first value is read back. */
function forgetful({ policy, definition }: Subject, field: string): Subject {
  const atFirst = stateOf({ policy, definition })[field];
  const encode = (state: unknown): Json => definition.state.encode({ ...(state as object), [field]: atFirst });
  return { policy, definition: { ...definition, state: { ...definition.state, encode } } };
}

function stateOf({ policy, definition }: Subject): Readonly<Record<string, unknown>> {
  return (definition.initial(policy.config, adscArms.length, 0) ?? {}) as Readonly<Record<string, unknown>>;
}

test.each(ownKinds)("a codec of %s that forgets a field of the state is found out, whichever field", (kind) => {
  const subjects = policyExamples
    .filter(({ policy }) => policy.kind === kind)
    .map(({ policy }) => ({ policy, definition: definitionOf(policy) }));
  for (const field of new Set(subjects.flatMap((subject) => Object.keys(stateOf(subject))))) {
    const having = subjects.filter((subject) => stateOf(subject)[field] !== undefined);
    expect([field, having.some((subject) => isFoundOut(forgetful(subject, field)))]).toEqual([field, true]);
  }
});

describe("a bandit is found out", () => {
  const policy = banditPolicy({ epsilon: 0.5 });
  const bandit = definitionOf(policy);

  test("only where it is broken", () => {
    expect(isFoundOut({ policy, definition: bandit })).toBe(false);
  });

  let calls = 0;
  const plants: readonly (readonly [string, Partial<PolicyDefinition>])[] = [
    ["whose parameters lack a number", { write: (config) => bandit.write({ ...(config as object), epsilon: 0.1 }) }],
    ["whose shares are not all there", { probabilities: (...of) => bandit.probabilities(...of).map((p) => p * 0.9) }],
    [
      "that learns from every other call",
      { observe: (_, state, groups) => (calls++ % 2 ? state : bandit.observe?.(policy.config, state, groups)) },
    ],
    [
      "that changes what it is given",
      { observe: (config, state, groups) => bandit.observe?.(config, state, (groups as ObservedGroup[]).reverse()) },
    ],
    ["that begins with values", { values: () => adscArms.map(() => 1) }],
  ];

  test.each(plants)("%s", (_, plant) => {
    expect(isFoundOut({ policy, definition: { ...bandit, ...plant } })).toBe(true);
  });
});

test("a mixture follows the weights", () => {
  const policy = mixturePolicy();
  const [first] = course({ policy, definition: definitionOf(policy) }, [1, 4, 5, 0, 0, 0, 0, 0], []);
  expect(first?.probabilities).toEqual([0.1, 0.4, 0.5, 0, 0, 0, 0, 0]);
});

describe("parameters that cannot be read are refused by their field", () => {
  const bare = { constraints: {}, filter: {} };

  test.each<[name: string, parameters: Json, message: string]>([
    ["bandit", { epsilom: 1 }, "bandit.epsilom: is not a known field; did you mean 'epsilon'?"],
    ["bandit", { epsilon: "much" }, 'bandit.epsilon: wants a number; got "much"'],
    ["bandit", { exp3_s: {}, ucb: {} }, "bandit.ucb: must not be given together with exp3_s: remove one"],
    ["bandit", { ucb: { alpha: 1 } }, "bandit.ucb.alpha: is not a known field; known fields: discount, exploration"],
    ["bandit", { ucb: [] }, "bandit.ucb: wants fields; got []"],
    ["bandit", { signal: 9 }, "bandit.signal: 9 is not a value of this enum"],
    [
      "bandit",
      { signal: "advantage" },
      "bandit.signal: wants one of absolute_advantage, solved_variance, learning_progress, mixed_outcomes; " +
        'got "advantage"',
    ],
    ["bandit", { rescale: { window: 1.5 } }, "bandit.rescale.window: wants a whole number; got 1.5"],
    ["competence", { newestShare: 1, newest_share: 1 }, "competence.newest_share: is given twice: remove one"],
    ["competence", { tiers: {} }, "competence.tiers: wants a list; got {}"],
    ["staged", { stages: [{ weights: { a: "1" } }] }, 'staged.stages[0].weights["a"]: wants a number; got "1"'],
    [
      "staged",
      { stages: [{ share: 1, tasks: 1 }] },
      "staged.stages[0].tasks: must not be given together with share: remove one",
    ],
    [
      "staged",
      { stages: [{ tasks: "18446744073709551615" }] },
      "staged.stages[0].tasks: must be in [1, 2^53 - 1], not 18446744073709551616",
    ],
    ["staged", 1, "staged.parameters: wants fields; got 1"],
    ["replay", {}, "replay.cycle: must have cycles or cycle_tasks: set one of them"],
    ["replay", { cycles: 1, cycle_tasks: 1 }, "replay.cycle: must not have both cycles and cycle_tasks: remove one"],
    ["forgetting", { reversed: 1 }, "forgetting.reversed: wants true or false; got 1"],
    ["forgetting", { domains: [{ name: 1 }] }, "forgetting.domains[0].name: wants text; got 1"],
    ["stagd", {}, "named.name: there is no policy 'stagd'; did you mean 'staged'?"],
    ["", {}, "named.name: must be set; there are frontier, mixture, staged, replay, competence, bandit, forgetting"],
  ])("%s: %o", (name, parameters, message) => {
    const read = readPolicy({ name, parameters, ...bare });
    expect("field" in read && `${read.field}: ${read.message}`).toBe(`policy.${message}`);
  });

  test("what is unset, null, unspecified or 0 is the default", () => {
    const read = (parameters: Json) => readPolicy({ name: "bandit", parameters, ...bare });
    expect(read({ signal: null, epsilon: null })).toEqual(read({}));
    expect(read({ signal: "BANDIT_SIGNAL_UNSPECIFIED", ema_softmax: {} })).toEqual(read({ signal: 0 }));
  });
});
