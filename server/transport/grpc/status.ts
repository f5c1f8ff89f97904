/** Failures as grpc-js sends them. */
import { Metadata } from "@grpc/grpc-js";
import type { StatusObject } from "@grpc/grpc-js";
import { codes } from "../../rpc/rpc-error.ts";
import type { RpcError } from "../../rpc/rpc-error.ts";
import { detailsOf, statusBytes } from "../details.ts";

/** With google.rpc details, and the retry delay in plain text too. */
export function toStatus(error: RpcError): StatusObject {
  const metadata = new Metadata();
  const details = detailsOf(error);
  if (details.length > 0) metadata.set("grpc-status-details-bin", Buffer.from(statusBytes(error, details)));
  if (error.retryDelayMs !== undefined) metadata.set("retry-delay-ms", String(error.retryDelayMs));
  return { code: codes[error.code], details: error.message, metadata };
}
