/**
 * Error details in google.rpc's standard messages, written field by field: two small messages are not worth generated
 * code. https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto
 */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { type Code, ConnectError } from "@connectrpc/connect";
import { Metadata, type StatusObject } from "@grpc/grpc-js";
import { codes, type RpcError } from "./rpc.ts";

/** A message as google.protobuf.Any holds it. */
export interface Detail {
  /** Full name, e.g. "google.rpc.RetryInfo". */
  readonly type: string;
  readonly value: Uint8Array<ArrayBuffer>;
}

/** RetryInfo where there is a delay, BadRequest where there is a field. */
function detailsOf(error: RpcError): readonly Detail[] {
  const retry = error.retryDelayMs === undefined ? [] : [retryInfo(error.retryDelayMs)];
  return error.field === undefined ? retry : [...retry, badRequest(error.field, error.message)];
}

/** google.rpc.Status, the content of gRPC's `grpc-status-details-bin`. */
function statusBytes(error: RpcError, details: readonly Detail[]): Uint8Array {
  const writer = new BinaryWriter().tag(1, WireType.Varint).int32(codes[error.code]);
  writer.tag(2, WireType.LengthDelimited).string(error.message);
  for (const { type, value } of details) {
    writer.tag(3, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(`type.googleapis.com/${type}`);
    writer.tag(2, WireType.LengthDelimited).bytes(value).join();
  }
  return writer.finish();
}

function retryInfo(delayMs: number): Detail {
  const seconds = Math.floor(delayMs / 1000);
  const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.Varint).int64(seconds);
  writer.tag(2, WireType.Varint).int32(Math.round((delayMs - seconds * 1000) * 1e6));
  return { type: "google.rpc.RetryInfo", value: writer.join().finish() };
}

function badRequest(field: string, description: string): Detail {
  const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.LengthDelimited).string(field);
  writer.tag(2, WireType.LengthDelimited).string(description);
  return { type: "google.rpc.BadRequest", value: writer.join().finish() };
}

// Failures as grpc-js sends them.

/** With google.rpc details, and the retry delay in plain text too. */
export function toStatus(error: RpcError): StatusObject {
  const metadata = new Metadata();
  const details = detailsOf(error);
  if (details.length > 0) metadata.set("grpc-status-details-bin", Buffer.from(statusBytes(error, details)));
  if (error.retryDelayMs !== undefined) metadata.set("retry-delay-ms", String(error.retryDelayMs));
  return { code: codes[error.code], details: error.message, metadata };
}

// Failures as Connect sends them.

/** With google.rpc details and the retry delay in plain text too. */
export function toConnectError(error: RpcError): ConnectError {
  const metadata = error.retryDelayMs === undefined ? {} : { "retry-delay-ms": String(error.retryDelayMs) };
  const code = codes[error.code] as Code;
  const converted = new ConnectError(error.message, code, metadata);
  converted.details.push(...detailsOf(error));
  return converted;
}
