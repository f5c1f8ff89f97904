/** Frames between the server and a zygote. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { createFrameReader, type Frame, jobBytes } from "../../../../server/outside/sandbox/zygote-frames.ts";

function bytesOf(kind: number, jobId: number, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(9);
  header.writeUInt8(kind, 0);
  header.writeUInt32BE(jobId, 1);
  header.writeUInt32BE(payload.length, 5);
  return Buffer.concat([header, payload]);
}

const frames = fc.array(fc.tuple(fc.constantFrom(1, 2, 11), fc.nat(2 ** 32 - 1), fc.uint8Array({ maxLength: 40 })), {
  maxLength: 6,
});

test("frames are the same however they are cut", () => {
  fc.assert(
    fc.property(frames, fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (given, sizes) => {
      const bytes = Buffer.concat(given.map((frame) => bytesOf(...frame)));
      const read: Frame[] = [];
      const take = createFrameReader((frame) => read.push(frame));
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const size = sizes[i % sizes.length] ?? 1;
        take(bytes.subarray(at, at + size));
        at += size;
      }
      const kinds = { 1: "reply", 2: "printed", 11: "done" } as Readonly<Record<number, string>>;
      expect(read.map(({ kind, jobId, payload }) => [kind, jobId, [...payload]])).toEqual(
        given.map(([kind, jobId, payload]) => [kinds[kind], jobId, [...payload]]),
      );
    }),
  );
});

test("what no zygote says is refused at its first bytes", () => {
  expect(() => createFrameReader(() => undefined)(bytesOf(99, 0, Buffer.alloc(0)))).toThrow("kind 99");
  const long = bytesOf(1, 0, Buffer.alloc(0));
  long.writeUInt32BE(2 ** 31, 5);
  expect(() => createFrameReader(() => undefined)(long)).toThrow(
    "claims 2147483648 bytes of content, and the limit is",
  );
});

test("a job that is longer than a zygote takes is not sent", () => {
  const job = { program: "", cpuMsMax: 1, cases: [{ kind: "script", stdin: "x".repeat(64 * 1024 ** 2) }] } as const;
  expect(jobBytes(1, job)).toBeUndefined();
  expect(jobBytes(1, { ...job, cases: [{ kind: "script", stdin: "é" }] })).toHaveLength(9 + 12 + 5 + 2);
});
