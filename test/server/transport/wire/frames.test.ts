/** Tests that our deframer finds the same messages as grpc-js's own, however the pieces are cut. */
import fc from "fast-check";
import { createRequire } from "node:module";
import { expect, test, vi } from "vitest";
import { ByteGatherer, Deframer } from "../../../../server/transport/wire/frames.ts";

interface Decoder {
  write(data: Buffer): Buffer[];
}
const { StreamDecoder } = createRequire(import.meta.url)("@grpc/grpc-js/build/src/stream-decoder.js") as {
  StreamDecoder: new (maxBytes: number) => Decoder;
};

const framed = (compressed: boolean, contents: Uint8Array): Buffer => {
  const header = Buffer.alloc(5);
  header.writeUInt8(compressed ? 1 : 0);
  header.writeUInt32BE(contents.length, 1);
  return Buffer.concat([header, contents]);
};

/** Cuts bytes into pieces of the given lengths. The last piece has the rest. */
function cut(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  let at = 0;
  const pieces = lengths.map((length) => bytes.subarray(at, (at += length)));
  return [...pieces, bytes.subarray(at)].filter(({ length }) => length > 0);
}

const contents = fc.oneof(fc.uint8Array({ maxLength: 12 }), fc.uint8Array({ minLength: 100, maxLength: 300 }));
const messages = fc.array(fc.tuple(fc.boolean(), contents), { maxLength: 8 });
const lengths = fc.array(fc.oneof(fc.nat(7), fc.nat(400)), { maxLength: 40 });

test("the same messages after each piece", () => {
  fc.assert(
    fc.property(messages, lengths, (sent, pieces) => {
      const ours = new Deframer(1000, true);
      const theirs = new StreamDecoder(1000);
      for (const piece of cut(Buffer.concat(sent.map((message) => framed(...message))), pieces)) {
        // Both may return views of the piece.
        expect(ours.write(Buffer.from(piece))).toEqual(theirs.write(Buffer.from(piece)));
      }
      expect(ours.partialBytes).toBe(0);
    }),
  );
});

test("what has come of a message is known, and can be let go of", () => {
  const decoder = new Deframer(1000, true);
  expect(decoder.write(framed(false, Buffer.alloc(100)).subarray(0, 60))).toEqual([]);
  expect(decoder.partialBytes).toBe(60);
  decoder.drop();
  expect(decoder.partialBytes).toBe(0);
});

test("rooms that a message outgrew are freed when it has moved", () => {
  const allocate = vi.spyOn(Buffer, "allocUnsafeSlow");
  const gatherer = new ByteGatherer();
  const piece = Buffer.alloc(64 * 1024, "gradus");
  for (let i = 0; i < 64; i++) gatherer.add(piece, 64 * piece.length);
  expect(gatherer.bytes().equals(Buffer.concat(Array.from({ length: 64 }, () => piece)))).toBe(true);
  const rooms = allocate.mock.results.map(({ value }) => (value as Buffer).length);
  allocate.mockRestore();
  expect(rooms).toEqual([0, 0, 0, 64 * piece.length]);
});

test("a message that is much longer than the first room for it", () => {
  const message = framed(false, Buffer.alloc(9_000_000, "gradus"));
  const decoder = new Deframer(10_000_000, true);
  const pieces = cut(
    message,
    Array.from({ length: 20 }, () => 400_000),
  );
  const found = pieces.flatMap((piece) => decoder.write(piece));
  expect(found.map((each) => each.equals(message))).toEqual([true]);
});

test.each([
  [2, true, "a message begins with the compression flag 2, which must be 0 or 1"],
  [255, false, "a message begins with the compression flag 255, which must be 0 or 1"],
  [1, false, "a message is compressed, but no header of the request says how: send the header grpc-encoding"],
])("a compression flag that means nothing is refused: %d", (flag, isEncoded, message) => {
  const sent = framed(false, Buffer.alloc(10));
  sent.writeUInt8(flag);
  for (const at of [0, 1, 8]) {
    const deframer = new Deframer(100, isEncoded);
    expect(() => cut(sent, [at]).map((piece) => deframer.write(piece))).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT", message }),
    );
  }
});

test("a length over the limit is refused before the message comes, wherever the header is cut", () => {
  const header = framed(false, Buffer.alloc(101)).subarray(0, 5);
  for (const at of [0, 1, 3, 4]) {
    const decoder = new Deframer(100, true);
    expect(() => cut(header, [at]).map((piece) => decoder.write(piece))).toThrow(/101 bytes, more than the 100 of/);
  }
});

test("a large message that comes in pieces is put together, whatever its rooms were", () => {
  for (const size of [130_000, 140_000, 600_000, 3_000_000])
    for (const piece of [1_000, 65_536, 400_000]) {
      const message = Buffer.alloc(5 + size, 7);
      message.writeUInt8(0, 0);
      message.writeUInt32BE(size, 1);
      for (let at = 5; at < message.length; at += 4_096) message.writeUInt8(at % 251, at);
      const decoder = new Deframer(size, false);
      const found: Buffer[] = [];
      for (let at = 0; at < message.length; at += piece) found.push(...decoder.write(message.subarray(at, at + piece)));
      expect(found.map((each) => each.equals(message))).toEqual([true]);
    }
});

test.each([Infinity, 1, 500_000, 4_000_000])("bytes are put together of which %d were expected", (expected) => {
  const all = Buffer.from(Array.from({ length: 1_000_000 }, (_, i) => i % 251));
  const gatherer = new ByteGatherer();
  for (let at = 0; at < all.length; at += 70_000) gatherer.add(all.subarray(at, at + 70_000), expected);
  expect(gatherer.length).toBe(all.length);
  expect(gatherer.bytes().equals(all)).toBe(true);
});
