/** Answers with outcomes are written by hand, and have the bytes that protobuf-es writes. */
import { create, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  BatchStepResponseSchema,
  StepResponseSchema,
  StreamStepsResponseSchema,
} from "../../../../server/gen/gradus/v1/environment_pb.js";
import { encoderOf } from "../../../../server/transport/wire/messages.ts";
import { writers } from "../../../../server/transport/wire/outcomes.ts";
import { arbitraryMessage } from "../../../support/arbitrary-message.ts";

describe.each([...writers.keys()])("$name", (schema) => {
  const encode = encoderOf(schema);

  test("whatever is in it, of all fields that the contract has", () => {
    const property = (message: Message): void => {
      expect(encode(message)).toEqual(Buffer.from(toBinary(schema, message)));
    };
    fc.assert(fc.property(arbitraryMessage(schema), property), { numRuns: 300, seed: 5 });
  });

  test("nothing, and after one that cannot be written", () => {
    const empty = create(schema);
    expect(encode(empty)).toHaveLength(0);
    const broken = { ...wrong(), $typeName: schema.typeName };
    expect(() => encode(broken)).toThrow("invalid uint32");
    expect(encode(empty)).toHaveLength(0);
  });
});

/** In any of them: a number that is none of the field's, behind what can be written. */
function wrong() {
  const { outcome } = create(StepResponseSchema, { outcome: { sampleIndex: -1, nextTaskId: "a" } });
  const { groups } = create(BatchStepResponseSchema, { groups: [{ groupId: "a" }] });
  if (outcome !== undefined) groups[0]?.outcomes.push(outcome);
  return { ...create(StreamStepsResponseSchema, { requestId: "a" }), outcome, groups };
}

test("one of megabytes", () => {
  const group = { groupId: "b", outcomes: [{ nextTaskId: "é".repeat(3_000_000) }] };
  const message = create(StreamStepsResponseSchema, { groups: [group, group] });
  const bytes = encoderOf(StreamStepsResponseSchema)(message);
  expect(fromBinary(StreamStepsResponseSchema, bytes)).toEqual(message);
  expect(bytes.equals(toBinary(StreamStepsResponseSchema, message))).toBe(true);
});
