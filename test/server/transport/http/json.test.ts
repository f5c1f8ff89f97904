import { expect, test } from "vitest";
import { CreateRunRequestSchema } from "../../../../proto/gen/gradus/v1/curriculum_pb.js";
import { StepRequestSchema } from "../../../../proto/gen/gradus/v1/environment_pb.js";
import { jsonCheck } from "../../../../server/transport/http/json-codec.ts";

const check = jsonCheck(CreateRunRequestSchema);

test.each([
  ['{"config": {"seed": 18446744073709551615}}', "config.seed"],
  ['\ufeff{"config": {"seed": 9007199254740992}}', "config.seed"],
  ['{"config": {"seed": "0x1"}}', "config.seed"],
])("%s is refused by the path of its field", (json, field) => {
  expect(() => check(Buffer.from(json))).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT", field }));
});

test.each(["", "{", "null", "[]", '{"config": []}', '{"config": {"seed": null}}', '{"config": {"seed": 1.5}}'])(
  "%j is left to protobuf-es",
  (json) => {
    expect(() => check(Buffer.from(json))).not.toThrow();
  },
);

test("numbers that are no 64-bit integers may be of any size", () => {
  expect(() => jsonCheck(StepRequestSchema)(Buffer.from('{"sampleIndex": 1e20}'))).not.toThrow();
});
