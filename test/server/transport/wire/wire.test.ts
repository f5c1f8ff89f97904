/** What is read and written by hand is what protobuf-es reads and writes. */
import { create, type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  GetHistoryResponseSchema,
  ImportRunResponseSchema,
  NextBatchResponseSchema,
  NextEvaluationResponseSchema,
  ReportAdvantagesRequestSchema,
} from "../../../../server/gen/gradus/v1/curriculum_pb.js";
import {
  BatchResetResponseSchema,
  BatchStepRequestSchema,
  BatchStepResponseSchema,
  EnvironmentService,
  GetEnvironmentResponseSchema,
  ListEnvironmentsResponseSchema,
  StepRequestSchema,
  StepResponseSchema,
  StreamStepsRequestSchema,
  StreamStepsResponseSchema,
} from "../../../../server/gen/gradus/v1/environment_pb.js";
import { GroupOutcomeSchema, OutcomeSchema } from "../../../../server/gen/gradus/v1/outcome_pb.js";
import { decoderOf } from "../../../../server/transport/wire/requests.ts";
import { cutterOf, encoderOf, writeAhead } from "../../../../server/transport/wire/responses.ts";
import { arbitraryMessage } from "../../../support/arbitrary-message.ts";

const requests: readonly DescMessage[] = [StepRequestSchema, BatchStepRequestSchema, StreamStepsRequestSchema];
const responses: readonly DescMessage[] = [
  StepResponseSchema,
  BatchStepResponseSchema,
  StreamStepsResponseSchema,
  GroupOutcomeSchema,
  OutcomeSchema,
  NextBatchResponseSchema,
  NextEvaluationResponseSchema,
  GetEnvironmentResponseSchema,
  ListEnvironmentsResponseSchema,
];

/** What a reader makes of bytes; a message as its canonical bytes. */
function readingOf(schema: DescMessage, read: (bytes: Uint8Array) => unknown, bytes: Uint8Array): unknown {
  try {
    return toBinary(schema, read(bytes) as never);
  } catch (error) {
    return String(error);
  }
}

function expectSameReading(schema: DescMessage, bytes: Uint8Array): void {
  const byHand = readingOf(schema, decoderOf(schema), bytes);
  expect(byHand).toEqual(readingOf(schema, (of) => fromBinary(schema, of), bytes));
}

describe.each(requests)("$name is read", (schema) => {
  test("as it was written", () => {
    fc.assert(
      fc.property(arbitraryMessage(schema), (message) => {
        const bytes = toBinary(schema, message);
        expect(toBinary(schema, decoderOf(schema)(bytes) as never)).toEqual(bytes);
        expectSameReading(schema, bytes);
      }),
    );
  });

  test("or refused as protobuf-es does, where bytes are changed, cut or added", () => {
    const change = fc.record({ at: fc.nat(400), remove: fc.nat(3), add: fc.uint8Array({ maxLength: 4 }) });
    fc.assert(
      fc.property(arbitraryMessage(schema), change, (message, { at, remove, add }) => {
        const bytes = toBinary(schema, message);
        const place = at % (bytes.length + 1);
        expectSameReading(schema, Uint8Array.from([...bytes.slice(0, place), ...add, ...bytes.slice(place + remove)]));
      }),
      { numRuns: 2000 },
    );
  });

  test("from any bytes", () => {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => expectSameReading(schema, bytes)));
  });
});

describe.each(responses)("$name is written", (schema) => {
  test("as protobuf-es writes it", () => {
    fc.assert(
      fc.property(arbitraryMessage(schema), (message) => {
        expect(Uint8Array.from(encoderOf(schema)(message))).toEqual(toBinary(schema, message));
      }),
      { numRuns: 500 },
    );
  });
});

describe("texts", () => {
  const request = (completion: string | Uint8Array): Uint8Array => {
    const bytes = Buffer.from(completion);
    return Uint8Array.from([34, bytes.length, ...bytes]);
  };
  const read = decoderOf(StepRequestSchema);

  test.each(["\ufeffA", "\ufffd", "a\0b", "💡", "\ud7ff"])("%j is kept", (text) => {
    expect(read(request(text)).completion).toBe(text);
  });

  test.each([[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x92]])("bytes %j are no UTF-8", (...bytes) => {
    expect(() => read(request(Uint8Array.from(bytes)))).toThrow();
  });
});

test("a message larger than the writer's buffer, and one after it", () => {
  const encode = encoderOf(OutcomeSchema);
  for (const length of [3_000_000, 100_000, 10]) {
    const nextTaskId = "é".repeat(length);
    const outcome = {
      $typeName: "gradus.v1.Outcome",
      sampleIndex: 7,
      result: { case: undefined },
      nextTaskId,
    } as const;
    expect(fromBinary(OutcomeSchema, encode(outcome)).nextTaskId).toBe(nextTaskId);
  }
});

test("other messages are left to protobuf-es", () => {
  const { input } = EnvironmentService.method.reset;
  const bytes = encoderOf(input)({ $typeName: "gradus.v1.ResetRequest", seed: 5n });
  expect(decoderOf(input)(bytes).seed).toBe(5n);
});

describe("millions of empty parts are refused before they are made", () => {
  /** The tag of a message field, and a length of 0, again and again. */
  const empties = (tag: number, count: number): Buffer => Buffer.alloc(2 * count, Buffer.from([tag, 0]));

  test("groups, written plainly or not", () => {
    const read = decoderOf(BatchStepRequestSchema);
    expect(() => read(empties(10, 2 ** 18 + 1))).toThrow("more than 262144 groups and completions");
    // An unknown field first: protobuf-es would read the rest.
    const notPlain = Buffer.concat([Buffer.from([0x7a, 0]), empties(10, 2 ** 20 + 1)]);
    expect(() => read(notPlain)).toThrow("more than 1048576 fields");
  });

  test("in other messages, and in those within them", () => {
    const read = decoderOf(ReportAdvantagesRequestSchema);
    expect(() => read(empties(18, 2 ** 20 + 1))).toThrow("more than 1048576 fields");
    const inner = toBinary(ReportAdvantagesRequestSchema, create(ReportAdvantagesRequestSchema, { runId: "r" }));
    expect(read(inner).runId).toBe("r");
    expect(read(Buffer.concat([inner, Buffer.from([0x7a, 0x80, 0x80, 0x80, 1]), Buffer.alloc(2 ** 21)])).runId).toBe(
      "r",
    );
  });
});

test("an environment is written once, for it stays what it is", () => {
  const encode = encoderOf(ListEnvironmentsResponseSchema);
  const message = create(ListEnvironmentsResponseSchema, { environments: [{ id: "a", description: "first" }] });
  const bytes = encode(message);
  for (const environment of message.environments) environment.description = "second";
  expect(encode(message)).toEqual(bytes);
  const other = create(GetEnvironmentResponseSchema, { environment: message.environments[0] as never });
  expect(fromBinary(GetEnvironmentResponseSchema, encoderOf(GetEnvironmentResponseSchema)(other)).environment).toEqual(
    expect.objectContaining({ description: "first" }),
  );
});

describe("a long answer is written in pieces, which behind one another are the answer", () => {
  const tasks = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ taskId: `task ${i}`, prompt: [{ role: "user" }] }));
  const cases: readonly (readonly [DescMessage, Record<string, unknown>, pieces: number])[] = [
    [NextBatchResponseSchema, { tasks: tasks(64), nextCursor: 7n, done: true }, 1],
    [NextBatchResponseSchema, { tasks: tasks(1000), nextCursor: 7n, done: true, epoch: 3 }, 63],
    [ImportRunResponseSchema, { outstanding: tasks(500), run: { runId: "a" } }, 32],
    [GetHistoryResponseSchema, { records: Array.from({ length: 80 }, () => ({ cursor: 5n })), nextPageToken: "b" }, 5],
    [BatchResetResponseSchema, { results: Array.from({ length: 65 }, (_, i) => ({ seed: BigInt(i) })) }, 5],
    [StepResponseSchema, {}, 1],
  ];
  test.each(cases)("$0.name", (schema, fields, pieces) => {
    const message = create(schema, fields);
    const cut = cutterOf(schema)(message);
    expect(cut).toHaveLength(pieces);
    const encode = encoderOf(schema) as (message: unknown) => Buffer;
    expect(fromBinary(schema, Buffer.concat(cut.map(encode)))).toEqual(fromBinary(schema, toBinary(schema, message)));
  });
});

test("tasks that were written ahead have the same bytes in a batch, with others that were not", () => {
  const encode = encoderOf(NextBatchResponseSchema);
  fc.assert(
    fc.property(arbitraryMessage(NextBatchResponseSchema), (message) => {
      const bytes = encode(message);
      message.tasks.filter((_, i) => i % 2 === 0).forEach(writeAhead);
      expect(encode(message)).toEqual(bytes);
    }),
  );
});
