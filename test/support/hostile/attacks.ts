/** What a hostile client sends, as plain data: fast-check prints and shrinks it. */
import { gzipSync } from "node:zlib";
import { type DescMethod, type Message, toBinary, toJsonString } from "@bufbuild/protobuf";
import fc from "fast-check";
import { CurriculumService } from "../../../server/gen/gradus/v1/curriculum_pb.js";
import { EnvironmentService } from "../../../server/gen/gradus/v1/environment_pb.js";
import { EvaluationService } from "../../../server/gen/gradus/v1/evaluation_pb.js";
import { frame } from "../../server/transport/grpc/raw.ts";
import { hostileRequests } from "./messages.ts";
import { type Knowledge, mutatedBytes } from "./requests.ts";
import { hostileText } from "./values.ts";

export type Headers = Readonly<Record<string, string>>;

/** A call on the gRPC port. */
export interface GrpcAttack {
  readonly kind: "grpc";
  readonly path: string;
  readonly headers: Headers;
  /** Sent one after the other. */
  readonly chunks: readonly Uint8Array[];
  /** How the client ends its side: in order, by a cancellation, or not at all until its deadline. */
  readonly end: "close" | "reset" | "never";
}

/** A request to the HTTP port. */
export interface HttpAttack {
  readonly kind: "http";
  readonly verb: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** Bytes on a connection. */
export interface SocketAttack {
  readonly kind: "socket";
  readonly port: "grpc" | "http";
  readonly bytes: Uint8Array;
}

export type Attack = GrpcAttack | HttpAttack | SocketAttack;

export const methods: readonly DescMethod[] = [EnvironmentService, CurriculumService, EvaluationService].flatMap(
  ({ methods: own }) => own,
);
/** Those that take a stream are attacked apart. */
const unary = methods.filter(({ methodKind }) => methodKind !== "bidi_streaming");

export function pathOf({ parent, name }: DescMethod): string {
  return `/${parent.typeName}/${name}`;
}

/** Calls that wait for something are not waited for. */
const WAITING_MS: Readonly<Record<string, number>> = { NextBatch: 150, WatchRun: 40 };

function deadlineOf({ name }: DescMethod): Headers {
  const ms = WAITING_MS[name];
  return ms === undefined ? {} : { "grpc-timeout": `${ms}m` };
}

/** Calls of EvaluationService are all refused: a few are enough. Without runs there is little to attack. */
const anyMethod: fc.Arbitrary<DescMethod> = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...unary.filter(({ parent }) => parent !== EvaluationService)) },
  { weight: 1, arbitrary: fc.constantFrom(...EvaluationService.methods) },
  { weight: 4, arbitrary: fc.constantFrom(CurriculumService.method.createRun, CurriculumService.method.nextBatch) },
);

type RequestOf = (method: DescMethod) => fc.Arbitrary<Message>;

function encoded(method: DescMethod, requestOf: RequestOf): fc.Arbitrary<Uint8Array> {
  return requestOf(method).map((message) => toBinary(method.input, message));
}

/** A message as it is, or with bytes changed. */
function body(method: DescMethod, requestOf: RequestOf): fc.Arbitrary<Uint8Array> {
  return fc.oneof(
    { weight: 4, arbitrary: encoded(method, requestOf) },
    { weight: 1, arbitrary: encoded(method, requestOf).chain(mutatedBytes) },
  );
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
    [frame(new Uint8Array(70_000))],
  ),
  fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 3 }),
);

const NAMES = ["grpc-timeout", "grpc-encoding", "x-request-id", "authorization", "x-odd", "x-odd-bin", "user-agent"];
const VALUES = ["", "x", "-1S", "99999999H", "1n", "gzip", "br", "%%%", "x".repeat(2000), "Bearer ../..", "__proto__"];
const oddHeaders: fc.Arbitrary<Headers> = fc.dictionary(fc.constantFrom(...NAMES), fc.constantFrom(...VALUES), {
  maxKeys: 3,
});
const oddPath = fc.constantFrom(
  "/",
  "/gradus.v1.EnvironmentService/Nope",
  "/gradus.v1.EnvironmentService/",
  "/gradus.v1.EnvironmentService/reset",
  "/__proto__/constructor",
  "/../../etc/passwd",
  "/%2e%2e/x",
  `/${"x".repeat(3000)}`,
  "/grpc.health.v1.Health/Check",
  "/grpc.health.v1.Health/List",
  "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
);

function grpcAttack(requestOf: RequestOf): fc.Arbitrary<GrpcAttack> {
  const call = (over: Partial<GrpcAttack>, method: DescMethod): GrpcAttack => ({
    ...{ kind: "grpc", path: pathOf(method), chunks: [], end: "close" },
    ...over,
    headers: { ...over.headers, ...deadlineOf(method) },
  });
  const messages = anyMethod.chain((method) =>
    body(method, requestOf).map((bytes) => call({ chunks: [frame(bytes)] }, method)),
  );
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
    { weight: 2, arbitrary: cancelled },
    { weight: 2, arbitrary: frames },
    { weight: 1, arbitrary: compressed },
    { weight: 2, arbitrary: headers },
    { weight: 1, arbitrary: paths },
    { weight: 1, arbitrary: types },
    { weight: 4, arbitrary: streamAttack(requestOf) },
  );
}

/** A message that is small as it comes and larger than the limit once it is unpacked. */
const bomb = gzipSync(new Uint8Array(1_000_000));

function compressedFrame(bytes: Uint8Array): Buffer {
  const framed = frame(bytes);
  framed[0] = 1;
  return framed;
}

/** StreamSteps: some requests, one of them perhaps no message at all, ended in every way. Request ids repeat. */
function streamAttack(requestOf: RequestOf): fc.Arbitrary<GrpcAttack> {
  const method = EnvironmentService.method.streamSteps;
  const request = encoded(method, requestOf).map(frame);
  const chunk = fc.oneof({ weight: 8, arbitrary: request }, fc.uint8Array({ maxLength: 30 }).map(frame));
  const chunks = fc.array(chunk, { maxLength: 4 });
  const end = fc.constantFrom("close" as const, "close" as const, "reset" as const, "never" as const);
  return fc.tuple(chunks, end).map(([sent, how]) => ({
    ...{ kind: "grpc", path: pathOf(method), chunks: sent, end: how },
    headers: how === "never" ? { "grpc-timeout": "40m" } : {},
  }));
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** JSON in which types are not what they should be. */
function confusedJson(method: DescMethod): fc.Arbitrary<string> {
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    hostileText,
    fc.constantFrom(
      "NaN",
      "9".repeat(400),
      "\ud800",
      "1e999",
      "-0",
      "AAAA====",
      "2026-13-45T99:99:99Z",
      "99999999999s",
    ),
  );
  const name = fc.oneof(
    fc.constantFrom(...method.input.fields.flatMap((field) => [field.name, field.jsonName]), "__proto__", "$typeName"),
    hostileText,
  );
  return fc.dictionary(name, value, { maxKeys: 4 }).map((json) => JSON.stringify(json));
}

function jsonBody(method: DescMethod, requestOf: RequestOf): fc.Arbitrary<Uint8Array> {
  const right = requestOf(method).map((message) => {
    try {
      return toJsonString(method.input, message);
    } catch {
      // A duration out of range has no JSON.
      return "{}";
    }
  });
  const broken = fc.constantFrom(
    "",
    "{",
    "null",
    "[]",
    "1",
    '"x"',
    "[".repeat(9000),
    '{"spec":'.repeat(7000),
    "\ud800",
  );
  return fc
    .oneof<fc.WeightedArbitrary<string>[]>(
      { weight: 8, arbitrary: right },
      { weight: 4, arbitrary: confusedJson(method) },
      { weight: 1, arbitrary: broken },
      { weight: 1, arbitrary: fc.constant(`{"x":"${"x".repeat(66_000)}"}`) },
    )
    .map(bytesOf);
}

type Sent = Pick<HttpAttack, "headers" | "body">;

/** A request in each of the protocols of the HTTP port, by its content type. */
function httpBody(method: DescMethod, requestOf: RequestOf): fc.Arbitrary<Sent> {
  const binary = body(method, requestOf);
  const framed = fc.oneof({ weight: 4, arbitrary: binary.map(frame) }, fc.uint8Array({ maxLength: 20 }));
  const as = (type: string, bodies: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Sent> =>
    bodies.map((sent) => ({ headers: { "content-type": type }, body: sent }));
  const json = jsonBody(method, requestOf);
  if (method.methodKind !== "unary")
    return fc.oneof(as("application/connect+json", json.map(frame)), as("application/grpc-web+proto", framed));
  return fc.oneof(
    { weight: 6, arbitrary: as("application/json", json) },
    { weight: 2, arbitrary: as("application/proto", binary) },
    { weight: 2, arbitrary: as("application/grpc-web+proto", framed) },
    { weight: 1, arbitrary: as("application/grpc-web+json", json.map(frame)) },
    { weight: 1, arbitrary: as("application/grpc", framed) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom("text/plain", "", "application/json; charset=latin1", "x/y")
        .chain((type) => as(type, json)),
    },
  );
}

const ODD_HTTP: readonly Headers[] = [
  { "connect-timeout-ms": "x" },
  { "connect-timeout-ms": "0" },
  { "connect-timeout-ms": "9999999999" },
  { "connect-protocol-version": "2" },
  { "content-encoding": "gzip" },
  { "content-encoding": "zstd" },
  { "accept-encoding": "nope" },
  { "x-request-id": "__proto__" },
  { "x-big": "x".repeat(9000) },
  { "x-big": "x".repeat(20_000) },
  { origin: "https://evil.example" },
  { te: "chunked" },
  { expect: "200-ok" },
];

function httpAttack(requestOf: RequestOf): fc.Arbitrary<HttpAttack> {
  const post = (method: DescMethod, { headers, body: sent }: Sent): HttpAttack => {
    const ms = WAITING_MS[method.name];
    const grpc = headers["content-type"]?.startsWith("application/grpc") === true;
    const deadline: Headers =
      ms === undefined ? {} : grpc ? { "grpc-timeout": `${ms}m` } : { "connect-timeout-ms": `${ms}` };
    return { kind: "http", verb: "POST", path: pathOf(method), headers: { ...deadline, ...headers }, body: sent };
  };
  const calls = fc
    .oneof({ weight: 9, arbitrary: anyMethod }, fc.constant(EnvironmentService.method.streamSteps as DescMethod))
    .chain((method) => httpBody(method, requestOf).map((sent) => post(method, sent)));
  const odd = fc
    .tuple(calls, fc.constantFrom(...ODD_HTTP))
    .map(([attack, headers]): HttpAttack => ({ ...attack, headers: { ...headers, ...attack.headers } }));
  const verbs = fc
    .tuple(calls, fc.constantFrom("GET", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"))
    .map(([attack, verb]): HttpAttack => ({ ...attack, verb, body: new Uint8Array() }));
  const paths = fc
    .tuple(calls, fc.oneof(oddPath, fc.constantFrom("/metrics", "/healthz", "/metrics/../x", "//", "/?x=%00")))
    .map(([attack, path]): HttpAttack => ({ ...attack, path }));
  return fc.oneof(
    { weight: 14, arbitrary: calls },
    { weight: 2, arbitrary: odd },
    { weight: 1, arbitrary: verbs },
    { weight: 1, arbitrary: paths },
  );
}

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/** A client's empty SETTINGS frame. */
const SETTINGS = Uint8Array.of(0, 0, 0, 4, 0, 0, 0, 0, 0);

/** Bytes that are no request, whichever port they come to. */
const socketAttack: fc.Arbitrary<SocketAttack> = fc.record({
  kind: fc.constant("socket" as const),
  port: fc.constantFrom("grpc" as const, "http" as const),
  bytes: fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc
      .constantFrom(
        "GET / HTTP/1.1\r\n\r\n",
        "POST /x HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        PREFACE,
        "\x16\x03\x01\x02\x00",
      )
      .map(bytesOf),
    fc.uint8Array({ maxLength: 200 }).map((more) => Uint8Array.from([...bytesOf(PREFACE), ...SETTINGS, ...more])),
  ),
});

/** Anything that a hostile client sends. */
export function attacks(knowledge: Knowledge): fc.Arbitrary<Attack> {
  const requestOf = hostileRequests(knowledge);
  return fc.oneof(
    { weight: 30, arbitrary: grpcAttack(requestOf) as fc.Arbitrary<Attack> },
    { weight: 20, arbitrary: httpAttack(requestOf) },
    { weight: 1, arbitrary: socketAttack },
  );
}
