/** Laws of every registered policy, what is each one's own, and that the laws find policies that were broken. */
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../server/curriculum/core/json.ts";
import type { ObservedGroup, PolicyDefinition } from "../../../server/curriculum/policies/policy.ts";
import {
  definitionOf,
  policyCodec,
  policyFromWire,
  policyKinds,
  policyToWire,
} from "../../../server/curriculum/policies/registry.ts";
import { BanditPolicySchema, MixturePolicySchema, PolicySchema } from "../../../server/gen/gradus/v1/curriculum_pb.js";
import { policyExamples } from "./policy-examples.ts";
import { isFoundOut, course, plain, policyLaws, type Subject } from "./policy-laws.ts";
import { adscArms, banditPolicy, mixturePolicy } from "./support.ts";

test("every policy of the contract is registered, and among the examples", () => {
  const inContract = PolicySchema.oneofs[0]?.fields.map(({ localName }) => localName);
  expect(new Set(policyKinds)).toEqual(new Set(inContract));
  expect(new Set(policyExamples.map(({ policy }) => policy.kind))).toEqual(new Set(policyKinds));
});

describe.each(policyExamples)("every policy: $name", ({ policy }) => {
  const definition = definitionOf(policy);

  test.each(policyLaws)("$title", (law) => law.check({ policy, definition }));

  test("goes through the contract's message and the journal unchanged", () => {
    expect(policyFromWire(policyToWire(policy))).toEqual(policy);
    expect(policyCodec.decode(plain(policyCodec.encode(policy)))).toEqual(policy);
  });
});

/** The definition with a codec that does not write a field down: it is read as it was at first. */
function forgetful({ policy, definition }: Subject, field: string): Subject {
  const atFirst = stateOf({ policy, definition })[field];
  const encode = (state: unknown): Json => definition.state.encode({ ...(state as object), [field]: atFirst });
  return { policy, definition: { ...definition, state: { ...definition.state, encode } } };
}

function stateOf({ policy, definition }: Subject): Readonly<Record<string, unknown>> {
  return (definition.initial(policy.config, adscArms.length, 0) ?? {}) as Readonly<Record<string, unknown>>;
}

test.each(policyKinds)("a codec of %s that forgets a field of the state is found out, whichever field", (kind) => {
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
    ["whose message lacks a number", { toWire: (config) => bandit.toWire({ ...(config as object), epsilon: 0.1 }) }],
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
