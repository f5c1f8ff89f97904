/** Hostile calls on the gRPC port. */
import { gzipSync } from "node:zlib";
import type { DescMethod } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { EnvironmentService } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { frame } from "../../server/transport/grpc/raw.ts";
import {
  type GrpcAttack,
  type Headers,
  MESSAGE_BYTES_MAX,
  type RequestOf,
  WAITING_MS,
  anyMethod,
  bidiMethods,
  body,
  encoded,
  oddPath,
  pathOf,
} from "./attack.ts";

function deadlineOf({ name }: DescMethod): Headers {
  const ms = WAITING_MS[name];
  return ms === undefined ? {} : { "grpc-timeout": `${ms}m` };
}

/** A field that no message has, large enough that BatchStep takes another path through the server. */
const PADDING = new BinaryWriter()
  .tag(1000, WireType.LengthDelimited)
  .bytes(new Uint8Array(260 * 1024))
  .finish();

function padded(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(Buffer.concat([bytes, PADDING]));
}

/** Bytes that are not one message in gRPC's five bytes. */
const brokenFrames: fc.Arbitrary<readonly Uint8Array[]> = fc.oneof(
  fc.constantFrom<readonly Uint8Array[]>(
    [],
    [Uint8Array.of(0, 0, 0)],
    [Uint8Array.of(0, 255, 255, 255, 255, 1)],
    [Uint8Array.of(0, 0, 0, 0, 9, 1)],
    [Uint8Array.of(1, 0, 0, 0, 2, 1, 2)],
    [Uint8Array.of(7, 0, 0, 0, 0)],
    [frame(new Uint8Array()), frame(new Uint8Array())],
    [frame(new Uint8Array(MESSAGE_BYTES_MAX + 1))],
  ),
  fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 3 }),
);

const NAMES = ["grpc-timeout", "grpc-encoding", "x-request-id", "authorization", "x-odd", "x-odd-bin", "user-agent"];
const VALUES = ["", "x", "-1S", "99999999H", "1n", "gzip", "br", "%%%", "x".repeat(2000), "Bearer ../..", "__proto__"];
const oddHeaders: fc.Arbitrary<Headers> = fc.dictionary(fc.constantFrom(...NAMES), fc.constantFrom(...VALUES), {
  maxKeys: 3,
});

export function grpcAttack(requestOf: RequestOf): fc.Arbitrary<GrpcAttack> {
  const call = (over: Partial<GrpcAttack>, method: DescMethod): GrpcAttack => ({
    kind: "grpc",
    path: pathOf(method),
    chunks: [],
    end: "close",
    ...over,
    headers: { ...over.headers, ...deadlineOf(method) },
  });
  const messages = anyMethod.chain((method) =>
    body(method, requestOf).map((bytes) => call({ chunks: [frame(bytes)] }, method)),
  );
  const { batchStep } = EnvironmentService.method;
  const large = body(batchStep, requestOf).map((bytes) => call({ chunks: [frame(padded(bytes))] }, batchStep));
  const cancelled = messages.map((attack): GrpcAttack => ({ ...attack, end: "reset" }));
  const frames = fc.tuple(anyMethod, brokenFrames).map(([method, chunks]) => call({ chunks }, method));
  const compressed = anyMethod.chain((method) =>
    fc
      .oneof(encoded(method, requestOf).map(gzipSync), fc.uint8Array({ maxLength: 40 }), fc.constant(bomb))
      .map((bytes) => call({ headers: { "grpc-encoding": "gzip" }, chunks: [compressedFrame(bytes)] }, method)),
  );
  const headers = fc
    .tuple(messages, oddHeaders)
    .map(([attack, odd]): GrpcAttack => ({ ...attack, headers: { ...odd, ...attack.headers } }));
  const paths = fc.tuple(messages, oddPath).map(([attack, path]): GrpcAttack => ({ ...attack, path }));
  const types = fc
    .tuple(
      messages,
      fc.constantFrom("text/plain", "application/json", "application/grpc-web", "", "application/grpc+x"),
    )
    .map(([attack, type]): GrpcAttack => ({ ...attack, headers: { ...attack.headers, "content-type": type } }));
  return fc.oneof(
    { weight: 16, arbitrary: messages },
    { weight: 1, arbitrary: large },
    { weight: 2, arbitrary: cancelled },
    { weight: 2, arbitrary: frames },
    { weight: 1, arbitrary: compressed },
    { weight: 2, arbitrary: headers },
    { weight: 1, arbitrary: paths },
    { weight: 1, arbitrary: types },
    { weight: 4, arbitrary: streamAttack(requestOf) },
  );
}

/** A message that is small when it arrives, and larger than the limit when it is unpacked. */
const bomb = gzipSync(new Uint8Array(1_000_000));

function compressedFrame(bytes: Uint8Array): Buffer {
  const framed = frame(bytes);
  framed[0] = 1;
  return framed;
}

/**
 * Generates a stream: some requests, one of them perhaps no message at all, and every kind of end. Request ids repeat.
 */
function streamAttack(requestOf: RequestOf): fc.Arbitrary<GrpcAttack> {
  const end = fc.constantFrom("close" as const, "close" as const, "reset" as const, "never" as const);
  return fc.constantFrom(...bidiMethods).chain((method) => {
    const request = encoded(method, requestOf).map(frame);
    const chunk = fc.oneof({ weight: 8, arbitrary: request }, fc.uint8Array({ maxLength: 30 }).map(frame));
    return fc.tuple(fc.array(chunk, { maxLength: 4 }), end).map(([chunks, how]) => ({
      kind: "grpc",
      path: pathOf(method),
      chunks,
      end: how,
      headers: how === "never" ? { "grpc-timeout": "40m" } : {},
    }));
  });
}
