/**
 * Converts an RpcError into the error of each protocol. The retry delay and the reason to wait are sent both as
 * google.rpc details and as plain text.
 */
import { create, type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { anyPack, durationFromMs } from "@bufbuild/protobuf/wkt";
import { type Code, ConnectError } from "@connectrpc/connect";
import { Metadata, type StatusObject } from "@grpc/grpc-js";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../../proto/gen/google/rpc/error_details_pb.js";
import { StatusSchema } from "../../proto/gen/google/rpc/status_pb.js";
import { codes, type RpcError, withoutStack } from "../base/rpc.ts";

interface Detail {
  readonly desc: DescMessage;
  readonly value: MessageShape<DescMessage>;
}

/** Value of google.rpc.ErrorInfo.domain for Gradus's reasons. */
const DOMAIN = "gradus";

/**
 * Returns the error's google.rpc details: RetryInfo for a retry delay, ErrorInfo for a reason to wait, BadRequest for a
 * field.
 */
function detailsOf({ retryDelayMs, wait, field, message }: RpcError): readonly Detail[] {
  const details: Detail[] = [];
  if (retryDelayMs !== undefined) {
    const value = create(RetryInfoSchema, { retryDelay: durationFromMs(retryDelayMs) });
    details.push({ desc: RetryInfoSchema, value });
  }
  if (wait !== undefined) {
    const { reason, metadata = {} } = wait;
    const value = create(ErrorInfoSchema, { domain: DOMAIN, reason, metadata: { ...metadata } });
    details.push({ desc: ErrorInfoSchema, value });
  }
  if (field !== undefined) {
    const value = create(BadRequestSchema, { fieldViolations: [{ field, description: message }] });
    details.push({ desc: BadRequestSchema, value });
  }
  return details;
}

/**
 * Returns the retry delay and the reason to wait as plain metadata (retry-delay-ms, wait-reason), for clients that do
 * not read details.
 */
function plainText({ retryDelayMs, wait }: RpcError): Readonly<Record<string, string>> {
  return {
    ...(retryDelayMs !== undefined && { "retry-delay-ms": String(retryDelayMs) }),
    ...(wait && { "wait-reason": wait.reason }),
  };
}

/** Returns the status that the grpc-js library sends. */
export function toStatus(error: RpcError): StatusObject {
  const metadata = new Metadata();
  const { message } = error;
  const code = codes[error.code];
  const details = detailsOf(error).map(({ desc, value }) => anyPack(desc, value));
  if (details.length > 0) {
    const status = create(StatusSchema, { code, message, details });
    metadata.set("grpc-status-details-bin", Buffer.from(toBinary(StatusSchema, status)));
  }
  for (const [name, value] of Object.entries(plainText(error))) metadata.set(name, value);
  return { code, details: message, metadata };
}

/** Returns the error that the Connect library sends. */
export function toConnectError(error: RpcError): ConnectError {
  const code = codes[error.code] as Code;
  const converted = withoutStack(() => new ConnectError(error.message, code, plainText(error)));
  // Details are passed as bytes. If they were passed as messages, Connect would also send them as JSON.
  converted.details.push(
    ...detailsOf(error).map(({ desc, value }) => ({ type: desc.typeName, value: toBinary(desc, value) })),
  );
  return converted;
}
