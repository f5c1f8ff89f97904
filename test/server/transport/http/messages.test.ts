/** Tests of requests that must be refused before Connect makes objects of them, in every format of the HTTP port. */
import { create, toBinary } from "@bufbuild/protobuf";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import {
  BatchResetRequestSchema,
  BatchResetResponseSchema,
  BatchStepResponseSchema,
} from "../../../../proto/gen/gradus/v1/environment_pb.js";
import { STEP_MESSAGES_MAX, PARTS_MAX } from "../../../../server/transport/wire/pieces.ts";
import { start, stopAll } from "../fixture.ts";
import { echo } from "../handlers.ts";

afterEach(stopAll);

interface Sent {
  readonly method: "Step" | "BatchStep" | "BatchReset";
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Starts a server that echoes, and returns a function that sends a request and reads the answer's text. */
async function starting(): Promise<(sent: Sent) => Promise<string>> {
  const { httpPort } = await start({
    step: async (request) => echo(request),
    batchStep: async ({ groups }) => create(BatchStepResponseSchema, { groups: groups.map(() => ({})) }),
    batchReset: async ({ seeds }) => create(BatchResetResponseSchema, { results: seeds.map((seed) => ({ seed })) }),
  });
  return async ({ method, type, body, headers }) => {
    const url = `http://127.0.0.1:${httpPort}/gradus.v1.EnvironmentService/${method}`;
    const init = { method: "POST", headers: { "content-type": `application/${type}`, ...headers } };
    const response = await fetch(url, { ...init, body: Uint8Array.from(Buffer.from(body)) });
    return decodeURIComponent(await response.text());
  };
}

function envelope(message: string | Uint8Array, flags = 0): Uint8Array {
  const header = Buffer.alloc(5);
  header.writeUInt8(flags);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, Buffer.from(message)]);
}

const json = { type: "json" } as const;

describe("a request of more parts than the limit", () => {
  const groups = PARTS_MAX / 2 + 1;
  const inJson = `{"groups":[${"{},".repeat(groups)}{}]}`;
  // Field 1, with a length of 0.
  const inBinary = Buffer.alloc(4 * groups, "\x0a\x00");
  // A group, a completion and a field take two bytes at least. BatchStep's reader counts groups and completions.
  const limits = new RegExp(`more than (${PARTS_MAX}|${STEP_MESSAGES_MAX}) `);
  const gzip = { "content-encoding": "gzip" };
  const gzipGrpc = { "grpc-encoding": "gzip" };

  test.each<readonly [string, Omit<Sent, "method">]>([
    ["Connect, JSON", { ...json, body: inJson }],
    ["Connect, JSON, compressed", { ...json, body: gzipSync(inJson), headers: gzip }],
    ["Connect, binary", { type: "proto", body: inBinary }],
    ["Connect, binary, compressed", { type: "proto", body: gzipSync(inBinary), headers: gzip }],
    ["gRPC-Web, binary", { type: "grpc-web+proto", body: envelope(inBinary) }],
    ["gRPC-Web", { type: "grpc-web", body: envelope(inBinary) }],
    ["gRPC-Web, compressed", { type: "grpc-web", body: envelope(gzipSync(inBinary), 1), headers: gzipGrpc }],
    ["gRPC-Web, JSON", { type: "grpc-web+json", body: envelope(inJson) }],
  ])("is refused with the limit: %s", async (_, sent) => {
    const send = await starting();
    const answer = await send({ ...sent, method: "BatchStep" });
    expect(answer).toMatch(limits);
    expect(answer).toMatch(/"code":"invalid_argument"|grpc-status: 3\b/);
  });

  test.each<readonly [string, string]>([
    ["keys", `{${Array.from({ length: groups }, (_, i) => `"${i}":0`).join()}}`],
    ["seeds", `{"seeds":[${"1,".repeat(PARTS_MAX)}1]}`],
    ["lists within lists", `{"seeds":${"[".repeat(PARTS_MAX)}`],
  ])("in JSON may have them as %s", async (_, body) => {
    const send = await starting();
    expect(await send({ ...json, method: "BatchReset", body })).toContain(`more than ${PARTS_MAX} keys, values, lists`);
  });
});

test("what a text holds is no part, and no end of the text", async () => {
  const send = await starting();
  const completion = '{"a": [1, 2], "b\\": "}\\\\'.repeat(PARTS_MAX / 8);
  const body = JSON.stringify({ sampleIndex: 7, completion });
  expect(await send({ ...json, method: "Step", body })).toBe('{"outcome":{"sampleIndex":7}}');
});

describe("what is sent compressed is read", () => {
  const request = { sampleIndex: 7 };
  const body = JSON.stringify(request);
  const answer = '{"outcome":{"sampleIndex":7}}';

  test("in a whole body", async () => {
    const send = await starting();
    const headers = { "content-encoding": "gzip" };
    expect(await send({ ...json, method: "Step", body: gzipSync(body), headers })).toBe(answer);
  });

  test("in an envelope", async () => {
    const send = await starting();
    const sent = { method: "Step", type: "grpc-web+json", headers: { "grpc-encoding": "gzip" } } as const;
    expect(await send({ ...sent, body: envelope(gzipSync(body), 1) })).toContain(answer);
  });

  test("but not in a way that the server does not know", async () => {
    const send = await starting();
    const headers = { "content-encoding": "zip" };
    expect(await send({ ...json, method: "Step", body, headers })).toContain('unknown compression \\"zip\\"');
  });
});

test.each([
  ["in a text", '{"completion": "\xff"}'],
  ["cut off", '{"completion": "\xc3"}'],
  ["in a key", '{"\xed\xa0\x80": 1}'],
])("JSON that is not UTF-8 is refused, and not mended: %s", async (_, body) => {
  const send = await starting();
  const refused = await send({ ...json, method: "Step", body: Buffer.from(body, "latin1") });
  expect(JSON.parse(refused)).toEqual({ code: "invalid_argument", message: "the request's JSON is not valid UTF-8" });
});

describe("64-bit integers in JSON", () => {
  const seeds = async (list: string) =>
    (await starting())({ ...json, method: "BatchReset", body: `{"seeds":[${list}]}` });

  test("are exact as text, and as numbers up to 2^53 - 1", async () => {
    const results = ["9007199254740991", "9007199254740993", "18446744073709551615"].map((seed) => ({ seed }));
    const answer = await seeds('9007199254740991, "9007199254740993", "18446744073709551615"');
    expect(JSON.parse(answer)).toEqual({ results });
  });

  test.each(["9007199254740993", "18446744073709551615", "9.007199254740993e15"])(
    "as a greater number, %s, are refused by field, for JSON.parse changes them",
    async (seed) => {
      const words = "JSON numbers beyond 2^53 - 1 lose digits: send the number as a string";
      expect(await seeds(`1, ${seed}`)).toContain(`"invalid_argument","message":"seeds[1]: ${words}"`);
    },
  );

  test("are refused by field where no 64 bits are so long", async () => {
    const refused = await seeds(`"${"9".repeat(1_000_000)}"`);
    expect(refused).toContain("seeds[0]: must be a whole number of at most 64 bits, in digits");
  });

  test("keep every bit in binary", async () => {
    const send = await starting();
    const seeds = [2n ** 53n + 1n, 2n ** 64n - 1n];
    const body = toBinary(BatchResetRequestSchema, create(BatchResetRequestSchema, { seeds }));
    const answer = create(BatchResetResponseSchema, { results: seeds.map((seed) => ({ seed })) });
    const expected = decodeURIComponent(Buffer.from(toBinary(BatchResetResponseSchema, answer)).toString());
    expect(await send({ method: "BatchReset", type: "proto", body })).toBe(expected);
  });
});

test("a body whose length no header says is read whole", async () => {
  const { httpPort } = await start({ step: async (request) => echo(request) });
  const pieces = [`{"taskId":"`, "t".repeat(300_000), `","sampleIndex":7}`].map((text) => Buffer.from(text));
  const response = await fetch(`http://127.0.0.1:${httpPort}/gradus.v1.EnvironmentService/Step`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: ReadableStream.from(pieces),
    duplex: "half",
  });
  expect(await response.json()).toEqual({ outcome: { sampleIndex: 7 } });
});
