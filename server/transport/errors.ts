/** What fails, as each protocol sends it: with google.rpc's details, and with the retry delay in plain text too. */
import { create, type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { anyPack, durationFromMs } from "@bufbuild/protobuf/wkt";
import { type Code, ConnectError } from "@connectrpc/connect";
import { Metadata, type StatusObject } from "@grpc/grpc-js";
import { BadRequestSchema, RetryInfoSchema } from "../gen/google/rpc/error_details_pb.js";
import { StatusSchema } from "../gen/google/rpc/status_pb.js";
import { codes, type RpcError, withoutStack } from "./rpc.ts";

interface Detail {
  readonly desc: DescMessage;
  readonly value: MessageShape<DescMessage>;
}

/** RetryInfo where there is a delay, BadRequest where there is a field. */
function detailsOf({ retryDelayMs, field, message }: RpcError): readonly Detail[] {
  const details: Detail[] = [];
  if (retryDelayMs !== undefined) {
    const value = create(RetryInfoSchema, { retryDelay: durationFromMs(retryDelayMs) });
    details.push({ desc: RetryInfoSchema, value });
  }
  if (field !== undefined) {
    const value = create(BadRequestSchema, { fieldViolations: [{ field, description: message }] });
    details.push({ desc: BadRequestSchema, value });
  }
  return details;
}

/** As grpc-js sends it. */
export function toStatus(error: RpcError): StatusObject {
  const metadata = new Metadata();
  const { message, retryDelayMs } = error;
  const code = codes[error.code];
  const details = detailsOf(error).map(({ desc, value }) => anyPack(desc, value));
  if (details.length > 0) {
    const status = create(StatusSchema, { code, message, details });
    metadata.set("grpc-status-details-bin", Buffer.from(toBinary(StatusSchema, status)));
  }
  if (retryDelayMs !== undefined) metadata.set("retry-delay-ms", String(retryDelayMs));
  return { code, details: message, metadata };
}

/** As Connect sends it. */
export function toConnectError(error: RpcError): ConnectError {
  const { message, retryDelayMs } = error;
  const metadata = retryDelayMs === undefined ? {} : { "retry-delay-ms": String(retryDelayMs) };
  const converted = withoutStack(() => new ConnectError(message, codes[error.code] as Code, metadata));
  // As bytes: messages it would write out in JSON beside them.
  converted.details.push(
    ...detailsOf(error).map(({ desc, value }) => ({ type: desc.typeName, value: toBinary(desc, value) })),
  );
  return converted;
}
