/** Judges whether a client can work with the answer to a hostile request. */
import { type DescMethod, fromBinary } from "@bufbuild/protobuf";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { NoRewardReason, type Outcome } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import { codes } from "../../../server/base/rpc.ts";
import { type Attack, type GrpcAttack, methods, pathOf } from "./attack.ts";
import type { Answer } from "./send.ts";
import { messageOf } from "./status.ts";

const byPath = new Map<string, DescMethod>(methods.map((method) => [pathOf(method), method]));

/** Texts that no answer may hold: stacks, and paths on the server's disk. */
const PLACES = [resolve(import.meta.dirname, "../../.."), join(tmpdir(), "gradus-test-")];
const STACK = /\n\s+at |node:internal|node_modules|\.ts:\d/;

function leaks(text: string): boolean {
  return STACK.test(text) || PLACES.some((place) => text.includes(place));
}

const OURS: readonly number[] = [codes.INTERNAL, codes.UNKNOWN, codes.DATA_LOSS];
/** Beginnings of an INVALID_ARGUMENT: the field, the message or the part of the protocol at fault. */
const NAMES_FAULT = [
  // "groups[0].completions[1].sample_index: …", 'weights["x"]: …'
  /^[a-z_][a-z0-9_]*(?:\["[^]*?"\]|\[\d+\]|\.[A-Za-z0-9_]+)*: /,
  /are not a gradus\.v1\.\w+ message(?:: |$)/,
  // Faults of the protocol around messages.
  /^a message (?:begins with the compression flag \d+|is compressed, but no header|is not valid (?:gzip|deflate|br)$)/,
  /^the request ended within a message, after \d+ bytes of it$/,
  /^gradus\.v1\.\w+\/\w+ takes one request message, and /,
  /^grpc-timeout must be /,
  /^the body is empty: a \w+ without fields is sent as \{\}$/,
  // Errors of protobuf-es and connect-node.
  /^cannot decode (?:field|message|enum|oneof) [\w.]+ from JSON/,
  /^protocol error: |^timeout \d+ms must be <= /,
];

/** INTERNAL errors of libraries below our handlers, if the protocol is broken. */
const PROTOCOL_FAULTS = [
  // Errors of the health and reflection services, which come from libraries.
  /^Error deserializing request$/,
];

/** Limit on headers: Node refuses longer ones with 431 and closes, so that a client which still sends sees a reset. */
const HEADER_BYTES_MAX = 16 * 1024;

/** Returns the fault of an answer; undefined: it has none. */
export function faultOf(attack: Attack, answer: Answer): string | undefined {
  switch (answer.kind) {
    case "none":
      return undefined;
    case "cut":
      return attack.kind === "http" && JSON.stringify(attack.headers).length > HEADER_BYTES_MAX
        ? undefined
        : `the exchange was cut: ${answer.why}`;
    case "grpc":
      return grpcFault(attack as GrpcAttack, answer);
    case "http":
      return httpFault(answer);
  }
}

function grpcFault(attack: GrpcAttack, answer: Extract<Answer, { kind: "grpc" }>): string | undefined {
  // gRPC's status for a content type that is not its own.
  if (answer.httpStatus === "415") return undefined;
  if (answer.code === undefined) return `no status (HTTP ${answer.httpStatus})`;
  const { code, message } = answer;
  return statusFault(code, message) ?? (code === codes.OK ? bodyFault(attack, answer.body) : undefined);
}

function statusFault(code: number, message: string): string | undefined {
  if (leaks(message)) return `tells of the machine: ${message}`;
  if (code === codes.OK) return undefined;
  if (message.trim() === "") return `status ${code} without a word`;
  if (OURS.includes(code) && !PROTOCOL_FAULTS.some((fault) => fault.test(message))) return `${code}: ${message}`;
  const named = code !== codes.INVALID_ARGUMENT || NAMES_FAULT.some((pattern) => pattern.test(message));
  return named ? undefined : `names no field: ${message}`;
}

/** Returns the fault of a body: every answer must be readable, and each outcome in it valid. */
function bodyFault({ path }: GrpcAttack, body: Buffer): string | undefined {
  const method = byPath.get(path);
  if (method === undefined) return undefined;
  for (let at = 0; at < body.length;) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    const fault = outcomeFault(fromBinary(method.output, body.subarray(at + 5, end)));
    if (fault !== undefined) return fault;
    at = end;
  }
  return undefined;
}

/** Returns the first faulty outcome or failure, at any depth. */
function outcomeFault(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return undefined;
  const { $typeName } = value as { readonly $typeName?: string };
  if ($typeName === "gradus.v1.Outcome") {
    const { result } = value as Outcome;
    if (result.case === undefined) return "an outcome without a result";
    if (result.case === "noReward" && result.value.reason === NoRewardReason.INTERNAL) return "INTERNAL for a sample";
    if (result.case === "noReward" && result.value.detail === "") return "a reason without a word";
    if (result.case === "score" && !Number.isFinite(result.value.reward)) return `a reward of ${result.value.reward}`;
  }
  if ($typeName?.endsWith("Failure") === true) {
    const { code, message } = value as unknown as { readonly code: number; readonly message: string };
    return statusFault(code, message);
  }
  for (const inner of Object.values(value)) {
    const fault = outcomeFault(inner);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function httpFault(answer: Extract<Answer, { kind: "http" }>): string | undefined {
  const { status, headers, body } = answer;
  const type = String(headers["content-type"]);
  const text = body.toString("latin1");
  if (leaks(text)) return `tells of the machine: ${text.slice(0, 500)}`;
  if (headers["grpc-status"] !== undefined) return statusFault(Number(headers["grpc-status"]), messageOf(headers));
  if (type.startsWith("application/grpc-web")) return webFault(text);
  if (status >= 400 && type === "application/json") {
    const { code, message } = JSON.parse(body.toString()) as { readonly code: string; readonly message?: string };
    const number = codes[code.toUpperCase() as keyof typeof codes];
    return statusFault(number === 1 ? codes.CANCELLED : number, message ?? "");
  }
  return status === 500 || status === 0 ? `HTTP ${status}: ${text.slice(0, 200)}` : undefined;
}

/** Returns the fault of a gRPC-Web body, which ends with the trailers. */
function webFault(text: string): string | undefined {
  const status = /grpc-status: ?(\d+)/.exec(text)?.[1];
  const message = /grpc-message: ?([^\r\n]*)/.exec(text)?.[1] ?? "";
  return status === undefined ? "gRPC-Web without a status" : statusFault(Number(status), decodeURIComponent(message));
}
