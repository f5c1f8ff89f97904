/** Messages of a hostile client, as plain data, and the parts that they are made of. */
import { type DescMethod, type Message, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { CurriculumService } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { EnvironmentService } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { EvaluationService } from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import { mutatedBytes } from "./requests.ts";

export type Headers = Readonly<Record<string, string>>;

/** A call on the gRPC port. */
export interface GrpcAttack {
  readonly kind: "grpc";
  readonly path: string;
  readonly headers: Headers;
  /** Pieces that are sent one after the other. */
  readonly chunks: readonly Uint8Array[];
  /** How the client ends its side: properly, by a cancellation, or not at all until its deadline. */
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
const unary = methods.filter(({ methodKind }) => methodKind !== "bidi_streaming");

export function pathOf({ parent, name }: DescMethod): string {
  return `/${parent.typeName}/${name}`;
}

/** Maximum size of a message that the attacked server accepts (--max-message-bytes). */
export const MESSAGE_BYTES_MAX = 320 * 1024;

/** Deadlines of calls that wait for something, in milliseconds, so that attacks do not wait. */
export const WAITING_MS: Readonly<Record<string, number>> = { NextBatch: 150, WatchRun: 40, HoldEvaluation: 40 };

/** Methods of runs come often: without runs there is little to attack. */
export const anyMethod: fc.Arbitrary<DescMethod> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...unary) },
  { weight: 1, arbitrary: fc.constantFrom(CurriculumService.method.createRun, CurriculumService.method.nextBatch) },
);
/** Methods that take a stream and answer with one. */
export const bidiMethods = methods.filter(({ methodKind }) => methodKind === "bidi_streaming");

export type RequestOf = (method: DescMethod) => fc.Arbitrary<Message>;

export function encoded(method: DescMethod, requestOf: RequestOf): fc.Arbitrary<Uint8Array> {
  return requestOf(method).map((message) => toBinary(method.input, message));
}

/** Returns a message's bytes, unchanged or mutated. */
export function body(method: DescMethod, requestOf: RequestOf): fc.Arbitrary<Uint8Array> {
  return fc.oneof(
    { weight: 4, arbitrary: encoded(method, requestOf) },
    { weight: 1, arbitrary: encoded(method, requestOf).chain(mutatedBytes) },
  );
}

export const oddPath = fc.constantFrom(
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

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
