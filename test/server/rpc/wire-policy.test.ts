/** Tests of policies by name: they equal the contract's messages, and an error names the field that cannot be read. */
import { create, fromJson, type JsonObject, type JsonValue, toBinary, fromBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { policyFromWire, policyToWire } from "../../../server/rpc/curriculum/read-policy.ts";
import { NamedPolicySchema, PolicySchema } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { policyExamples } from "../curriculum/policy-examples.ts";
import { writePolicy } from "../../../server/curriculum/policies/registry.ts";

const read = (json: JsonValue) => policyFromWire(fromJson(PolicySchema, json), "config.");

test.each(policyExamples)("$name goes through its message unchanged, and by its name is the same", ({ policy }) => {
  expect(policyFromWire(policyToWire(policy))).toEqual(policy);
  const { name, parameters } = writePolicy(policy);
  const named = { name, parameters: parameters as JsonObject };
  const message = create(PolicySchema, { kind: { case: "named", value: named }, constraints: policy.constraints });
  expect(policyFromWire(fromBinary(PolicySchema, toBinary(PolicySchema, message)))).toEqual(policy);
});

test("the parameters of a name may be left out, and be written as JSON does", () => {
  expect(read({ named: { name: "bandit" } })).toEqual(read({ bandit: {} }));
  const stages = [{ tasks: "4" }, { share: 0.5, ranks: { max: 0.3 } }];
  expect(read({ named: { name: "staged", parameters: { stages } } })).toEqual(read({ staged: { stages } }));
});

test.each<[JsonValue, string]>([
  [{}, "config.policy.kind: must be set: give one of frontier, mixture, "],
  [{ named: {} }, "config.policy.named.name: must be set; there are frontier, mixture, "],
  [{ named: { name: "stagd" } }, "config.policy.named.name: there is no policy 'stagd'; did you mean 'staged'?"],
  [
    { named: { name: "competence", parameters: { treshold: 1 } } },
    "config.policy.competence.treshold: is not a known field; did you mean 'threshold'?",
  ],
  [{ bandit: { signal: 9 } }, "config.policy.bandit.signal: 9 is not a value of this enum"],
])("%o", (json, message) => {
  expect(() => read(json)).toThrow(message);
});

test("no policy, and parameters that no JSON says", () => {
  expect(() => policyFromWire(undefined)).toThrow("policy: must be set");
  const value = create(NamedPolicySchema, { name: "bandit", parameters: { epsilon: NaN } });
  expect(() => policyFromWire(create(PolicySchema, { kind: { case: "named", value } }))).toThrow(
    "policy.named.parameters: are not JSON: ",
  );
});
