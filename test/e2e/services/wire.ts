/** The real server with clients that speak the contract itself, by another implementation of gRPC than the server's. */
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { CurriculumService } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { EnvironmentService } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { EvaluationService } from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import { type TestServer, openServer } from "../../support/in-process.ts";

export interface Wire extends TestServer {
  readonly environments: Client<typeof EnvironmentService>;
  readonly curriculum: Client<typeof CurriculumService>;
  readonly evaluation: Client<typeof EvaluationService>;
}

/** Flags as `gradus serve` takes them, in camel case. */
export async function openWire(flags: Readonly<Record<string, unknown>> = {}): Promise<Wire> {
  const host = await openServer({ store: "memory", ...flags });
  const transport = createGrpcTransport({ baseUrl: `http://${host.address}` });
  return {
    ...host,
    environments: createClient(EnvironmentService, transport),
    curriculum: createClient(CurriculumService, transport),
    evaluation: createClient(EvaluationService, transport),
  };
}

/** A call's failure, as its caller sees it. */
export interface Failure {
  /** E.g. "INVALID_ARGUMENT". */
  readonly code: string;
  readonly message: string;
  /** Field that google.rpc.BadRequest names, if the reply has one. */
  readonly field?: string;
  /** Retry delay in milliseconds from the trailer that clients read, if the reply has one. */
  readonly retryDelayMs?: number;
  /** Reason for waiting, from the trailer that clients read, if the reply has one. */
  readonly reason?: string;
}

/** Fails where the call does not. */
export async function failureOf(call: Promise<unknown>): Promise<Failure> {
  const error = await call.then(
    (value) => new Error(`the call succeeded: ${String(value)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ConnectError)) throw error;
  const { code, rawMessage: message } = error;
  const field = fieldOf(error);
  const delay = error.metadata.get("retry-delay-ms");
  const reason = error.metadata.get("wait-reason");
  const name = Code[code].replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
  // Connect spells it with one l.
  return {
    code: name === "CANCELED" ? "CANCELLED" : name,
    message,
    ...(field !== undefined && { field }),
    ...(delay !== null && { retryDelayMs: Number(delay) }),
    ...(reason !== null && { reason }),
  };
}

/** Returns the name of the refused field. BadRequest holds violations as field 1, and each violation its field as field 1. */
function fieldOf({ details }: ConnectError): string | undefined {
  const found = details.find((detail) => "type" in detail && detail.type === "google.rpc.BadRequest");
  if (found === undefined || !("value" in found) || !(found.value instanceof Uint8Array)) return undefined;
  const outer = new BinaryReader(found.value);
  outer.tag();
  const inner = new BinaryReader(outer.bytes());
  inner.tag();
  return inner.string();
}
