/** Tests that the server reads the policy message that the TypeScript client builds from plain values. */
import { describe, expect, test } from "vitest";
import { policyOf, type PolicyChoice } from "../../../clients/ts/src/policies.ts";
import { PolicySchema } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { policyFromWire } from "../../../server/rpc/curriculum/read-policy.ts";

const weights = { a: 1, b: 2 };

const choices: readonly { readonly choice: PolicyChoice; readonly config: object | null }[] = [
  { choice: { kind: "mixture", filter: { skipSolved: true, skipFailedAfter: 3, ranks: { max: 0.5 } } }, config: null },
  {
    choice: { kind: "bandit", rule: "exp3_s", signal: "mixed_outcomes", exp3Rate: 0.2, rescale: {} },
    config: { rule: "EXP3_S", signal: "MIXED_OUTCOMES", exp3Rate: 0.2, rescale: { lowQuantile: 0.2, window: 512 } },
  },
  {
    choice: { kind: "bandit", rule: "ucb", signal: "learning_progress", exploration: 1, progressFastRate: 0.5 },
    config: { rule: "UCB", signal: "LEARNING_PROGRESS", exploration: 1, progressFastRate: 0.5, epsilon: 0.1 },
  },
  {
    choice: { kind: "staged", stages: [{ weights, ranks: { max: 0.3 } }] },
    config: { stages: [{ extent: { kind: "open" }, weights, ranks: { min: 0, max: 0.3 } }] },
  },
  {
    choice: { kind: "replay", cycles: 3, instances: "same", stages: [{ share: 0.5 }, { tasks: 4, weights }] },
    config: { cycle: { kind: "cycles", cycles: 3 }, instances: "SAME", stages: [{ weights: {} }, { weights }] },
  },
  {
    choice: { kind: "frontier", measure: "solved", armMeasures: { a: "improvement" }, practiceScale: 64 },
    config: { measure: "SOLVED", armMeasures: { a: "IMPROVEMENT" }, exploration: 0.1, practiceScale: 64 },
  },
  { choice: { kind: "frontier", practiceScale: "auto" }, config: { practiceScale: "auto" } },
  { choice: { kind: "frontier" }, config: { practiceScale: "auto" } },
  {
    choice: { kind: "competence", tiers: [{ a: 1 }, weights], step: "move_on", floor: 0.2 },
    config: { tiers: [{ a: 1 }, weights], step: "MOVE_ON", floor: 0.2, threshold: 0.7, window: 32 },
  },
  {
    choice: {
      kind: "forgetting",
      domains: [
        { name: "math", weights, share: 0.4 },
        { name: "code", weights },
      ],
      transfers: { math: { code: -0.2 } },
    },
    config: { transfers: [{ trained: "math", changes: { code: -0.2 } }], reversed: false },
  },
  {
    choice: { kind: "named", name: "bandit", parameters: { ucb: { exploration: 1 }, signal: "mixed_outcomes" } },
    config: { rule: "UCB", signal: "MIXED_OUTCOMES", exploration: 1 },
  },
];

test("there is a builder for every policy of the contract", () => {
  const inContract = PolicySchema.oneofs[0]?.fields.map(({ localName }) => localName);
  expect(new Set(choices.map(({ choice }) => policyOf(choice).kind.case))).toEqual(new Set(inContract));
});

test.each(choices)("the server reads what $choice.kind means", ({ choice, config }) => {
  const policy = policyFromWire(policyOf(choice));
  expect(policy).toMatchObject({ kind: choice.kind === "named" ? choice.name : choice.kind, config });
  if (choice.filter !== undefined)
    expect(policy).toMatchObject({ filter: { skipSolved: true, skipFailedAfter: 3, ranks: { min: 0, max: 0.5 } } });
});

describe("what is misspelled is refused, also where types do not see it", () => {
  const refuse = (choice: object) => expect(() => policyOf(choice as PolicyChoice));

  test.each([
    [{ kind: "bandit", epsilom: 0.1 }, 'bandit: there is no "epsilom"; there are'],
    [{ kind: "bandit", rule: "exp3" }, 'rule: "exp3" is none of ema_softmax, exp3_s, thompson, ucb'],
    [{ kind: "bandit", exp3Rate: 0.2 }, "exp3Rate: a bandit of ema_softmax and absolute_advantage does not use it"],
    [{ kind: "named", name: "staged", stages: [] }, 'named: there is no "stages"; there are name, parameters'],
    [{ kind: "bandit", rescale: { windows: 3 } }, 'rescale: there is no "windows"'],
    [{ kind: "replay", cycles: 2, stages: [{ wieghts: {} }] }, 'stage: there is no "wieghts"'],
    [{ kind: "replay", stages: [] }, "cycles, cycleTasks: give one of them"],
    [{ kind: "competence", tiers: [], treshold: 1 }, 'competence: there is no "treshold"'],
    [{ kind: "forgetting", domains: [{ nam: "x" }] }, 'domain: there is no "nam"'],
    [{ kind: "mixture", filter: { skipsolved: true } }, 'filter: there is no "skipsolved"'],
    [{ kind: "mixture", constraint: {} }, 'mixture: there is no "constraint"'],
    [{ kind: "random" }, 'kind: "random" is no policy'],
  ])("%o", (choice, message) => {
    refuse(choice).toThrow(message);
  });
});
