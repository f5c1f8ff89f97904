/** The recommended policy: that it is the one that was judged, and that runs take it. */
import { fromJson, toJson } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { recommended as judged } from "../../../bench/curriculum/policies.ts";
import { places, setting } from "../../../bench/curriculum/setting.ts";
import { PolicySchema, recommended } from "../../../clients/ts/src/public.ts";
import { PolicySchema as ServerPolicySchema } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { configOf } from "../../../bench/curriculum/run-config.ts";
import { policyFromWire } from "../../../server/rpc/curriculum/read-policy.ts";

test("it is the policy that the simulated students judged, and a run takes it", () => {
  const json = toJson(PolicySchema, recommended());
  expect(json).toEqual(toJson(ServerPolicySchema, fromJson(ServerPolicySchema, judged.policy(places, setting))));
  const policy = policyFromWire(fromJson(ServerPolicySchema, json));
  expect(() => configOf(places, policy, setting, "x")).not.toThrow();
});
