/** Outcomes as unions with names: every value of the contract has one, and a missing reward is never 0. */
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import {
  FeedbackStatus,
  FeedbackStatusSchema,
  NoRewardReason,
  NoRewardReasonSchema,
  OutcomeSchema,
  Proof,
  rewardOf,
  Verdict,
  VerdictSchema,
} from "../../../clients/ts/src/index.ts";
import { groupOutcomeOf, outcomeOf } from "../../../clients/ts/src/outcomes.ts";
import { GroupOutcomeSchema } from "../../../proto/gen/gradus/v1/outcome_pb.js";

/** The short names of an enum's values, as Python has them. */
const shortNames = ({ values, sharedPrefix = "" }: typeof VerdictSchema): readonly (readonly [number, string])[] =>
  values
    .filter(({ number }) => number !== 0)
    .map(({ number, name }) => [number, name.toLowerCase().replace(sharedPrefix, "")]);

test("a scored outcome has names for what the contract numbers", () => {
  const message = create(OutcomeSchema, {
    sampleIndex: 3,
    grpoAdvantage: 0,
    feedback: { status: FeedbackStatus.STALE_EPOCH, detail: "" },
    result: {
      case: "score",
      value: {
        reward: 1.5,
        verdict: Verdict.FEASIBLE,
        ratio: 0.5,
        info: { value: "24" },
        baseline: { value: 1, bound: 2, proof: Proof.BOUNDED },
        spans: [{ start: 1, end: 2, verdict: Verdict.INFEASIBLE }],
      },
    },
  });
  const outcome = outcomeOf(message);
  expect(outcome).toMatchObject({
    kind: "scored",
    sampleIndex: 3,
    reward: 1.5,
    verdict: "feasible",
    ratio: 0.5,
    info: { value: "24" },
    grpoAdvantage: 0,
    feedback: { status: "stale_epoch" },
    baseline: { proof: "bounded" },
    message,
    spans: [{ start: 1, end: 2, verdict: "infeasible" }],
  });
  expect("rlooAdvantage" in outcome || "objective" in outcome).toBe(false);
  expect(rewardOf(outcome)).toBe(1.5);
});

test("each verdict, reason and status of the contract has its name", () => {
  for (const [verdict, name] of shortNames(VerdictSchema))
    expect(outcomeOf(create(OutcomeSchema, { result: { case: "score", value: { verdict } } }))).toMatchObject({
      verdict: name,
    });
  for (const [reason, name] of shortNames(NoRewardReasonSchema as never)) {
    const outcome = outcomeOf(create(OutcomeSchema, { result: { case: "noReward", value: { reason } } }));
    expect(outcome).toMatchObject({ kind: "unscored", reason: name });
    expect(rewardOf(outcome)).toBeUndefined();
  }
  const value = { reason: NoRewardReason.RESOURCE_UNAVAILABLE, resource: "dictionary" };
  const named = outcomeOf(create(OutcomeSchema, { result: { case: "noReward", value } }));
  expect(named).toMatchObject({ reason: "resource_unavailable", resource: "dictionary" });
  for (const [status, name] of shortNames(FeedbackStatusSchema as never))
    expect(outcomeOf(create(OutcomeSchema, { feedback: { status } })).feedback?.status).toBe(name);
});

test("what is newer than the client, or missing, is told so and has no reward", () => {
  const newer = outcomeOf(create(OutcomeSchema, { result: { case: "score", value: { verdict: 77 as Verdict } } }));
  expect(newer).toMatchObject({ kind: "scored", verdict: "unknown" });
  const empty = outcomeOf(create(OutcomeSchema));
  expect([empty.kind, rewardOf(empty)]).toEqual(["unscored", undefined]);
  const group = groupOutcomeOf(create(GroupOutcomeSchema, { groupId: "g", outcomes: [{}] }));
  expect(group.outcomes.map(rewardOf)).toEqual([undefined]);
  expect("statistics" in group).toBe(false);
});
