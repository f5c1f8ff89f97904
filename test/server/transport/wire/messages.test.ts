/** Tests that reading a message stops at a limit, and that writing long messages leaves time for other calls. */
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
  toJsonString,
} from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { describe, expect, test } from "vitest";
import {
  GetHistoryResponseSchema,
  ImportRunResponseSchema,
  NextBatchResponseSchema,
  ReportAdvantagesRequestSchema,
} from "../../../../proto/gen/gradus/v1/curriculum_pb.js";
import {
  BatchResetResponseSchema,
  BatchStepRequestSchema,
  CompletionSchema,
  ListEnvironmentsResponseSchema,
  StepRequestSchema,
  StepResponseSchema,
  StreamStepsRequestSchema,
} from "../../../../proto/gen/gradus/v1/environment_pb.js";
import { BatchSubmitCompletionsRequestSchema } from "../../../../proto/gen/gradus/v1/evaluation_pb.js";
import { TaskSchema } from "../../../../proto/gen/gradus/v1/task_pb.js";
import { encodedAhead, freeTexts, textSizes } from "../../../../server/base/rpc.ts";
import { cutterOf, decoderOf, encoderOf } from "../../../../server/transport/wire/codec.ts";
import { PIECE_BYTES, STEP_MESSAGES_MAX } from "../../../../server/transport/wire/pieces.ts";

const noWait = () => Promise.resolve();

/** Returns a function that decodes messages, and rejects those that cannot be decoded. */
function readerOf<D extends DescMessage>(schema: D): (bytes: Uint8Array) => Promise<MessageShape<D>> {
  const decode = decoderOf(schema);
  return async (bytes) => decode(bytes, noWait);
}

describe("texts", () => {
  const request = (completion: string | Uint8Array): Uint8Array => {
    const bytes = Buffer.from(completion);
    return Uint8Array.from([34, bytes.length, ...bytes]);
  };
  const read = readerOf(StepRequestSchema);

  test.each(["\ufeffA", "\ufffd", "a\0b", "💡", "\ud7ff"])("%j is kept", async (text) => {
    expect((await read(request(text))).completion).toBe(text);
  });

  test.each([[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x92]])(
    "bytes %j are no UTF-8",
    async (...bytes) => {
      await expect(read(request(Uint8Array.from(bytes)))).rejects.toThrow();
    },
  );
});

describe("millions of empty parts are refused before they are made", () => {
  /** The tag of a message field, and a length of 0, again and again. */
  const empties = (tag: number, count: number): Buffer => Buffer.alloc(2 * count, Buffer.from([tag, 0]));

  test("groups, and fields that are unknown", async () => {
    const read = readerOf(BatchStepRequestSchema);
    await expect(read(empties(10, STEP_MESSAGES_MAX + 1))).rejects.toThrow(
      `more than ${STEP_MESSAGES_MAX} messages within it`,
    );
    await expect(read(empties(122, 2 ** 20 + 1))).rejects.toThrow("more than 1048576 fields");
  });

  test("in other messages, and in those within them", async () => {
    const read = readerOf(ReportAdvantagesRequestSchema);
    await expect(read(empties(18, 2 ** 18 + 1))).rejects.toThrow("more than 262144 messages within it");
    const inner = toBinary(ReportAdvantagesRequestSchema, create(ReportAdvantagesRequestSchema, { runId: "r" }));
    expect((await read(inner)).runId).toBe("r");
    const unknown = Buffer.concat([inner, Buffer.from([0x7a, 0x80, 0x80, 0x80, 1]), Buffer.alloc(2 ** 21)]);
    expect((await read(unknown)).runId).toBe("r");
  });

  test("messages within messages", async () => {
    let nested = toBinary(
      StreamStepsRequestSchema,
      create(StreamStepsRequestSchema, { requestId: "r".repeat(20_000) }),
    );
    for (let depth = 0; depth < 101; depth++)
      nested = new BinaryWriter().tag(3, WireType.LengthDelimited).bytes(nested).finish();
    await expect(readerOf(StreamStepsRequestSchema)(nested)).rejects.toThrow("more than 100 levels of messages");
  });

  test("texts of ids, which are read in one go", async () => {
    const ids = create(BatchStepRequestSchema, { groups: [{ taskId: "x".repeat(2 ** 23) }] });
    const read = readerOf(BatchStepRequestSchema);
    await expect(read(toBinary(BatchStepRequestSchema, ids))).rejects.toThrow(
      "more than 8388608 bytes of texts that are no compl",
    );
  });
});

test("completions of an evaluation do not count among the texts that are bounded", async () => {
  const completions = Array.from({ length: 40 }, () => ({ completion: "x".repeat(2 ** 18) }));
  const message = create(BatchSubmitCompletionsRequestSchema, { completions });
  const read = await readerOf(BatchSubmitCompletionsRequestSchema)(
    toBinary(BatchSubmitCompletionsRequestSchema, message),
  );
  expect(read.completions).toHaveLength(40);
});

describe("a message of long texts is read as protobuf-es reads it", () => {
  const long = (text: string): string => text.repeat(Math.ceil(300_000 / text.length));
  const message = create(StreamStepsRequestSchema, {
    requestId: "r",
    groups: [
      { taskId: "a", completions: [{ text: long("abc") }, { text: "short", sampleIndex: 1 }, { text: long("é💡") }] },
      { taskId: "b", numGenerations: 2, completions: [{ text: "", policyVersion: 7 }, { text: long("\ufeff\0") }] },
    ],
  });
  const bytes = toBinary(StreamStepsRequestSchema, message);
  const read = readerOf(StreamStepsRequestSchema);

  test("whose texts are there when they are asked for", async () => {
    expect(bytes.length).toBeGreaterThan(1024 ** 2);
    expect(toBinary(StreamStepsRequestSchema, await read(bytes))).toEqual(bytes);
  });

  test("from a kilobyte on each is made of its bytes when it is wanted, and until they are freed", async () => {
    const text = "abc ".repeat(500);
    const completions = Array.from({ length: 600 }, () => ({ text }));
    const own = toBinary(BatchStepRequestSchema, create(BatchStepRequestSchema, { groups: [{ completions }] })).slice();
    const { groups } = await readerOf(BatchStepRequestSchema)(own);
    const first = groups[0]?.completions[0];
    expect(Object.getOwnPropertyDescriptor(first, "text")).not.toHaveProperty("value");
    expect(textSizes.get(groups[0] as object)).toBe(600 * text.length);
    expect(first?.text).toBe(text);
    freeTexts(groups);
    expect(own.buffer.byteLength).toBe(0);
    expect(() => first?.text).toThrow("detached");
  });

  test("and how long the texts of each group are together is known, the short ones among them", async () => {
    const { groups } = await read(bytes);
    expect(groups.map((group) => textSizes.get(group))).toEqual([900_005, 600_000]);
  });

  test("their bytes are not freed where they came as part of larger ones", async () => {
    const larger = Buffer.concat([Buffer.alloc(100), bytes]);
    const { groups } = await read(larger.subarray(100));
    freeTexts(groups);
    expect(groups[0]?.completions[0]?.text).toBe(long("abc"));
  });

  test("and is refused where more requests are in it", async () => {
    const together = toBinary(StreamStepsRequestSchema, create(StreamStepsRequestSchema, { more: [message] }));
    await expect(read(together)).rejects.toThrow(
      "a message with several requests may have at most 1048576 bytes: send them one by one",
    );
  });

  test("the last text counts where one completion has two", async () => {
    const twice = async (texts: readonly string[]): Promise<string | undefined> => {
      const completion = Buffer.concat(
        texts.map((text) => toBinary(CompletionSchema, create(CompletionSchema, { text }))),
      );
      const group = new BinaryWriter().tag(3, WireType.LengthDelimited).bytes(completion).finish();
      const whole = new BinaryWriter().tag(2, WireType.LengthDelimited).bytes(group).finish();
      expect(whole.length).toBeGreaterThan(1024 ** 2);
      return (await read(whole)).groups[0]?.completions[0]?.text.slice(0, 3);
    };
    const megabyte = "x".repeat(1024 ** 2);
    expect(await twice([megabyte, "abc"])).toBe("abc");
    expect(await twice(["abc", megabyte])).toBe("xxx");
    expect(await twice([megabyte, `yyy${megabyte}`])).toBe("yyy");
  });

  test("and refused where it is cut, or holds bytes that are no UTF-8", async () => {
    for (const length of [bytes.length - 1, bytes.length - 400_000, 1_200_000]) {
      await expect(read(bytes.subarray(0, length))).rejects.toThrow();
    }
    const broken = Uint8Array.from(bytes);
    broken[Buffer.from(bytes).indexOf("abcabc") + 1000] = 0xff;
    await expect(read(broken)).rejects.toThrow();
    // A group that claims to be longer than the message.
    const claims = Buffer.from(bytes);
    claims[claims.indexOf("a", 4) - 3] = 0xff;
    await expect(read(claims)).rejects.toThrow();
  });
});

describe("a long message is decoded in pieces", () => {
  const call = { id: "1", name: "guess", argumentsJson: "{}" };
  const transcript = [
    { role: "user", content: "é".repeat(900) },
    { role: "assistant", toolCalls: [call, call] },
  ];
  const groups = [
    { taskId: "a".repeat(PIECE_BYTES + 1), completions: Array.from({ length: 5000 }, () => ({ toolCalls: [call] })) },
    { taskId: "b", completions: [{ sampleIndex: 1, toolCalls: Array.from({ length: 9000 }, () => call), end: true }] },
    ...Array.from({ length: 300 }, (_, i) => ({ taskId: `${i}`, completions: [{ text: `${i}`, transcript }] })),
    { taskId: "c", completions: [{ text: "x".repeat(3 * PIECE_BYTES), sampleIndex: 2 }] },
  ];
  const messages: readonly (readonly [DescMessage, Record<string, unknown>])[] = [
    [BatchStepRequestSchema, { groups, options: { normalization: 1 } }],
    [
      StreamStepsRequestSchema,
      { requestId: "r", groups: [...groups, { completions: [{ text: "y".repeat(2 ** 20) }] }] },
    ],
    [BatchResetResponseSchema, { results: Array.from({ length: 4000 }, (_, i) => ({ seed: BigInt(i) })) }],
  ];

  test.each(messages.map(([schema, fields]) => [schema.name, schema, fields] as const))(
    "%s: the pieces together are the message",
    async (_, schema, fields) => {
      const bytes = toBinary(schema, create(schema, fields));
      let pieces = 0;
      const turn = () => (pieces++, Promise.resolve());
      const read = await decoderOf(schema)(bytes, turn);
      // Long texts take little time, so they need few pieces.
      const texts = toJsonString(schema, read).match(/"[^"]*"/g) ?? [];
      const longBytes = texts.map((text) => Buffer.byteLength(text)).filter((length) => length >= 1024);
      const others = longBytes.reduce((rest, length) => rest - length, bytes.length);
      expect(pieces).toBeGreaterThan(others / PIECE_BYTES / 2);
      expect(toBinary(schema, read)).toEqual(bytes);
      expect({ ...(await readerOf(schema)(bytes)) }).toEqual({ ...fromBinary(schema, bytes) });
    },
  );

  test("unless its bytes are nearly all long texts", () => {
    const turn = () => Promise.resolve();
    const requestOf = (completions: MessageInitShape<typeof CompletionSchema>[]) => {
      const bytes = toBinary(BatchStepRequestSchema, create(BatchStepRequestSchema, { groups: [{ completions }] }));
      expect(bytes.length).toBeGreaterThan(4 * PIECE_BYTES);
      return { bytes, read: decoderOf(BatchStepRequestSchema)(bytes, turn) };
    };
    const texts = requestOf(Array.from({ length: 16 }, () => ({ text: "é".repeat(2048) })));
    expect(texts.read).toEqual(fromBinary(BatchStepRequestSchema, texts.bytes));
    expect(requestOf(Array.from({ length: 9000 }, () => ({ toolCalls: [call] }))).read).toBeInstanceOf(Promise);
    expect(requestOf([{ toolCalls: Array.from({ length: 9000 }, () => call) }]).read).toBeInstanceOf(Promise);
  });

  test("which ends when the call was aborted", async () => {
    const bytes = toBinary(BatchStepRequestSchema, create(BatchStepRequestSchema, { groups }));
    const aborted = () => Promise.reject(new Error("the caller has left"));
    await expect(decoderOf(BatchStepRequestSchema)(bytes, aborted)).rejects.toThrow("the caller has left");
  });
});

test("a frozen message is written once, for it stays what it is", () => {
  const encode = encoderOf(ListEnvironmentsResponseSchema);
  const message = create(ListEnvironmentsResponseSchema, { environments: [{ id: "a" }] });
  expect(encode(message)).not.toBe(encode(message));
  const frozen = Object.freeze(message);
  expect(encode(frozen)).toBe(encode(frozen));
  expect(fromBinary(ListEnvironmentsResponseSchema, encode(frozen))).toEqual(message);
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

test("tasks that were encoded ahead are not encoded again", () => {
  const tasks = Array.from({ length: 3 }, (_, i) =>
    create(TaskSchema, { taskId: `task ${i}`, prompt: [{ role: "user" }] }),
  );
  const message = create(NextBatchResponseSchema, { tasks, nextCursor: 7n, epoch: 2 });
  const encode = encoderOf(NextBatchResponseSchema);
  const plain = encode(message);
  for (const task of tasks) encodedAhead.set(task, toBinary(TaskSchema, { ...task, armId: "ahead" }));
  const read = fromBinary(NextBatchResponseSchema, encode(message));
  expect(read.tasks.map(({ armId }) => armId)).toEqual(["ahead", "ahead", "ahead"]);
  const same = { ...read, tasks: read.tasks.map((task) => ({ ...task, armId: "" })) };
  expect(toBinary(NextBatchResponseSchema, same)).toEqual(new Uint8Array(plain));
  const mixed = create(NextBatchResponseSchema, { tasks: [...tasks, create(TaskSchema, { taskId: "other" })] });
  expect(fromBinary(NextBatchResponseSchema, encode(mixed)).tasks[0]?.armId).toBe("");
});
