/** The recommended policy: what it is, that it is the one that was judged, and that runs take it. */
import { fromJson, toJson } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { recommended as judged } from "../../../bench/curriculum/policies.ts";
import { places, setting } from "../../../bench/curriculum/setting.ts";
import { PolicySchema, recommended } from "../../../clients/ts/src/public.ts";
import { PolicySchema as ServerPolicySchema } from "../../../server/gen/gradus/v1/curriculum_pb.js";
import { configOf } from "../../../server/curriculum/simulation/play.ts";
import { policyFromWire } from "../../../server/services/wire-policy.ts";

const byLevel = [0, 1, 2, 3].map((level) => places.filter((place) => place.level === level).map(({ id }) => id));

test("it is the policy that the simulated students judged", () => {
  expect(toJson(PolicySchema, recommended(byLevel))).toEqual(
    toJson(ServerPolicySchema, fromJson(ServerPolicySchema, judged.policy(places))),
  );
});

test.each([byLevel, byLevel.slice(0, 1)])("a run takes it", (...levels) => {
  const json = toJson(PolicySchema, recommended(levels));
  const policy = policyFromWire(fromJson(ServerPolicySchema, json));
  expect(() => configOf(places, policy, setting, "x")).not.toThrow();
});

test("levels without arms are refused", () => {
  expect(() => recommended([])).toThrow(/levels: want at least one/);
  expect(() => recommended([["a"], []])).toThrow(/levels: want at least one/);
});
